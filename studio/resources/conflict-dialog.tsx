import { labelOf } from "#studio/api/fields.ts";
import { Button } from "#studio/ui/button.tsx";
import { type Column, DataTable } from "#studio/ui/data-table.tsx";
import { Dialog } from "#studio/ui/dialog.tsx";
import { differences } from "./differences.ts";

interface Props {
  mine: unknown;
  theirs: unknown;
  onKeepEditing: () => void;
  onTakeTheirs: () => void;
  onSaveMine: () => void;
}

const COLUMNS: readonly Column<ReturnType<typeof differences>[number]>[] = [
  { title: "Field", kind: "heading", cell: ({ path }) => path.split(".").map(labelOf).join(" · ") },
  { title: "Your version", kind: "lines", cell: ({ mine }) => mine },
  { title: "Saved version", kind: "lines", cell: ({ theirs }) => theirs },
];

/** The same thing was changed since it was read: shows both versions, and lets the editor decide, unless they are the same. */
export function ConflictDialog({ mine, theirs, onKeepEditing, onTakeTheirs, onSaveMine }: Props) {
  const found = differences(mine, theirs);
  // Such as an earlier attempt whose answer was lost.
  if (found.length === 0) {
    return (
      <Dialog
        title="Your version is saved"
        onClose={onTakeTheirs}
        actions={
          <Button look="primary" onPress={onTakeTheirs}>
            OK
          </Button>
        }
      >
        <p>The saved version has the same values as yours. There is nothing left to do.</p>
      </Dialog>
    );
  }
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
      <DataTable label="Differences" rows={found} keyOf={({ path }) => path} columns={COLUMNS} />
    </Dialog>
  );
}
