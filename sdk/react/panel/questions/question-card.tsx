import { useId } from "react";
import type { QuestionsState, QuestionState } from "../../../model/state.ts";
import { useQuestions } from "../../context.tsx";
import { Time } from "../parts.tsx";
import { ModeratorTools } from "./moderator-tools.tsx";
import { useAction } from "./use-action.ts";

const FAILED = "That didn’t work. Try again.";

/** What is special about a question, for the viewer who reads it. */
const STATUS: Partial<Record<QuestionState["state"], string>> = {
  submitted: "Waiting for review",
  dismissed: "Not selected",
  merged: "Part of another question",
  answered: "Answered",
};

interface Props {
  question: QuestionState;
  state: QuestionsState;
}

export function QuestionCard({ question, state }: Props) {
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
          onChange={(upvoted) => void action.run(() => questions.upvote(question._id, upvoted), FAILED)}
        />
        <div className="tifo-question-body">
          <p className="tifo-question-text" id={heading} dir="auto">
            {question.text}
          </p>
          <p className="tifo-small tifo-question-meta">
            <bdi>{isOwn ? "You" : question.name}</bdi>
            <Time at={question.askedAt} style="time" />
            {status !== undefined && <span className="tifo-tag">{status}</span>}
            {question.muted && <span className="tifo-tag">Muted account</span>}
            {similar > 0 && <span className="tifo-tag">{similar === 1 ? "1 similar question" : `${similar} similar questions`}</span>}
          </p>
          {question.original !== undefined && <p className="tifo-small">Unmasked: {question.original}</p>}
          {target && (
            <p className="tifo-small" dir="auto">
              Now counts for “{target.text}”
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
      <span className="tifo-only-read">Upvote, </span>
      {upvotes.toLocaleString()}
      <span className="tifo-only-read">{upvotes === 1 ? " vote" : " votes"}</span>
    </button>
  );
}

function Answer({ question: { answer, answeredBy } }: { question: QuestionState }) {
  return (
    <div className="tifo-question-answer">
      <p className="tifo-kicker">{answeredBy === null ? "Answer" : `${answeredBy} answered`}</p>
      <p dir="auto">{answer ?? "This question was answered live."}</p>
    </div>
  );
}
