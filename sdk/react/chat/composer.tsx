import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { blockOf } from "../../chat/verdicts.ts";
import { useChatContext, useChatState } from "./context.tsx";
import { EmojiPicker } from "./emoji-picker.tsx";
import { Icon } from "./icons.tsx";
import { useTexts } from "../context.tsx";
import { blockText } from "./verdict-texts.ts";

const MAX_TEXT = 500;
/** Characters left from which they are counted. */
const COUNTED = 100;

interface Props {
  /** The message that the next one replies to. */
  replyTo: string | null;
  onReplied: () => void;
  loginText: string | undefined;
}

/** Where the viewer writes; or why they can't. */
export function Composer({ replyTo, onReplied, loginText }: Props) {
  const texts = useTexts();
  const { t } = texts;
  const { sdk } = useChatContext();
  const isSignedIn = useChatState(({ accountId }) => accountId !== null);
  const status = useChatState((state) => state.status);
  const settings = useChatState((state) => state.settings);
  if (status === "joining" && !settings) return null;
  if (!isSignedIn)
    return (
      <div className="tifo-chat-composer">
        <button
          type="button"
          className="tifo-button"
          onClick={() => sdk.session.delegate.notify((host) => host.onPanelEvent?.({ type: "loginRequested" }))}
        >
          <bdi>{loginText ?? t("Sign in to chat")}</bdi>
        </button>
      </div>
    );
  const block = settings && blockOf(settings);
  if (settings && block)
    return (
      <p className="tifo-chat-composer tifo-chat-blocked" role="status">
        {blockText(texts, block, settings)}
      </p>
    );
  return <Editor replyTo={replyTo} onReplied={onReplied} />;
}

function Editor({ replyTo, onReplied }: Omit<Props, "loginText">) {
  const { t } = useTexts();
  const { chat } = useChatContext();
  const settings = useChatState((state) => state.settings);
  const status = useChatState((state) => state.status);
  const [text, setText] = useState("");
  const [picks, setPicks] = useState(false);
  const input = useRef<HTMLTextAreaElement>(null);
  const hint = useId();
  const wait = useCountdown();
  const left = MAX_TEXT - [...text.trim()].length;
  const canSend = left >= 0 && left < MAX_TEXT && wait === 0;

  useEffect(() => {
    if (replyTo !== null) input.current?.focus();
  }, [replyTo]);
  useLayoutEffect(() => {
    const { current } = input;
    if (!current) return;
    current.style.height = "auto";
    current.style.height = `${current.scrollHeight + 2}px`;
  }, [text]);

  function send(): void {
    if (!canSend) return;
    chat.send(text.trim().replace(/\s*\n\s*/g, " "), replyTo);
    setText("");
    setPicks(false);
    onReplied();
    input.current?.focus();
  }

  function insert(emoji: string): void {
    const { selectionStart = text.length, selectionEnd = text.length } = input.current ?? {};
    setText(text.slice(0, selectionStart) + emoji + text.slice(selectionEnd));
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === "Escape" && replyTo !== null) onReplied();
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  }

  return (
    <form
      className="tifo-chat-composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {replyTo !== null && <ReplyBar messageId={replyTo} onCancel={onReplied} />}
      {picks && <EmojiPicker onPick={insert} onClose={() => setPicks(false)} />}
      <div className="tifo-chat-input">
        <textarea
          ref={input}
          rows={1}
          dir="auto"
          value={text}
          placeholder={settings?.mode === "members" ? t("Message (members only)") : t("Send a message")}
          aria-label={t("Message")}
          aria-describedby={hint}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={onKeyDown}
        />
        <button type="button" className="tifo-chat-icon" aria-label={t("Emoji")} aria-expanded={picks} onClick={() => setPicks(!picks)}>
          <Icon name="smile" />
        </button>
        <button type="submit" className="tifo-chat-send" aria-label={t("Send")} aria-disabled={!canSend}>
          {wait > 0 ? <span className="tifo-chat-wait">{wait}</span> : <Icon name="send" />}
        </button>
      </div>
      <p className="tifo-chat-hint" id={hint}>
        {status === "waiting" && <span>{t("Reconnecting. Your messages will be sent.")}</span>}
        {wait > 0 && <span>{t("You can send again in {seconds} s.", { seconds: wait })}</span>}
        {wait === 0 && settings !== null && settings.slowSeconds > 0 && !settings.moderator && (
          <span>{t("Slow mode: one message every {seconds} s", { seconds: settings.slowSeconds })}</span>
        )}
        {settings?.mode === "paused" && <span>{t("Paused: only moderators can send.")}</span>}
        {left <= COUNTED && (
          <span className="tifo-chat-count" data-over={left < 0} role={left < 0 ? "alert" : undefined}>
            {left < 0
              ? t("{count, plural, one {# character too many} other {# characters too many}}", { count: -left })
              : t("{count, plural, one {# character left} other {# characters left}}", { count: left })}
          </span>
        )}
      </p>
    </form>
  );
}

function ReplyBar({ messageId, onCancel }: { messageId: string; onCancel: () => void }) {
  const { t } = useTexts();
  const message = useChatState(({ items }) => {
    const item = items.find(({ key }) => key === messageId);
    return item?.kind === "message" ? item.message : null;
  });
  return (
    <div className="tifo-chat-replying">
      <Icon name="reply" />
      <p dir="auto">
        {message ? t("Reply to {name}", { name: message.name }) : t("Reply to a message")}
        {message?.text && `: ${message.text}`}
      </p>
      <button type="button" className="tifo-chat-icon" aria-label={t("Cancel the reply")} onClick={onCancel}>
        <Icon name="close" />
      </button>
    </div>
  );
}

/** Seconds until the viewer can send again. */
function useCountdown(): number {
  const { sdk } = useChatContext();
  const sendableAt = useChatState((state) => state.sendableAt);
  const { environment } = sdk.session;
  const [, setTick] = useState(0);
  const seconds = Math.max(0, Math.ceil((sendableAt - environment.now()) / 1000));
  useEffect(() => {
    if (seconds === 0) return undefined;
    const timer = environment.setTimer(() => setTick((tick) => tick + 1), 250);
    return () => environment.clearTimer(timer);
  });
  return seconds;
}
