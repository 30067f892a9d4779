import { type ReactNode, useEffect, useRef } from "react";
import { activeElementFor } from "../active-element.ts";
import { Icon } from "./icons.tsx";
import { useTexts } from "../context.tsx";

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** A dialog over the lower part of the chat. Escape closes it, and focus returns to where it was. */
export function Sheet({ title, onClose, children }: Props) {
  const { t } = useTexts();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const { current } = dialog;
    const previous = current && activeElementFor(current);
    current?.querySelector<HTMLElement>("button, select, input")?.focus();
    return () => {
      if (previous instanceof HTMLElement) previous.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog
      open
      ref={dialog}
      className="tifo-chat-sheet"
      aria-label={title}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onClose();
      }}
    >
      <header>
        <h3>{title}</h3>
        <button type="button" className="tifo-chat-icon" aria-label={t("Close")} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </dialog>
  );
}
