import { useState } from "react";
import { useNow } from "#studio/ui/use-now.ts";
import { useSession } from "#studio/session/context.tsx";
import { Notice } from "#studio/ui/notice.tsx";
import { Select } from "#studio/ui/select.tsx";
import { Empty, ErrorState, errorText, Loading } from "#studio/ui/states.tsx";
import { ago, decisionsOf, type Question, step, undecided } from "./desk.ts";
import { EntryList } from "./entry-list.tsx";
import { useSelection } from "./message-desk.tsx";
import { QuestionDetail } from "./question-detail.tsx";
import { UndoBar } from "./undo-bar.tsx";
import { QUESTION_VIEWS, type QuestionView, useQuestionDecisions, useQuestions } from "./use-questions.ts";
import { useShortcuts } from "./use-shortcuts.ts";

const EMPTY: Record<QuestionView, string> = {
  submitted: "No question waits.",
  approved: "No question is approved.",
  answered: "No question is answered yet.",
  dismissed: "No question is dismissed.",
};

/** The channel's questions by state, and what is decided on them. */
export function Questions({ channelId }: { channelId: string }) {
  const [view, setView] = useState<QuestionView>("submitted");
  const questions = useQuestions(channelId, view);
  const choose = (value: string): void => setView(QUESTION_VIEWS.find((one) => one.value === value)?.value ?? "submitted");
  return (
    <>
      <div className="toolbar">
        <Select label="State" value={view} onChange={choose} options={QUESTION_VIEWS} />
      </div>
      {questions.isPending && <Loading label="Loading the questions…" />}
      {questions.isError && !questions.data && <ErrorState error={questions.error} retry={() => void questions.refetch()} />}
      {questions.isError && questions.data && (
        <Notice tone="danger">{errorText(questions.error)} The list may be out of date; it is read again by itself.</Notice>
      )}
      {questions.data && <QuestionDesk key={view} all={questions.data.results} channelId={channelId} empty={EMPTY[view]} />}
    </>
  );
}

interface Props {
  all: readonly Question[];
  channelId: string;
  empty: string;
}

function QuestionDesk({ all, channelId, empty }: Props) {
  const { access } = useSession();
  const now = useNow(10_000);
  const decisions = useQuestionDecisions();
  const [isAnswering, setAnswering] = useState(false);
  const shown = undecided(all, decisions.decided);
  const ids = shown.map(({ _id }) => _id);
  const [selectedId, select] = useSelection(ids);
  const question = shown.find(({ _id }) => _id === selectedId);
  const canDecide = access.moderates("Question_Answer_Moderator", channelId, "write") && question !== undefined;
  const can = question && canDecide ? { ...decisionsOf(question), show: question.muted !== true && question.state !== "dismissed" } : null;
  const { undo } = decisions;
  const act = {
    approve: () => question && void decisions.decide(question, { state: "approved" }),
    dismiss: () => question && void decisions.decide(question, { state: "dismissed" }),
    show: () => question && void decisions.show(question),
    answer: () => setAnswering(true),
  };
  useShortcuts({
    A: can?.approve ? act.approve : undefined,
    R: can?.dismiss ? act.dismiss : undefined,
    S: can?.show ? act.show : undefined,
    D: can?.answer ? act.answer : undefined,
    U: undo?.label ? () => void undo.run() : undefined,
    J: () => select(step(ids, selectedId, 1)),
    K: () => select(step(ids, selectedId, -1)),
  });
  return (
    <>
      <UndoBar undo={undo} />
      {!question && (
        <Empty title={empty} icon="chat">
          Questions appear here by themselves.
        </Empty>
      )}
      {question && (
        <div className="message-desk">
          <div className="card message-list">
            <EntryList label="Questions" entries={shown} selectedId={selectedId} onSelect={select}>
              {(one) => (
                <>
                  <span className="message-line">
                    <strong className="message-name">{one.name}</strong>
                    <time className="soft">{ago(one.askedAt, now)}</time>
                  </span>
                  <span className="message-excerpt">{one.original ?? one.text}</span>
                  <span className="message-line">
                    <span className="soft">{one.upvotes === 1 ? "1 upvote" : `${one.upvotes} upvotes`}</span>
                    {one.muted === true && <span className="chip">Muted</span>}
                  </span>
                </>
              )}
            </EntryList>
          </div>
          <QuestionDetail
            key={question._id}
            question={question}
            can={can}
            act={act}
            isAnswering={isAnswering}
            onAnswered={(answer) => {
              setAnswering(false);
              if (answer !== null) void decisions.decide(question, { state: "answered", ...(answer !== "" && { answer }) });
            }}
          />
        </div>
      )}
    </>
  );
}
