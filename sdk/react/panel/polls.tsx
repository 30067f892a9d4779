import { memo, useEffect, useId, useState } from "react";
import { TifoProblem } from "../../client/index.ts";
import type { PollAnswerState, PollState } from "../../model/state.ts";
import { useEventState, useSdkContext } from "../context.tsx";
import { Note, SiteImage } from "./parts.tsx";

/** Questions with their live tallies. */
export function Polls({ pollIds }: { pollIds: string[] }) {
  const polls = useEventState((state) => state.polls);
  const known = pollIds.flatMap((id) => polls[id] ?? []);
  if (known.length === 0) return <Note>No questions right now.</Note>;
  return known.map((poll) => <Poll key={poll.pollId} poll={poll} />);
}

const KINDS: Record<PollState["type"], string> = { poll: "Poll", prediction: "Prediction", trivia: "Trivia" };

const Poll = memo(function Poll({ poll }: { poll: PollState }) {
  const { event } = useSdkContext();
  const [sending, setSending] = useState<string | null>(null);
  const [problem, setProblem] = useState("");
  const heading = useId();
  useEffect(() => event.trackImpression({ kind: "poll", id: poll.pollId }), [event, poll.pollId]);
  const mayAnswer = poll.open && poll.myAnswerId === undefined && sending === null;

  async function answer(answerId: string): Promise<void> {
    setSending(answerId);
    setProblem("");
    try {
      await event.answerPoll(poll.pollId, answerId);
    } catch (error) {
      setProblem(error instanceof TifoProblem ? error.message : "Your answer couldn’t be sent. Try again.");
    } finally {
      setSending(null);
    }
  }

  return (
    <section className="tifo-card" aria-labelledby={heading}>
      <p className="tifo-kicker" data-open={poll.open}>
        {KINDS[poll.type]} · {statusOf(poll)}
      </p>
      <h3 id={heading}>{poll.question}</h3>
      <div className="tifo-answers">
        {poll.answers.map((one) => (
          <Answer key={one.answerId} answer={one} poll={poll} disabled={!mayAnswer} onAnswer={() => void answer(one.answerId)} />
        ))}
      </div>
      {poll.total !== undefined && <p className="tifo-small">{countOf(poll.total)}</p>}
      <p className="tifo-problem" role="alert">
        {problem}
      </p>
    </section>
  );
});

interface AnswerProps {
  answer: PollAnswerState;
  poll: PollState;
  disabled: boolean;
  onAnswer: () => void;
}

function Answer({ answer, poll, disabled, onAnswer }: AnswerProps) {
  const mine = poll.myAnswerId === answer.answerId;
  const right = poll.correctAnswerId === answer.answerId;
  const percent = answer.share === undefined ? undefined : Math.round(answer.share * 100);
  const share = answer.share ?? 0;
  return (
    <button
      type="button"
      className="tifo-answer"
      aria-pressed={mine}
      aria-disabled={disabled}
      data-right={right}
      style={{ "--tifo-share": share }}
      onClick={() => !disabled && onAnswer()}
    >
      <SiteImage src={answer.imageUrl} />
      <span className="tifo-answer-text">
        {answer.answer}
        {mine && <span className="tifo-tag">Your answer</span>}
        {right && <span className="tifo-tag tifo-tag-right">Correct</span>}
      </span>
      {percent !== undefined && <span className="tifo-percent">{percent}%</span>}
    </button>
  );
}

function countOf(total: number): string {
  if (total === 0) return "No answers yet";
  return total === 1 ? "1 answer" : `${total.toLocaleString()} answers`;
}

function statusOf({ open, correctAnswerId, myAnswerId }: PollState): string {
  if (correctAnswerId === undefined) return open ? "Open" : "Closed";
  if (myAnswerId === undefined) return "Settled";
  return myAnswerId === correctAnswerId ? "You were right" : "Not this time";
}
