import { memo, type ReactNode, useState } from "react";
import type { ChatMessage } from "../../chat/wire.ts";
import { parsedUrl } from "../../core/web-address.ts";
import { useChatContext, useChatState } from "./context.tsx";
import { Icon } from "./icons.tsx";
import { useTexts } from "../context.tsx";
import { key } from "../../i18n/key.ts";

interface Props {
  message: ChatMessage;
  onReply: (messageId: string) => void;
  onMore: (messageId: string) => void;
}

const ROLES: Record<ChatMessage["roles"][number], string> = { admin: key("Team"), moderator: key("Mod") };
const QUICK_REACTIONS = 2;

/** A message of an account. */
export const Message = memo(function Message({ message, onReply, onMore }: Props) {
  const { t, locale } = useTexts();
  const accountId = useChatState((state) => state.accountId);
  const isModerator = useChatState(({ settings }) => settings?.moderator === true);
  const isOwn = accountId !== null && message.accountId === accountId;
  const mentionsMe = accountId !== null && message.mentions.includes(accountId);
  const { _id: id, name, roles, replyTo, state, sentAt } = message;
  return (
    <article
      className="tifo-chat-message"
      data-own={isOwn}
      data-mention={mentionsMe}
      data-state={state}
      data-muted={message.muted}
      aria-label={`${name}, ${timeOf(sentAt, locale)}`}
    >
      {replyTo !== null && <Quote messageId={replyTo} />}
      <p dir="auto" className="tifo-chat-text">
        {roles.map((role) => (
          <bdi key={role} className="tifo-chat-badge" data-role={role}>
            {t(ROLES[role])}
          </bdi>
        ))}
        <bdi className="tifo-chat-name" style={{ "--tifo-hue": hueOf(message.accountId ?? name) }}>
          {name}
        </bdi>
        {": "}
        <MessageText message={message} />{" "}
        <time className="tifo-chat-time" dateTime={new Date(sentAt).toISOString()}>
          {timeOf(sentAt, locale)}
        </time>
      </p>
      <StateNote message={message} isModerator={isModerator} />
      {state === "held" && isModerator && <Decision messageId={id} />}
      <Reactions message={message} signedIn={accountId !== null} />
      <div className="tifo-chat-actions">
        {accountId !== null && state === "visible" && <QuickReactions message={message} />}
        {accountId !== null && (
          <button type="button" className="tifo-chat-icon" aria-label={t("Reply to {name}", { name })} onClick={() => onReply(id)}>
            <Icon name="reply" />
          </button>
        )}
        {accountId !== null && (
          <button
            type="button"
            className="tifo-chat-icon"
            aria-label={t("Actions for the message of {name}", { name })}
            onClick={() => onMore(id)}
          >
            <Icon name="more" />
          </button>
        )}
      </div>
    </article>
  );
});

/** The text with its mentions highlighted. A translation comes with a button that shows the original. */
function MessageText({ message: { text, translation, mentions, state } }: { message: ChatMessage }) {
  const { t } = useTexts();
  const [showsOriginal, setShowsOriginal] = useState(false);
  if (text === null) return <em>{t("Message removed")}</em>;
  const shown = translation && !showsOriginal ? translation.text : text;
  return (
    <>
      <span className="tifo-chat-body" data-state={state}>
        {mentions.length === 0 ? shown : withMentions(shown)}
      </span>
      {translation && " "}
      {translation && (
        <button type="button" className="tifo-chat-textbutton" onClick={() => setShowsOriginal(!showsOriginal)}>
          {showsOriginal ? t("Show translation") : t("Translated · Show original")}
        </button>
      )}
    </>
  );
}

function withMentions(text: string): ReactNode[] {
  return text.split(/(@[^\s@,.!?:;]+)/).map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part));
}

/** The beginning of the message that this one replies to. */
function Quote({ messageId }: { messageId: string }) {
  const { t } = useTexts();
  const quoted = useChatState(({ items }) => {
    const item = items.find(({ key }) => key === messageId);
    return item?.kind === "message" ? item.message : null;
  });
  return (
    <p className="tifo-chat-quote" dir="auto">
      <Icon name="reply" />
      {quoted?.text ? (
        <span>
          <bdi>{quoted.name}</bdi>: {quoted.text}
        </span>
      ) : (
        <span>{t("Reply to an earlier message")}</span>
      )}
    </p>
  );
}

