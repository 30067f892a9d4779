import { Button } from "#studio/ui/button.tsx";
import type { Undo } from "./use-chat.ts";

/** What was done last, and the way back. It is always in the page, because screen readers announce only what is added to it. */
export function UndoBar({ undo }: { undo: Undo | null }) {
  return (
    <div className="undo-bar" role="status">
      {undo !== null && <span className="undo-text">{undo.done}</span>}
      {undo !== null && undo.label !== null && (
        <Button size="small" onPress={() => void undo.run()} preventFocusOnPress>
          {undo.label} <kbd aria-hidden="true">U</kbd>
        </Button>
      )}
    </div>
  );
}
