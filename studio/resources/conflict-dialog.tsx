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
        <DataTable label="Differences" rows={found} keyOf={({ path }) => path} columns={COLUMNS} />
      )}
    </Dialog>
  );
}
