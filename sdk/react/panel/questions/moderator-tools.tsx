import { type SubmitEvent, useId, useState } from "react";
import type { QuestionDecision } from "../../../model/event-interface.ts";
import type { QuestionsState, QuestionState } from "../../../model/state.ts";
import { useQuestions, useTexts } from "../../context.tsx";
import type { useAction } from "./use-action.ts";
import { key } from "../../../i18n/key.ts";

const FAILED = key("That didn’t work. Try again.");
/** The same lists as the server's transitions; a stale button gets a 409, which is shown. */
const TOOLS: Record<QuestionState["state"], readonly Tool[]> = {
  submitted: ["approve", "dismiss", "answer", "merge"],
  approved: ["show", "answer", "merge", "dismiss"],
  answered: ["show", "answer", "reopen", "dismiss"],
  dismissed: ["approve"],
  merged: ["dismiss"],
};

type Tool = "approve" | "dismiss" | "reopen" | "answer" | "merge" | "show";

const LABELS: Record<Tool, string> = {
  approve: key("Approve"),
  dismiss: key("Dismiss"),
  reopen: key("Reopen"),
  answer: key("Answer|verb"),
  merge: key("Merge"),
  show: key("On screen"),
};

interface Props {
  question: QuestionState;
  state: QuestionsState;
  action: ReturnType<typeof useAction>;
}

/** What a moderator can do with a question. */
export function ModeratorTools({ question, state, action }: Props) {
  const { t } = useTexts();
  const { questions } = useQuestions();
  const [open, setOpen] = useState<"answer" | "merge" | null>(null);
  const [shown, setShown] = useState(false);
  const { _id: id } = question;
  const decide = async (decision: QuestionDecision) => {
    if (await action.run(() => questions.decide(id, decision), t(FAILED))) setOpen(null);
  };

  async function use(tool: Tool): Promise<void> {
    if (action.isRunning) return;
    if (tool === "answer" || tool === "merge") return setOpen(open === tool ? null : tool);
    if (tool === "show") return setShown(await action.run(() => questions.showOnScreen(id), t(FAILED)));
    await decide({ state: tool === "dismiss" ? "dismissed" : "approved" });
  }

  return (
    <div className="tifo-tools">
      <div className="tifo-chips" role="group" aria-label={t("Moderate")}>
        {TOOLS[question.state].map((tool) => (
          <button
            key={tool}
            type="button"
            className="tifo-chip"
            aria-disabled={action.isRunning}
            aria-expanded={tool === "answer" || tool === "merge" ? open === tool : undefined}
            onClick={() => void use(tool)}
          >
            {t(LABELS[tool])}
          </button>
        ))}
      </div>
      <p className="tifo-small tifo-shown" role="status">
        {shown ? t("On screen for 15 seconds.") : ""}
      </p>
      {open === "answer" && <AnswerForm question={question} onAnswer={(answer) => void decide({ state: "answered", ...answer })} />}
      {open === "merge" && (
        <MergeForm question={question} state={state} onMerge={(mergedInto) => void decide({ state: "merged", mergedInto })} />
      )}
    </div>
  );
}

function AnswerForm({ question, onAnswer }: { question: QuestionState; onAnswer: (answer: { answer?: string }) => void }) {
  const { t } = useTexts();
  const [text, setText] = useState(question.answer ?? "");
  const field = useId();
  const send = (submit: SubmitEvent) => {
    submit.preventDefault();
    onAnswer(text.trim() === "" ? {} : { answer: text.trim() });
  };
  return (
    <form className="tifo-ask" onSubmit={send}>
      <label htmlFor={field} className="tifo-small">
        {t("Answer; leave it empty for a question that was answered live")}
      </label>
      <textarea id={field} rows={3} maxLength={2000} value={text} onChange={({ target }) => setText(target.value)} />
      <button type="submit" className="tifo-button">
        {text.trim() === "" ? t("Answered live") : t("Publish answer")}
      </button>
    </form>
  );
}

interface MergeProps {
  question: QuestionState;
  state: QuestionsState;
  onMerge: (mergedInto: string) => void;
}

function MergeForm({ question, state, onMerge }: MergeProps) {
  const { t } = useTexts();
  const targets = state.questions.filter(({ _id, state: at }) => _id !== question._id && (at === "approved" || at === "answered"));
  const [chosen, setChosen] = useState("");
  const field = useId();
  if (targets.length === 0) return <p className="tifo-small">{t("Approve another question first.")}</p>;
  const target = chosen === "" ? (targets[0]?._id ?? "") : chosen;
  const send = (submit: SubmitEvent) => {
    submit.preventDefault();
    onMerge(target);
  };
  return (
    <form className="tifo-ask" onSubmit={send}>
      <label htmlFor={field} className="tifo-small">
        {t("Merge into, which gets the voters")}
      </label>
      <select id={field} value={target} onChange={({ target: select }) => setChosen(select.value)}>
        {targets.map(({ _id, text, upvotes }) => (
          <option key={_id} value={_id}>
            {`${text.slice(0, 80)} (${upvotes})`}
          </option>
        ))}
      </select>
      <button type="submit" className="tifo-button">
        {t("Merge")}
      </button>
    </form>
  );
}
