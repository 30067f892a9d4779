import { type KeyboardEvent, useState } from "react";
import { Button } from "#studio/ui/button.tsx";
import { Dialog } from "#studio/ui/dialog.tsx";
import { bindingProblem, type Bindings, COMMAND_NAMES, COMMANDS, type Command, DEFAULT_BINDINGS, keyName } from "./keys.ts";
import "./keys.css";

interface Props {
  bindings: Bindings;
  onChange: (bindings: Bindings) => void;
  onClose: () => void;
}

/** Shows the keys of the controls, and changes them: press a button, then the key. */
export default function KeysDialog({ bindings, onChange, onClose }: Props) {
  const [waiting, setWaiting] = useState<Command | null>(null);
  const [problem, setProblem] = useState<string | null>(null);

  function press(event: KeyboardEvent): void {
    if (waiting === null) return;
    const name = keyName(event);
    if (name === null) return;
    event.preventDefault();
    event.stopPropagation();
    if (name === "Escape") return setWaiting(null);
    const found = bindingProblem(bindings, waiting, name);
    setProblem(found ?? null);
    if (found !== undefined) return;
    onChange({ ...bindings, [waiting]: name });
    setWaiting(null);
  }

  return (
    <Dialog title="Keys" onClose={onClose}>
      <div onKeyDownCapture={press}>
        <dl className="keys">
          {COMMANDS.map((command) => (
            <div key={command}>
              <dt>{COMMAND_NAMES[command]}</dt>
              <dd>
                <Button
                  size="small"
                  aria-label={`Change the key of ${COMMAND_NAMES[command]}, ${bindings[command]}`}
                  onPress={() => {
                    setProblem(null);
                    setWaiting(command);
                  }}
                >
                  {waiting === command ? "Press a key…" : <kbd>{bindings[command]}</kbd>}
                </Button>
              </dd>
            </div>
          ))}
        </dl>
        <p className="field-error" role="alert">
          {problem}
        </p>
        <p className="soft">In the rundown: arrows select, Alt and an arrow move the selected item, Enter edits it, Delete removes it.</p>
        <div className="dialog-actions">
          <Button onPress={() => onChange(DEFAULT_BINDINGS)}>Reset</Button>
          <Button look="primary" onPress={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
