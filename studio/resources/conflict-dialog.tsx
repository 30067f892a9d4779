import { labelOf } from "#studio/api/fields.ts";
import { Button } from "#studio/ui/button.tsx";
import { Dialog } from "#studio/ui/dialog.tsx";
import "#studio/ui/table.css";
import { differences } from "./differences.ts";

interface Props {
  mine: unknown;
  theirs: unknown;
  onKeepEditing: () => void;
  onTakeTheirs: () => void;
  onSaveMine: () => void;
}

/** Somebody else has changed the same thing since it was read: shows both versions, and lets the editor decide. */
export function ConflictDialog({ mine, theirs, onKeepEditing, onTakeTheirs, onSaveMine }: Props) {
  const found = differences(mine, theirs);
  return (
    <Dialog
      title="Somebody else has changed this"
      width="wide"
      onClose={onKeepEditing}
      actions={
        <>
          <Button onPress={onKeepEditing}>Keep editing</Button>
          <Button onPress={onTakeTheirs}>Use the saved version</Button>
          <Button look="primary" onPress={onSaveMine}>
            Save mine
          </Button>
        </>
      }
    >
      {found.length === 0 ? (
        <p>The saved version has the same values as yours.</p>
      ) : (
        <div className="table-frame">
          <table className="table" aria-label="Differences">
            <thead>
              <tr>
                <th scope="col">Field</th>
                <th scope="col">Your version</th>
                <th scope="col">Saved version</th>
              </tr>
            </thead>
            <tbody>
              {found.map((difference) => (
                <tr key={difference.path}>
                  <th scope="row">{difference.path.split(".").map(labelOf).join(" · ")}</th>
                  <td className="difference">{difference.mine}</td>
                  <td className="difference">{difference.theirs}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Dialog>
  );
}
