import { type SubmitEvent, useState } from "react";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Dialog } from "#studio/ui/dialog.tsx";
import { Select } from "#studio/ui/select.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { draftOf, type Draft, inputOf, KIND_NAMES, KINDS, problemsOf } from "./draft.ts";
import { KindFields } from "./kind-fields.tsx";
import type { Item, ItemInput } from "./model.ts";

interface Props {
  /** Null: a new one. */
  item: Item | null;
  onSave: (input: ItemInput) => void;
  onClose: () => void;
}

/** Adds or edits an item of the rundown. */
export default function ItemDialog({ item, onSave, onClose }: Props) {
  const { access } = useSession();
  // Only site admins may add what changes a poll; others may take it.
  const kinds = KINDS.filter((kind) => kind !== "poll" || access.writesSite || item?.kind === "poll");
  const [draft, setDraft] = useState<Draft>(() => draftOf(item));
  const [isSubmitted, setSubmitted] = useState(false);
  const problems = isSubmitted ? problemsOf(draft, Date.now()) : {};
  const change = (changes: Partial<Draft>): void => setDraft((before) => ({ ...before, ...changes }));

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    setSubmitted(true);
    if (Object.keys(problemsOf(draft, Date.now())).length === 0) onSave(inputOf(draft, item));
  }

  return (
    <Dialog title={item ? `Edit “${item.name}”` : "Add item"} onClose={onClose}>
      <form className="dialog-form" onSubmit={submit} noValidate>
        <Select
          label="Kind"
          value={draft.kind}
          options={kinds.map((kind) => ({ value: kind, text: KIND_NAMES[kind] }))}
          onChange={(value) => change({ kind: KINDS.find((kind) => kind === value) ?? "note" })}
        />
        <TextField label="Name" value={draft.name} onChange={(name) => change({ name })} error={problems.name} />
        <KindFields draft={draft} change={change} problems={problems} />
        <label className="field">
          <span className="field-label">Time (optional)</span>
          <input
            className="field-input"
            type="datetime-local"
            step={1}
            value={draft.at}
            aria-invalid={problems.at !== undefined}
            onChange={({ target }) => change({ at: target.value })}
          />
          <span className="field-description">{problems.at ?? "Taken at this time without an operator, unless the rundown is held."}</span>
        </label>
        <TextField label="Notes" rows={3} value={draft.notes} onChange={(notes) => change({ notes })} />
        <div className="dialog-actions">
          <Button onPress={onClose}>Cancel</Button>
          <Button look="primary" type="submit">
            {item ? "Save" : "Add"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
