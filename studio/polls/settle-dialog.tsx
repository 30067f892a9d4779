import { useState } from "react";
import { isOutdated } from "#sdk/client/latest.ts";
import { useSession } from "#studio/session/context.tsx";
import { Button } from "#studio/ui/button.tsx";
import { Dialog } from "#studio/ui/dialog.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { errorText } from "#studio/ui/states.tsx";
import { toast } from "#studio/ui/toast.tsx";
import { barsOf, type PollResults } from "./draft.ts";
import { type LoadedPoll, readPoll } from "./queries.ts";
import { settlePoll } from "./save-poll.ts";

interface Props {
  loaded: LoadedPoll;
  results: PollResults | undefined;
  onClose: () => void;
  onSettled: (next: LoadedPoll) => void;
}

/** Asks for the correct answer. If somebody else was faster, shows theirs before anything is overwritten. */
export function SettleDialog({ loaded, results, onClose, onSettled }: Props) {
  const { client } = useSession();
  // The version that is looked at: a change by somebody else is a conflict, not a new default.
  const [base, setBase] = useState(loaded);
  const [chosen, setChosen] = useState(base.item.correctAnswerId);
  const [isPending, setPending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const { item: poll } = base;
  const settledAs = poll.settled === null ? null : poll.answers.find(({ _id }) => _id === poll.correctAnswerId)?.answer;

  async function settle(correctAnswerId: string): Promise<void> {
    setPending(true);
    setProblem(null);
    try {
      onSettled(await settlePoll(client, base, correctAnswerId));
      toast("The poll is settled.");
      onClose();
    } catch (error) {
      if (isOutdated(error)) await showTheirs();
      else setProblem(errorText(error));
    } finally {
      setPending(false);
    }
  }

  async function showTheirs(): Promise<void> {
    try {
      setBase(await readPoll(client, poll._id));
      setProblem(
        "Somebody else has changed the poll in the meantime. This is their version: check it, and settle again if you still want to.",
      );
    } catch (error) {
      setProblem(errorText(error));
    }
  }

  return (
    <Dialog
      title={poll.settled === null ? "Settle the poll" : "Correct the outcome"}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            look="primary"
            isPending={isPending}
            isDisabled={chosen === null || (poll.settled !== null && chosen === poll.correctAnswerId)}
            onPress={() => chosen !== null && void settle(chosen)}
          >
            Settle
          </Button>
        </>
      }
    >
      {problem !== null && <Notice tone="danger">{problem}</Notice>}
      {settledAs !== null && (
        <Notice tone="warning">
          It is settled: “{settledAs}”. Another answer corrects points and quests; rewards that were claimed stay claimed.
        </Notice>
      )}
      <fieldset className="poll-choices">
        <legend>Which answer is correct?</legend>
        {barsOf(poll, results).map(({ id, answer, responses }) => (
          <label key={id} className="poll-choice">
            <input type="radio" name="correct" value={id} checked={chosen === id} onChange={() => setChosen(id)} />
            <span>{answer}</span>
            <span className="soft">{responses.toLocaleString("en-GB")}</span>
          </label>
        ))}
      </fieldset>
      {poll.settled === null && (
        <p className="soft">This closes the poll. Quests of viewers who gave this answer advance, and leaderboards award points.</p>
      )}
    </Dialog>
  );
}
