import { type FormEvent, useEffect, useState } from "react";
import type { ChatMessage } from "../../chat/wire.ts";
import { useChatContext, useChatState } from "./context.tsx";
import { Sheet } from "./sheet.tsx";

interface Props {
  messageId: string;
  onReply: (messageId: string) => void;
  onClose: () => void;
}

const MINUTE = 60_000;
const ENDS: readonly { label: string; after: number | null }[] = [
  { label: "10 minutes", after: 10 * MINUTE },
  { label: "1 hour", after: 60 * MINUTE },
  { label: "1 day", after: 24 * 60 * MINUTE },
  { label: "1 week", after: 7 * 24 * 60 * MINUTE },
  { label: "Until it is lifted", after: null },
];

/** What can be done with a message: by its author, by other viewers, and by moderators. */
export function MessageSheet({ messageId, onReply, onClose }: Props) {
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
    <Sheet key={form} title={`Message of ${message.name}`} onClose={onClose}>
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
  const settings = useChatState((one) => one.settings);
  if (!settings || state !== "visible") return null;
  return (
    <div className="tifo-chat-emoji-row" role="group" aria-label="React">
      {settings.emoji.map((emoji) => (
        <button key={emoji} type="button" aria-pressed={reacted === emoji} aria-label={`React with ${emoji}`} onClick={() => onPick(emoji)}>
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
          Reply
        </button>
      )}
      {isModerator && isVisible && (
        <button
          type="button"
          className="tifo-row"
          onClick={() => void afterwards(change({ pinnedMessageId: isPinned ? null : message._id }))}
        >
          {isPinned ? "Unpin" : "Pin for everybody"}
        </button>
      )}
      {(isModerator || isOwn) && message.state !== "removed" && (
        <button
          type="button"
          className="tifo-row"
          data-danger="true"
          onClick={() => void afterwards(perform(({ remove }) => remove(message._id)))}
        >
          Remove
        </button>
      )}
      {isModerator && !isOwn && message.accountId !== null && (
        <button type="button" className="tifo-row" data-danger="true" onClick={() => onForm("ban")}>
          Mute or ban {message.name}…
        </button>
      )}
      {!isModerator && !isOwn && (
        <button type="button" className="tifo-row" onClick={() => onForm("report")}>
          Report…
        </button>
      )}
    </div>
  );
}

function BanForm({ message, onClose }: { message: ChatMessage; onClose: () => void }) {
  const { perform, sdk } = useChatContext();
  const [kind, setKind] = useState<"ban" | "mute">("mute");
  const [end, setEnd] = useState("0");
  const [reason, setReason] = useState("");

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    const { accountId } = message;
    if (accountId === null) return;
    const after = ENDS[Number(end)]?.after ?? null;
    const until = after === null ? null : Date.now() + after;
    if (await perform(({ ban }) => ban({ accountId, kind, channelId: sdk.event.channelId, until, reason }))) onClose();
  }

  return (
    <form className="tifo-chat-form" onSubmit={(event) => void submit(event)}>
      <fieldset>
        <legend className="tifo-only-read">Kind</legend>
        <label>
          <input type="radio" name="kind" checked={kind === "mute"} onChange={() => setKind("mute")} />
          <span>
            <b>Mute</b> Only {message.name} and moderators see the messages.
          </span>
        </label>
        <label>
          <input type="radio" name="kind" checked={kind === "ban"} onChange={() => setKind("ban")} />
          <span>
            <b>Ban</b> {message.name} can read, but not send.
          </span>
        </label>
      </fieldset>
      <label>
        For
        <select value={end} onChange={(event) => setEnd(event.target.value)}>
          {ENDS.map(({ label }, index) => (
            <option key={label} value={index}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <label>
        Reason
        <input value={reason} maxLength={500} onChange={(event) => setReason(event.target.value)} />
      </label>
      <button type="submit" className="tifo-button">
        {kind === "ban" ? "Ban" : "Mute"} {message.name}
      </button>
    </form>
  );
}

function ReportForm({ message, onClose }: { message: ChatMessage; onClose: () => void }) {
  const { perform } = useChatContext();
  const [reason, setReason] = useState("");

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (await perform(({ report }) => report(message._id, reason.trim()))) onClose();
  }

  return (
    <form className="tifo-chat-form" onSubmit={(event) => void submit(event)}>
      <label>
        What is wrong with it?
        <input value={reason} required maxLength={500} onChange={(event) => setReason(event.target.value)} />
      </label>
      <button type="submit" className="tifo-button" disabled={reason.trim() === ""}>
        Report
      </button>
    </form>
  );
}
