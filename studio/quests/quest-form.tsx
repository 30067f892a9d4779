import { useState } from "react";
import { TifoProblem } from "#sdk/client/index.ts";
import { isOutdated } from "#sdk/client/latest.ts";
import { choices, useChannels } from "#studio/api/lists.ts";
import { ConflictDialog } from "#studio/resources/conflict-dialog.tsx";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Checks } from "#studio/ui/checks.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { Select } from "#studio/ui/select.tsx";
import { errorText } from "#studio/ui/states.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { draftOf, type FieldsProps, NEW_QUEST, type QuestDraft, questOf, REWARD_NAMES, REWARDS } from "./draft.ts";
import { type LoadedQuest, readQuest, saveQuest } from "./queries.ts";
import { TaskRows } from "./task-rows.tsx";

interface Props {
  /** Null for a new quest. */
  loaded: LoadedQuest | null;
  onSaved: (saved: LoadedQuest) => void;
}

export function QuestForm({ loaded, onSaved }: Props) {
  const { client, siteId, access } = useSession();
  const [base, setBase] = useState(loaded);
  const [draft, setDraft] = useState<QuestDraft>(() => (loaded ? draftOf(loaded.item) : NEW_QUEST));
  const [isChanged, setChanged] = useState(false);
  const [isSaving, setSaving] = useState(false);
  const [problems, setProblems] = useState<Record<string, string>>({});
  const [general, setGeneral] = useState<string | null>(null);
  const [theirs, setTheirs] = useState<LoadedQuest | null>(null);
  const change = (part: Partial<QuestDraft>): void => {
    setDraft((current) => ({ ...current, ...part }));
    setChanged(true);
  };
  const show = (next: LoadedQuest): void => {
    setBase(next);
    setDraft(draftOf(next.item));
    setChanged(false);
    setProblems({});
    setGeneral(null);
  };
  // What others change shows while nothing is edited here.
  if (loaded && loaded.etag !== base?.etag && !isChanged) show(loaded);

  async function save(current = base): Promise<void> {
    setProblems({});
    setGeneral(null);
    if (draft.title.trim() === "") {
      setProblems({ title: "Give it a title." });
      // Beside the button too, because the field may be out of sight.
      return setGeneral("The quest has no title.");
    }
    setSaving(true);
    const body = questOf(draft, siteId, current?.item ?? null);
    try {
      const saved = await saveQuest(client, current, body);
      show(saved);
      onSaved(saved);
    } catch (error) {
      if (current && isOutdated(error)) await showConflict(current.item._id);
      else showProblem(error);
    } finally {
      setSaving(false);
    }
  }

  async function showConflict(id: string): Promise<void> {
    await readQuest(client, id).then(setTheirs, showProblem);
  }

  function showProblem(error: unknown): void {
    const issues = error instanceof TifoProblem ? error.issues : [];
    setProblems(Object.fromEntries(issues.map(({ path, message }) => [path.replaceAll(/\[(\d+)\]/g, ".$1"), message])));
    setGeneral(issues.length === 0 ? errorText(error) : `The server objects: ${issues.map(({ message }) => message).join("; ")}`);
  }

  return (
    <form
      className="card quest-form sheet"
      noValidate
      aria-label="Quest"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <fieldset className="quest-fields" disabled={!access.writesSite}>
        <legend className="visually-hidden">Quest</legend>
        <Fields draft={draft} problems={problems} onChange={change} />
      </fieldset>
      {general !== null && <Notice tone="danger">{general}</Notice>}
      {access.writesSite && (
        <div className="quest-actions">
          <Button type="submit" look="primary" isPending={isSaving} isDisabled={loaded !== null && !isChanged}>
            {loaded ? "Save" : "Create"}
          </Button>
          {loaded && isChanged && <Button onPress={() => show(loaded)}>Discard changes</Button>}
        </div>
      )}
      {theirs && (
        <ConflictDialog
          mine={questOf(draft, siteId, theirs.item)}
          theirs={questOf(draftOf(theirs.item), siteId, theirs.item)}
          onKeepEditing={() => setTheirs(null)}
          onTakeTheirs={() => {
            setTheirs(null);
            show(theirs);
          }}
          onSaveMine={() => {
            setTheirs(null);
            void save(theirs);
          }}
        />
      )}
    </form>
  );
}

function Fields({ draft, problems, onChange }: FieldsProps) {
  const channels = useChannels();
  return (
    <>
      <TextField label="Title" value={draft.title} maxLength={200} onChange={(title) => onChange({ title })} error={problems["title"]} />
      <TextField
        label="Description"
        rows={2}
        value={draft.description}
        maxLength={5000}
        onChange={(description) => onChange({ description })}
        error={problems["description"]}
      />
      <TaskRows draft={draft} problems={problems} onChange={onChange} />
      <h2 className="quest-part">Reward</h2>
      <div className="quest-pair">
        <Select
          label="Given as"
          value={draft.rewardType}
          onChange={(text) => {
            const rewardType = REWARDS.find((known) => known === text);
            if (rewardType) onChange({ rewardType });
          }}
          options={REWARDS.map((value) => ({ value, text: REWARD_NAMES[value] }))}
          error={problems["rewardType"]}
        />
        <TextField
          label="What it is"
          value={draft.rewardDescription}
          onChange={(rewardDescription) => onChange({ rewardDescription })}
          error={problems["rewardDescription"]}
        />
        <TextField
          label="Picture"
          placeholder="https://"
          value={draft.rewardImage}
          onChange={(rewardImage) => onChange({ rewardImage })}
          error={problems["rewardImage"]}
        />
        <TextField
          label="Product"
          description="A SKU of the site is granted at once."
          value={draft.productId}
          onChange={(productId) => onChange({ productId })}
          error={problems["productId"]}
        />
        {draft.rewardType === "prize" && (
          <TextField
            label="Paid into the wallet"
            inputMode="numeric"
            description="In minor units."
            value={draft.rewardAmount}
            onChange={(rewardAmount) => onChange({ rewardAmount })}
            error={problems["rewardAmount"]}
          />
        )}
        <TextField
          label="Cost of a claim"
          inputMode="numeric"
          description="In minor units of the wallet. 0: free."
          value={draft.claimCost}
          onChange={(claimCost) => onChange({ claimCost })}
          error={problems["claimCost"]}
        />
      </div>
      <TextField
        label="Shown after the claim"
        value={draft.claimedMessage}
        onChange={(claimedMessage) => onChange({ claimedMessage })}
        error={problems["claimedMessage"]}
      />
      <h2 className="quest-part">When and where</h2>
      <div className="quest-pair">
        <TextField
          label="Opens"
          type="datetime-local"
          value={draft.timeMinimum}
          onChange={(timeMinimum) => onChange({ timeMinimum })}
          description="Empty: now."
          error={problems["timeMinimum"]}
        />
        <TextField
          label="Ends"
          type="datetime-local"
          value={draft.timeMaximum}
          onChange={(timeMaximum) => onChange({ timeMaximum })}
          description="Empty: never."
          error={problems["timeMaximum"]}
        />
      </div>
      <fieldset className="quest-channels">
        <legend>Channels; none for the whole site</legend>
        <Checks
          options={choices(channels.data)}
          chosen={draft.channelIds}
          onChange={(channelIds) => onChange({ channelIds })}
          isLoading={channels.isPending}
        />
      </fieldset>
    </>
  );
}