function StateNote({ message: { state, muted, original, text }, isModerator }: { message: ChatMessage; isModerator: boolean }) {
  const { t } = useTexts();
  const notes = [
    state === "held" && (isModerator ? t("Waiting for your decision") : t("Waiting for a moderator. Only you can see it.")),
    state === "removed" && t("Removed"),
    muted === true && t("Muted: only moderators and the sender see this"),
    isModerator && original !== undefined && original !== text && t("Original: {text}", { text: original }),
  ].filter((note) => typeof note === "string");
  return notes.map((note) => (
    <p key={note} className="tifo-chat-note" dir="auto">
      {note}
    </p>
  ));
}

function Decision({ messageId }: { messageId: string }) {
  const { t } = useTexts();
  const { perform } = useChatContext();
  return (
    <p className="tifo-chat-decision">
      <button type="button" className="tifo-button" onClick={() => void perform(({ decide }) => decide(messageId, "approve"))}>
        {t("Approve")}
      </button>
      <button
        type="button"
        className="tifo-button tifo-chat-quiet"
        onClick={() => void perform(({ decide }) => decide(messageId, "reject"))}
      >
        {t("Reject")}
      </button>
    </p>
  );
}

/** The counts of each emoji; pressing one sets or withdraws the viewer's own. */
function Reactions({ message: { _id, reactions, reacted }, signedIn }: { message: ChatMessage; signedIn: boolean }) {
  const { locale } = useTexts();
  const { chat } = useChatContext();
  const counts = Object.entries(reactions).filter(([, count]) => count > 0);
  if (counts.length === 0) return null;
  return (
    <p className="tifo-chat-reactions">
      {counts.map(([emoji, count]) => (
        <button
          key={emoji}
          type="button"
          className="tifo-chip"
          aria-pressed={reacted === emoji}
          aria-disabled={!signedIn}
          aria-label={`${emoji} ${count}`}
          onClick={() => signedIn && chat.react(_id, reacted === emoji ? null : emoji)}
        >
          {emoji} <span>{count.toLocaleString(locale)}</span>
        </button>
      ))}
    </p>
  );
}

function QuickReactions({ message: { _id, reacted } }: { message: ChatMessage }) {
  const { t } = useTexts();
  const { chat } = useChatContext();
  const emoji = useChatState(({ settings }) => settings?.emoji ?? NO_EMOJI);
  return emoji.slice(0, QUICK_REACTIONS).map((one) => (
    <button
      key={one}
      type="button"
      className="tifo-chat-icon"
      aria-label={t("React with {emoji}", { emoji: one })}
      onClick={() => chat.react(_id, reacted === one ? null : one)}
    >
      {one}
    </button>
  ));
}

const NO_EMOJI: readonly string[] = [];

/** The site's own message, with the sender of the chat panel. */
export function SystemMessage({ text }: { text: string }) {
  const { sdk } = useChatContext();
  const system = useChatState(({ settings }) => settings?.system ?? null);
  const image = system?.image ? parsedUrl(system.image, sdk.session.origin) : undefined;
  return (
    <div className="tifo-chat-system">
      {image && <img src={image.href} alt="" loading="lazy" />}
      <div>
        {system?.name && <strong dir="auto">{system.name}</strong>}
        <p dir="auto">{text}</p>
      </div>
    </div>
  );
}

const TIMES = new Map<string, Intl.DateTimeFormat>();

/** Creating a format takes longer than using one, and every message has a time. */
function timeOf(sentAt: number, locale: string): string {
  const format = TIMES.get(locale) ?? new Intl.DateTimeFormat(locale, { timeStyle: "short" });
  TIMES.set(locale, format);
  return format.format(sentAt);
}

/** A colour of its own for each sender. */
function hueOf(id: string): number {
  let hash = 0;
  for (const character of id) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 360;
  return (hash * 137) % 360;
}
