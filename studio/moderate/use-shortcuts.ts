import { useEffect, useRef } from "react";
import { isTaken, keyName } from "#studio/run/keys/keys.ts";

/** What each key does, by its name, such as "A". Undefined: not now. */
export type Shortcuts = Readonly<Record<string, (() => void) | undefined>>;

/** Runs the shortcut of a key wherever the focus is, except while somebody types or a dialog is open. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const current = useRef(shortcuts);
  useEffect(() => {
    current.current = shortcuts;
  });
  useEffect(() => {
    function press(event: KeyboardEvent): void {
      const name = keyName(event);
      // A modal dialog may be open while the focus is still on the page.
      if (name === null || event.defaultPrevented || event.repeat || isTaken(event.target, event) || isDialogOpen()) return;
      const run = current.current[name];
      if (!run) return;
      event.preventDefault();
      event.stopPropagation();
      run();
    }
    // Before a list uses letters to find an entry.
    document.addEventListener("keydown", press, { capture: true });
    return () => document.removeEventListener("keydown", press, { capture: true });
  }, []);
}

function isDialogOpen(): boolean {
  return document.querySelector("dialog[open], [role=dialog]") !== null;
}
