import { useId } from "react";
import type { QuestionsState, QuestionState } from "../../../model/state.ts";
import { useQuestions, useTexts } from "../../context.tsx";
import { Time } from "../parts.tsx";
import { ModeratorTools } from "./moderator-tools.tsx";
import { useAction } from "./use-action.ts";
import { key } from "../../../i18n/key.ts";

const FAILED = key("That didn’t work. Try again.");

/** What is special about a question, for the viewer who reads it. */
const STATUS: Partial<Record<QuestionState["state"], string>> = {
  submitted: key("Waiting for review"),
  dismissed: key("Not selected"),
  merged: key("Part of another question"),
  answered: key("Answered|one"),
};

interface Props {
  question: QuestionState;
  state: QuestionsState;
}

export function QuestionCard({ question, state }: Props) {
  const { t } = useTexts();
  const { questions } = useQuestions();
  const action = useAction();
  const heading = useId();
  const isOwn = question.accountId === state.accountId;
  const similar = state.questions.filter(({ mergedInto }) => mergedInto === question._id).length;
  const target = state.questions.find(({ _id }) => _id === question.mergedInto);
  const status = STATUS[question.state];
  return (
    <li className="tifo-card tifo-question" aria-labelledby={heading} data-state={question.state}>
      <div className="tifo-question-main">
        <Upvote
          question={question}
          heading={heading}
          onChange={(upvoted) => void action.run(() => questions.upvote(question._id, upvoted), t(FAILED))}
        />
        <div className="tifo-question-body">
          <p className="tifo-question-text" id={heading} dir="auto">
            {question.text}
          </p>
          <p className="tifo-small tifo-question-meta">
            <bdi>{isOwn ? t("You") : question.name}</bdi>
            <Time at={question.askedAt} style="time" />
            {status !== undefined && <span className="tifo-tag">{t(status)}</span>}
            {question.muted && <span className="tifo-tag">{t("Muted account")}</span>}
            {similar > 0 && (
              <span className="tifo-tag">
                {t("{count, plural, one {# similar question} other {# similar questions}}", { count: similar })}
              </span>
            )}
          </p>
          {question.original !== undefined && <p className="tifo-small">{t("Unmasked: {text}", { text: question.original })}</p>}
          {target && (
            <p className="tifo-small" dir="auto">
              {t("Now counts for “{text}”", { text: target.text })}
            </p>
          )}
        </div>
      </div>
      {question.state === "answered" && <Answer question={question} />}
      {state.moderates && <ModeratorTools question={question} state={state} action={action} />}
      <p className="tifo-problem" role="alert">
        {action.problem}
      </p>
    </li>
  );
}

interface UpvoteProps {
  question: QuestionState;
  heading: string;
  onChange: (upvoted: boolean) => void;
}

function Upvote({ question: { upvotes, upvoted, state }, heading, onChange }: UpvoteProps) {
  const { t, locale } = useTexts();
  const disabled = state !== "approved";
  return (
    <button
      type="button"
      className="tifo-upvote"
      aria-pressed={upvoted}
      aria-disabled={disabled}
      aria-describedby={heading}
      onClick={() => !disabled && onChange(!upvoted)}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d="M8 3.2 14 11H2z" />
      </svg>
      <span className="tifo-only-read">{t("Upvote, {count, plural, one {# vote} other {# votes}}", { count: upvotes })}</span>
      <span aria-hidden="true">{upvotes.toLocaleString(locale)}</span>
    </button>
  );
}

function Answer({ question: { answer, answeredBy } }: { question: QuestionState }) {
  const { t } = useTexts();
  return (
    <div className="tifo-question-answer">
      <p className="tifo-kicker">{answeredBy === null ? t("Answer|noun") : t("{name} answered", { name: answeredBy })}</p>
      <p dir="auto">{answer ?? t("This question was answered live.")}</p>
    </div>
  );
}
