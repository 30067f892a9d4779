import { Button } from "#studio/ui/button.tsx";
import { type Bindings, type Command, COMMAND_NAMES } from "./keys/keys.ts";
import type { Take } from "./model.ts";
import "./desk.css";

interface Props {
  bindings: Bindings;
  onCommand: (command: Command) => void;
  /** Whether the caller may change what is on air. */
  canWrite: boolean;
  isTaking: boolean;
  canTake: boolean;
  canSkip: boolean;
  onAir: Take | undefined;
  isHeld: boolean;
  undo: { take: Take; leftMs: number } | null;
}

/** The desk: what changes the program, each with its key. */
export function Controls({ bindings, onCommand, canWrite, isTaking, canTake, canSkip, onAir, isHeld, undo }: Props) {
  const isDisabled: Record<Command, boolean> = {
    take: !canTake || isTaking,
    next: !canSkip,
    clear: !onAir,
    clearAll: false,
    hold: false,
    panic: false,
    undo: !undo,
  };
  const button = (command: Command, detail?: string) => (
    <div className={`desk-button desk-${command}`}>
      <Button
        look={command === "take" ? "primary" : command === "panic" ? "danger" : "secondary"}
        preventFocusOnPress
        isDisabled={!canWrite || isDisabled[command]}
        onPress={() => onCommand(command)}
        {...(command === "hold" && { "aria-pressed": isHeld })}
      >
        <span className="desk-name">{COMMAND_NAMES[command]}</span>
        {detail !== undefined && <span className="desk-detail">{detail}</span>}
        <kbd aria-hidden="true">{bindings[command]}</kbd>
        {command === "take" && isTaking && (
          <span className="desk-waiting" aria-hidden="true">
            Waiting for the server…
          </span>
        )}
      </Button>
    </div>
  );
  return (
    <div className="card desk" role="group" aria-label="Controls">
      {button("take")}
      {button("next")}
      {button("clear")}
      {button("clearAll")}
      {button("hold")}
      {button("undo", undo ? `${Math.ceil(undo.leftMs / 1000)} s` : undefined)}
      {button("panic", "All off")}
    </div>
  );
}
