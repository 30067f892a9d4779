import type { z } from "@hono/zod-openapi";
import type { PendingMessage, Person, RoomMessage, RoomSettings } from "#worker/durable-objects/chat-room/chat-room.protocol.ts";
import type { ChatViewerSettings } from "#worker/durable-objects/relay/chat.protocol.ts";
import { inForce } from "./admission.ts";
import type { ChatMessage, ChatSettings, QueueEntry } from "./schemas.ts";

/** Who sees a message. */
export interface MessageReader {
  moderator: boolean;
  /** A language tag, or null for the original language. */
  language: string | null;
}

/** A message as a viewer may see it. `reacted` is the viewer's own reaction; undefined leaves it out. */
export function toChatMessage(message: RoomMessage, { moderator, language }: MessageReader, reacted?: string | null): ChatMessage {
  const isGone = (message.state === "removed" && !moderator) || message.text === "";
  const target = isGone ? undefined : languageOf(Object.keys(message.translations), language);
  return {
    _id: message.id,
    chatSeq: message.chatSeq,
    // Which moderator writes for the site is only in the export.
    accountId: message.system ? null : message.accountId,
    name: message.name,
    roles: message.roles,
    system: message.system,
    text: isGone ? null : message.text,
    ...(moderator && !isGone ? { original: message.original } : {}),
    language: message.language,
    translation: target === undefined ? null : { language: target, text: message.translations[target] ?? "" },
    replyTo: message.replyTo,
    mentions: message.mentions,
    reactions: message.reactions,
    ...(reacted === undefined ? {} : { reacted }),
    state: message.state,
    ...(moderator && message.muted ? { muted: true } : {}),
    sentAt: message.sentAt,
  } satisfies ChatMessage;
}

/** A message in the moderators' queue. */
export function toQueueEntry({ message, reports, channelId }: PendingMessage & { channelId: string }) {
  const shown = toChatMessage(message, { moderator: true, language: null });
  return { ...shown, channelId, category: message.category, reports } satisfies z.output<typeof QueueEntry>;
}

/** The room's settings as a viewer sees them. */
export function toChatSettings({ pinned, version: _, ...settings }: RoomSettings, reader: MessageReader): ChatSettings {
  return { ...settings, pinned: pinned && toChatMessage(pinned, reader) } satisfies ChatSettings;
}

export function toViewerSettings(settings: RoomSettings, reader: MessageReader, banned: Person["banned"], now: number): ChatViewerSettings {
  const ban = banned && inForce(banned, now) ? { until: banned.until, reason: banned.reason } : null;
  return { ...toChatSettings(settings, reader), moderator: reader.moderator, banned: ban };
}

/** The offered language that fits a viewer's: the same tag, or the same language of another region. */
export function languageOf(offered: readonly string[], language: string | null): string | undefined {
  if (language === null) return undefined;
  const base = (tag: string) => tag.split("-")[0]?.toLowerCase();
  return offered.find((tag) => tag.toLowerCase() === language.toLowerCase()) ?? offered.find((tag) => base(tag) === base(language));
}
