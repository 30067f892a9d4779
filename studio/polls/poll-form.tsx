import { useEffect, useRef, useState } from "react";
import { type Control, type FieldPath, useController, useForm } from "react-hook-form";
import { TifoProblem } from "#sdk/client/index.ts";
import { isOutdated } from "#sdk/client/latest.ts";
import { ConflictDialog } from "#studio/resources/conflict-dialog.tsx";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { FormField } from "#studio/ui/form-field.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { Select } from "#studio/ui/select.tsx";
import { errorText } from "#studio/ui/states.tsx";
import { Switch } from "#studio/ui/switch.tsx";
import { AnswerRows } from "./answer-rows.tsx";
import { draftOf, fieldsOf, NEW_POLL, type PollDraft, TYPE_HELP, TYPE_NAMES, TYPES } from "./draft.ts";
import { type LoadedPoll, readPoll } from "./queries.ts";
import { createPoll, savePoll } from "./save-poll.ts";

interface Props {
  /** Null for a new poll. */
  loaded: LoadedPoll | null;
  onSaved: (saved: LoadedPoll) => void;
}

/** What a poll asks. A change by somebody else shows at once while nothing is edited, and as a conflict otherwise. */
export function PollForm({ loaded, onSaved }: Props) {
  const session = useSession();
  const [base, setBase] = useState(loaded);
  const [problems, setProblems] = useState<string[]>([]);
  const [theirs, setTheirs] = useState<LoadedPoll | null>(null);
  const form = useForm<PollDraft>({ defaultValues: loaded ? draftOf(loaded.item) : NEW_POLL });
  const { isDirty, isSubmitting } = form.formState;
  const { control, reset, resetField, setValue } = form;
  const canSave = session.access.writesSite;
  const latest = useRef(loaded);

  useEffect(() => {
    const before = latest.current;
    latest.current = loaded;
    if (!loaded || !before || loaded.etag === before.etag || isSubmitting) return;
    // Opening, locking and settling leave what is edited here as it is.
    if (!isDirty) reset(draftOf(loaded.item));
    else if (isSameForm(loaded, before)) resetField("locksAt", { defaultValue: draftOf(loaded.item).locksAt });
    if (!isDirty || isSameForm(loaded, before)) setBase(loaded);
  }, [loaded, isDirty, isSubmitting, reset, resetField]);

  async function save(draft: PollDraft, current = base): Promise<void> {
    setProblems([]);
    try {
      const saved = current ? await savePoll(session.client, draft, current) : await createPoll(session, draft);
      latest.current = saved;
      setBase(saved);
      reset(draftOf(saved.item));
      onSaved(saved);
    } catch (error) {
      if (current && isOutdated(error)) await showConflict(current.item._id);
      else showProblem(error);
    }
  }

  async function showConflict(id: string): Promise<void> {
    await readPoll(session.client, id).then(setTheirs, showProblem);
  }

  function showProblem(error: unknown): void {
    const issues = error instanceof TifoProblem ? error.issues : [];
    const elsewhere: string[] = [];
    for (const { path, message } of issues) {
      const field = fieldOf(path);
      if (field) form.setError(field, { type: "server", message });
      else elsewhere.push(path === "" ? message : `${path}: ${message}`);
    }
    const [first] = issues.flatMap(({ path }) => fieldOf(path) ?? []);
    if (first !== undefined) form.setFocus(first);
    setProblems(issues.length === 0 ? [errorText(error)] : elsewhere);
  }

  const saveDraft = (current?: LoadedPoll) => form.handleSubmit((draft) => save(draft, current))();
  return (
    <form
      className="card poll-form sheet"
      noValidate
      aria-label="Poll"
      onSubmit={(event) => {
        event.preventDefault();
        void saveDraft();
      }}
    >
      <FormField
        control={control}
        name="question"
        label="Question"
        rows={2}
        maxLength={500}
        isDisabled={!canSave}
        rules={{ validate: (value) => (typeof value === "string" && value.trim() !== "") || "Enter a question." }}
      />
      <div className="poll-form-pair">
        <FormField
          control={control}
          name="name"
          label="Internal name"
          description="Empty: the question."
          maxLength={200}
          isDisabled={!canSave}
        />
        <TypeField control={control} isDisabled={!canSave} />
      </div>
      <AnswerRows control={control} onCorrect={(position) => setValue("correct", position, { shouldDirty: true })} />
      <div className="poll-form-pair">
        <FormField
          control={control}
          name="locksAt"
          label="Locks at"
          type="datetime-local"
          description="From then on no response counts, whenever it arrives. Empty: when you close it."
          isDisabled={!canSave}
        />
        <FormField
          control={control}
          name="responsesPerViewer"
          label="Responses per viewer"
          inputMode="numeric"
          isDisabled={!canSave}
          rules={{ validate: (value) => isWhole(value, 1, 100) || "A whole number from 1 to 100." }}
        />
        <FormField
          control={control}
          name="responseCost"
          label="Cost of a response"
          inputMode="numeric"
          description="In minor units of the viewer's wallet. 0: free."
          isDisabled={!canSave}
          rules={{ validate: (value) => isWhole(value, 0, Number.MAX_SAFE_INTEGER) || "A whole number." }}
        />
      </div>
      <HideField control={control} isDisabled={!canSave} />
      {problems.map((problem) => (
        <Notice key={problem} tone="danger">
          {problem}
        </Notice>
      ))}
      {canSave && (
        <div className="poll-actions">
          <Button type="submit" look="primary" isPending={isSubmitting} isDisabled={loaded !== null && !isDirty}>
            {loaded ? "Save" : "Create"}
          </Button>
          {loaded && isDirty && <Button onPress={() => reset(draftOf(loaded.item))}>Discard changes</Button>}
        </div>
      )}
      {theirs && (
        <ConflictDialog
          mine={shown(form.getValues())}
          theirs={shown(draftOf(theirs.item))}
          onKeepEditing={() => setTheirs(null)}
          onTakeTheirs={() => {
            setTheirs(null);
            setBase(theirs);
            reset(draftOf(theirs.item));
          }}
          onSaveMine={() => {
            setTheirs(null);
            void saveDraft(theirs);
          }}
        />
      )}
    </form>
  );
}

