import { memo, useEffect, useId, useState } from "react";
import type { PollAnswerState, PollState } from "../../model/state.ts";
import { useEventState, useSdkContext, useTexts } from "../context.tsx";
import { WalletPanel } from "../lazy-panel.tsx";
import { Note, SiteImage } from "./parts.tsx";
import { key } from "../../i18n/key.ts";
import type { Translate } from "../../i18n/texts.ts";
import { problemText } from "../problem-text.ts";

/** Questions with their live tallies. */
export function Polls({ pollIds }: { pollIds: string[] }) {
  const { t } = useTexts();
  const polls = useEventState((state) => state.polls);
  const authenticated = useEventState((state) => state.authenticated);
  const known = pollIds.flatMap((id) => polls[id] ?? []);
  if (known.length === 0) return <Note>{t("No questions right now.")}</Note>;
  const paid = authenticated ? known.filter(({ responseCost }) => responseCost !== undefined) : [];
  return (
    <>
      {paid.length > 0 && <WalletPanel version={paid.map(({ myAnswerId }) => myAnswerId ?? "").join()} />}
      {known.map((poll) => (
        <Poll key={poll.pollId} poll={poll} />
      ))}
    </>
  );
}

const KINDS: Record<PollState["type"], string> = {
  poll: key("Poll"),
  prediction: key("Prediction"),
  trivia: key("Trivia"),
};

const Poll = memo(function Poll({ poll }: { poll: PollState }) {
  const { t } = useTexts();
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
      setProblem(problemText(error, t("Your answer couldn’t be sent. Try again.")));
    } finally {
      setSending(null);
    }
  }

  return (
    <section className="tifo-card" aria-labelledby={heading}>
      <p className="tifo-kicker" data-open={poll.open}>
        {t(KINDS[poll.type])} · {t(statusOf(poll))}
        {poll.responseCost !== undefined && ` · ${t("Costs {amount, number}", { amount: poll.responseCost })}`}
      </p>
      <h3 id={heading}>
        <bdi>{poll.question}</bdi>
      </h3>
      <div className="tifo-answers">
        {poll.answers.map((one) => (
          <Answer key={one.answerId} answer={one} poll={poll} disabled={!mayAnswer} onAnswer={() => void answer(one.answerId)} />
        ))}
      </div>
      {poll.total !== undefined && <p className="tifo-small">{countOf(t, poll.total)}</p>}
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
  const { t, locale } = useTexts();
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
        <bdi>{answer.answer}</bdi>
        {mine && <span className="tifo-tag">{t("Your answer")}</span>}
        {right && <span className="tifo-tag tifo-tag-right">{t("Correct")}</span>}
      </span>
      {percent !== undefined && <span className="tifo-percent">{(percent / 100).toLocaleString(locale, { style: "percent" })}</span>}
    </button>
  );
}

function countOf(t: Translate, total: number): string {
  return total === 0 ? t("No answers yet") : t("{count, plural, one {# answer} other {# answers}}", { count: total });
}

function statusOf({ open, correctAnswerId, myAnswerId }: PollState): string {
  if (correctAnswerId === undefined) return open ? key("Open|poll") : key("Closed");
  if (myAnswerId === undefined) return key("Settled");
  return myAnswerId === correctAnswerId ? key("You were right") : key("Not this time");
}
