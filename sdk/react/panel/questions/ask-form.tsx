import { type KeyboardEvent, type SubmitEvent, useId, useState } from "react";
import type { PanelRenderer } from "../../../model/state.ts";
import { useEventState, useQuestions, useSdkContext, useTexts } from "../../context.tsx";
import { useAction } from "./use-action.ts";

const MAX_LENGTH = 500;
/** The counter appears when this many characters are left. */
const COUNT_FROM = 100;

type Renderer = Extract<PanelRenderer, { panel_type: "question_answer" }>;

/** The field for a question, or a button to sign in. */
export function AskForm({ renderer }: { renderer: Renderer }) {
  const { t } = useTexts();
  const { questions } = useQuestions();
  const { session } = useSdkContext();
  const authenticated = useEventState((state) => state.authenticated);
  const [text, setText] = useState("");
  const [sent, setSent] = useState(false);
  const action = useAction();
  const field = useId();
  const left = MAX_LENGTH - [...text.trim()].length;
  const canSend = text.trim() !== "" && left >= 0 && !action.isRunning;

  if (!authenticated)
    return (
      <div className="tifo-ask tifo-ask-signed-out">
        <p>{t("Sign in to ask and upvote.")}</p>
        <button
          type="button"
          className="tifo-button"
          onClick={() => session.delegate.notify((host) => host.onPanelEvent?.({ type: "loginRequested" }))}
        >
          <bdi>{renderer.login_button_text ?? t("Sign in")}</bdi>
        </button>
      </div>
    );

  async function ask(): Promise<void> {
    if (!canSend) return;
    const isSent = await action.run(() => questions.ask(text), t("Your question couldn’t be sent. Try again."));
    if (!isSent) return;
    setText("");
    setSent(true);
  }

  function onSubmit(submit: SubmitEvent): void {
    submit.preventDefault();
    void ask();
  }

  function onKeyDown(key: KeyboardEvent): void {
    if (key.key !== "Enter" || !(key.metaKey || key.ctrlKey)) return;
    key.preventDefault();
    void ask();
  }

  return (
    <form className="tifo-ask" onSubmit={onSubmit}>
      <label className="tifo-only-read" htmlFor={field}>
        {t("Your question")}
      </label>
      <textarea
        id={field}
        rows={2}
        value={text}
        placeholder={renderer.prompt ?? t("Ask a question")}
        aria-invalid={left < 0}
        onKeyDown={onKeyDown}
        onChange={({ target }) => {
          setText(target.value);
          setSent(false);
        }}
      />
      <div className="tifo-ask-bar">
        <p className="tifo-small" role="status">
          {sent
            ? t("Sent. A moderator reviews it before others see it.")
            : left <= COUNT_FROM
              ? t("{count, plural, one {# character left} other {# characters left}}", { count: left })
              : ""}
        </p>
        <button type="submit" className="tifo-button" aria-disabled={!canSend}>
          {action.isRunning ? t("Sending…") : t("Ask")}
        </button>
      </div>
      <p className="tifo-problem" role="alert">
        {action.problem}
      </p>
    </form>
  );
}