function TypeField({ control, isDisabled }: { control: Control<PollDraft>; isDisabled: boolean }) {
  const { field } = useController({ control, name: "type" });
  return (
    <Select
      label="Type"
      value={field.value}
      onChange={field.onChange}
      onBlur={field.onBlur}
      isDisabled={isDisabled}
      description={TYPE_HELP[field.value]}
      options={TYPES.map((type) => ({ value: type, text: TYPE_NAMES[type] }))}
    />
  );
}

function HideField({ control, isDisabled }: { control: Control<PollDraft>; isDisabled: boolean }) {
  const { field } = useController({ control, name: "hideResults" });
  return (
    <Switch
      label="Hide the counts from viewers while the poll is open"
      isSelected={field.value}
      onChange={field.onChange}
      isDisabled={isDisabled}
    />
  );
}

const FIELDS = ["question", "name", "type", "locksAt", "responsesPerViewer", "responseCost", "hideResults"] as const;

/** The field that an issue of the server is about: `answers[1].answer`, or `[1].answer` of the answers alone. */
function fieldOf(path: string): FieldPath<PollDraft> | undefined {
  const [, index, part] = /^(?:answers)?[.[]*(\d+)\]?\.(answer|imageUrl)$/.exec(path) ?? [];
  if (index !== undefined) return part === "imageUrl" ? `answers.${Number(index)}.imageUrl` : `answers.${Number(index)}.answer`;
  return FIELDS.find((field) => field === path);
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return typeof value === "string" && /^\d+$/.test(value.trim()) && Number(value) >= least && Number(value) <= most;
}

/** Both sides of a conflict, without what the form doesn't edit. */
function shown(draft: PollDraft) {
  return { ...fieldsOf(draft), answers: draft.answers.map(({ answer, imageUrl }) => ({ answer, imageUrl })) };
}

function isSameForm(one: LoadedPoll, other: LoadedPoll): boolean {
  return JSON.stringify(draftOf({ ...one.item, locksAt: null })) === JSON.stringify(draftOf({ ...other.item, locksAt: null }));
}
