import type { ReactNode } from "react";
import { Dialog as AriaDialog } from "react-aria-components/Dialog";
import { Heading } from "react-aria-components/Heading";
import { Modal, ModalOverlay } from "react-aria-components/Modal";
import { Button } from "./button.tsx";
import "./dialog.css";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** The dialog's buttons; the last one is the most likely. A form has its own. */
  actions?: ReactNode;
  /** "wide" for tables. */
  width?: "regular" | "wide";
}

/** Shown as long as it is in the page; escape closes it, a click beside it doesn't. */
export function Dialog({ title, onClose, children, actions, width = "regular" }: DialogProps) {
  return (
    <ModalOverlay className="dialog-overlay" isOpen onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Modal className={`dialog-modal dialog-${width}`}>
        <AriaDialog className="dialog">
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          <div className="dialog-body">{children}</div>
          {actions !== undefined && <div className="dialog-actions">{actions}</div>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

interface ConfirmProps {
  title: string;
  /** What the button says, for example "Delete". */
  action: string;
  children: ReactNode;
  isPending: boolean;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks before something that can't be undone. */
export function Confirm({ title, action, children, isPending, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button look="danger" isPending={isPending} onPress={onConfirm}>
            {action}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}
