import { type FormEvent, useState } from "react";
import { Button } from "#studio/ui/button.tsx";
import { Dialog } from "#studio/ui/dialog.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import type { Question } from "./desk.ts";
import { Decision } from "./message-detail.tsx";

interface Props {
  question: Question;
  /** Null for those who only look. */
  can: { approve: boolean; dismiss: boolean; answer: boolean; show: boolean } | null;
  act: Record<"approve" | "dismiss" | "answer" | "show", () => void>;
  isAnswering: boolean;
  /** With the answer, which is empty if it was given live; null if the dialog was closed. */
  onAnswered: (answer: string | null) => void;
}

const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

export function QuestionDetail({ question, can, act, isAnswering, onAnswered }: Props) {
  const { name, text, original, upvotes, askedAt, answer, answeredBy, muted } = question;
  return (
    <section className="card message-detail" aria-labelledby="selected-message">
      <div className="sender">
        <span className="sender-initial" aria-hidden="true">
          {[...name][0]?.toUpperCase()}
        </span>
        <div className="sender-text">
          <h2 id="selected-message">{name}</h2>
          <p className="soft">
            {TIME.format(askedAt)} · {upvotes === 1 ? "1 upvote" : `${upvotes.toLocaleString("en")} upvotes`}
          </p>
        </div>
        {muted === true && <span className="chip">Muted</span>}
      </div>
      <blockquote className="message-text">{original ?? text}</blockquote>
      {original !== undefined && original !== text && <p className="soft">Viewers see: {text}</p>}
      {answer !== null && (
        <div>
          <h3 className="detail-title">Answer{answeredBy === null ? "" : ` by ${answeredBy}`}</h3>
          <p className="answer">{answer}</p>
        </div>
      )}
      <div className="decisions" role="group" aria-label="Decision">
        <Decision name="Approve" shortcut="A" look="primary" isDisabled={!can?.approve} onPress={act.approve} />
        <Decision name="On screen" shortcut="S" look="secondary" isDisabled={!can?.show} onPress={act.show} />
        <Decision name="Answered" shortcut="D" look="secondary" isDisabled={!can?.answer} onPress={act.answer} />
        <Decision name="Dismiss" shortcut="R" look="danger" isDisabled={!can?.dismiss} onPress={act.dismiss} />
      </div>
      {isAnswering && <AnswerDialog question={question} onAnswered={onAnswered} />}
    </section>
  );
}

function AnswerDialog({ question, onAnswered }: Pick<Props, "question" | "onAnswered">) {
  const [answer, setAnswer] = useState(question.answer ?? "");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onAnswered(answer.trim());
  };
  return (
    <Dialog title={`Answer ${question.name}`} onClose={() => onAnswered(null)}>
      <form className="dialog-form" onSubmit={submit}>
        <TextField
          label="Answer"
          description="Viewers read it below the question. Leave it empty if the question was answered live."
          rows={4}
          value={answer}
          onChange={setAnswer}
          maxLength={2000}
          autoFocus
        />
        <div className="dialog-actions">
          <Button onPress={() => onAnswered(null)}>Cancel</Button>
          <Button type="submit" look="primary">
            Mark as answered
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
