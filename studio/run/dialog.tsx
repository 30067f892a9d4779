import { type ReactNode, useId, useLayoutEffect, useRef } from "react";
import "./dialog.css";

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** A modal dialog. The browser keeps the focus in it and closes it with Escape; then the focus returns to where it was. */
export function Dialog({ title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const { current } = dialog;
    if (current && !current.open) current.showModal();
    // Removing an open dialog would leave the focus nowhere.
    return () => current?.close();
  }, []);
  return (
    <dialog ref={dialog} className="run-dialog" aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
