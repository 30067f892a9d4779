import { type FormEvent, useEffect, useState } from "react";
import type { ChatMessage } from "../../chat/wire.ts";
import { useChatContext, useChatState } from "./context.tsx";
import { Sheet } from "./sheet.tsx";
import { useTexts } from "../context.tsx";
import { key } from "../../i18n/key.ts";

interface Props {
  messageId: string;
  onReply: (messageId: string) => void;
  onClose: () => void;
}

const MINUTE = 60_000;
const ENDS: readonly { label: string; after: number | null }[] = [
  { label: key("10 minutes"), after: 10 * MINUTE },
  { label: key("1 hour"), after: 60 * MINUTE },
  { label: key("1 day"), after: 24 * 60 * MINUTE },
  { label: key("1 week"), after: 7 * 24 * 60 * MINUTE },
  { label: key("Until it is lifted"), after: null },
];

/** What can be done with a message: by its author, by other viewers, and by moderators. */
export function MessageSheet({ messageId, onReply, onClose }: Props) {
  const { t } = useTexts();
  const { chat } = useChatContext();
  const message = useChatState(({ items }) => {
    const item = items.find(({ key }) => key === messageId);
    return item?.kind === "message" ? item.message : null;
  });
  const [form, setForm] = useState<"ban" | "report" | null>(null);
  // The message was removed in the meantime.
  useEffect(() => {
    if (!message) onClose();
  }, [message, onClose]);
  if (!message) return null;
  return (
    // A new one for each form, so that it receives the focus of the button that opened it.
    <Sheet key={form} title={t("Message of {name}", { name: message.name })} onClose={onClose}>
      <blockquote dir="auto">{message.text}</blockquote>
      {form === "ban" && <BanForm message={message} onClose={onClose} />}
      {form === "report" && <ReportForm message={message} onClose={onClose} />}
      {form === null && (
        <>
          <Emoji
            message={message}
            onPick={(emoji) => {
              chat.react(messageId, message.reacted === emoji ? null : emoji);
              onClose();
            }}
          />
          <Actions
            message={message}
            onForm={setForm}
            onClose={onClose}
            onReply={() => {
              onClose();
              onReply(messageId);
            }}
          />
        </>
      )}
    </Sheet>
  );
}

function Emoji({ message: { state, reacted }, onPick }: { message: ChatMessage; onPick: (emoji: string) => void }) {
  const { t } = useTexts();
  const settings = useChatState((one) => one.settings);
  if (!settings || state !== "visible") return null;
  return (
    <div className="tifo-chat-emoji-row" role="group" aria-label={t("React")}>
      {settings.emoji.map((emoji) => (
        <button
          key={emoji}
          type="button"
          aria-pressed={reacted === emoji}
          aria-label={t("React with {emoji}", { emoji })}
          onClick={() => onPick(emoji)}
        >
          {emoji}
        </button>
      ))}
    </div>
  );
}

interface ActionsProps {
  message: ChatMessage;
  onReply: () => void;
  onForm: (form: "ban" | "report") => void;
  onClose: () => void;
}

function Actions({ message, onReply, onForm, onClose }: ActionsProps) {
  const { t } = useTexts();
  const { perform, change } = useChatContext();
  const accountId = useChatState((state) => state.accountId);
  const isModerator = useChatState(({ settings }) => settings?.moderator === true);
  const isPinned = useChatState(({ settings }) => settings?.pinned?._id === message._id);
  const isOwn = accountId !== null && message.accountId === accountId;
  const isVisible = message.state === "visible";

  async function afterwards(done: Promise<boolean>): Promise<void> {
    if (await done) onClose();
  }

  return (
    <div className="tifo-chat-choices">
      {isVisible && (
        <button type="button" className="tifo-row" onClick={onReply}>
          {t("Reply")}
        </button>
      )}
      {isModerator && isVisible && (
        <button
          type="button"
          className="tifo-row"
          onClick={() => void afterwards(change({ pinnedMessageId: isPinned ? null : message._id }))}
        >
          {isPinned ? t("Unpin") : t("Pin for everybody")}
        </button>
      )}
      {(isModerator || isOwn) && message.state !== "removed" && (
        <button
          type="button"
          className="tifo-row"
          data-danger="true"
          onClick={() => void afterwards(perform(({ remove }) => remove(message._id)))}
        >
          {t("Remove")}
        </button>
      )}
      {isModerator && !isOwn && message.accountId !== null && (
        <button type="button" className="tifo-row" data-danger="true" onClick={() => onForm("ban")}>
          {t("Mute or ban {name}…", { name: message.name })}
        </button>
      )}
      {!isModerator && !isOwn && (
        <button type="button" className="tifo-row" onClick={() => onForm("report")}>
          {t("Report…")}
        </button>
      )}
    </div>
  );
}

function BanForm({ message, onClose }: { message: ChatMessage; onClose: () => void }) {
  const { t } = useTexts();
  const { perform, sdk } = useChatContext();
  const [kind, setKind] = useState<"ban" | "mute">("mute");
  const [end, setEnd] = useState("0");
  const [reason, setReason] = useState("");

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    const { accountId } = message;
    if (accountId === null) return;
    const after = ENDS[Number(end)]?.after ?? null;
    const until = after === null ? null : Math.round(sdk.event.serverNow()) + after;
    if (await perform(({ ban }) => ban({ accountId, kind, channelId: sdk.event.channelId, until, reason }))) onClose();
  }

  return (
    <form className="tifo-chat-form" onSubmit={(event) => void submit(event)}>
      <fieldset>
        <legend className="tifo-only-read">{t("Kind")}</legend>
        <label>
          <input type="radio" name="kind" checked={kind === "mute"} onChange={() => setKind("mute")} />
          <span>
            <b>{t("Mute")}</b> {t("Only {name} and moderators see the messages.", { name: message.name })}
          </span>
        </label>
        <label>
          <input type="radio" name="kind" checked={kind === "ban"} onChange={() => setKind("ban")} />
          <span>
            <b>{t("Ban")}</b> {t("{name} can read, but not send.", { name: message.name })}
          </span>
        </label>
      </fieldset>
      <label>
        {t("For")}
        <select value={end} onChange={(event) => setEnd(event.target.value)}>
          {ENDS.map(({ label }, index) => (
            <option key={label} value={index}>
              {t(label)}
            </option>
          ))}
        </select>
      </label>
      <label>
        {t("Reason")}
        <input value={reason} maxLength={500} onChange={(event) => setReason(event.target.value)} />
      </label>
      <button type="submit" className="tifo-button">
        {kind === "ban" ? t("Ban {name}", { name: message.name }) : t("Mute {name}", { name: message.name })}
      </button>
    </form>
  );
}

function ReportForm({ message, onClose }: { message: ChatMessage; onClose: () => void }) {
  const { t } = useTexts();
  const { perform } = useChatContext();
  const [reason, setReason] = useState("");

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (await perform(({ report }) => report(message._id, reason.trim()))) onClose();
  }

  return (
    <form className="tifo-chat-form" onSubmit={(event) => void submit(event)}>
      <label>
        {t("What is wrong with it?")}
        <input value={reason} required maxLength={500} onChange={(event) => setReason(event.target.value)} />
      </label>
      <button type="submit" className="tifo-button" disabled={reason.trim() === ""}>
        {t("Report")}
      </button>
    </form>
  );
}
