import { useEffect, useRef } from "react";
import { type Bindings, type Command, commandOf, isTaken } from "./keys.ts";

/** Runs the command of a key wherever the focus is, except while somebody types or a dialog is open. */
export function useKeys(bindings: Bindings, run: (command: Command) => void): void {
  const current = useRef({ bindings, run });
  useEffect(() => {
    current.current = { bindings, run };
  });
  useEffect(() => {
    function press(event: KeyboardEvent): void {
      if (event.defaultPrevented || isTaken(event.target, event)) return;
      const command = commandOf(current.current.bindings, event);
      if (command === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      // A key that is held down is one press.
      if (!event.repeat) current.current.run(command);
    }
    // Before a list uses letters to find an item.
    document.addEventListener("keydown", press, { capture: true });
    return () => document.removeEventListener("keydown", press, { capture: true });
  }, []);
}
