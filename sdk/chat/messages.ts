import type { MessageItem, SkippedItem } from "./state.ts";
import type { ChatMessage } from "./wire.ts";

export type RoomItem = MessageItem | SkippedItem;

/** Inserts messages, or replaces the known ones. Those without a `chatSeq` keep their place behind the message before them, or behind `from`. */
export function withMessages(items: readonly RoomItem[], messages: readonly ChatMessage[], from: number): readonly RoomItem[] {
  if (messages.length === 0) return items;
  const known = new Map(items.flatMap((item) => (item.kind === "message" ? [[item.key, item] as const] : [])));
  const added: MessageItem[] = [];
  const changed = new Map<string, MessageItem | null>();
  let at = from;
  for (const message of messages) {
    const before = known.get(message._id);
    at = message.chatSeq ?? at;
    const place = message.chatSeq ?? before?.at ?? at;
    const next = isGone(message) ? null : { kind: "message" as const, key: message._id, at: place, message: keepReaction(message, before) };
    if (before || changed.has(message._id)) changed.set(message._id, next);
    else if (next) {
      added.push(next);
      changed.set(message._id, next);
    }
  }
  const kept = [...items, ...added].flatMap((item) => {
    if (item.kind === "skipped" || !changed.has(item.key)) return [item];
    return changed.get(item.key) ?? [];
  });
  return kept.sort((one, other) => one.at - other.at || rankOf(one) - rankOf(other));
}

/** Replaces the messages that are known. */
export function withUpdates(items: readonly RoomItem[], updates: readonly ChatMessage[]): readonly RoomItem[] {
  const known = new Set(items.map(({ key }) => key));
  const relevant = updates.filter(({ _id }) => known.has(_id));
  return withMessages(items, relevant, 0);
}

/** Replaces one known message. */
export function withMessage(
  items: readonly RoomItem[],
  messageId: string,
  change: (message: ChatMessage) => ChatMessage,
): readonly RoomItem[] {
  return items.map((item) => (item.kind === "message" && item.key === messageId ? { ...item, message: change(item.message) } : item));
}

/** Inserts a line for messages that were left out up to a position. */
export function withSkipped(items: readonly RoomItem[], at: number, count: number): readonly RoomItem[] {
  return count > 0 ? [...items, { kind: "skipped", key: `skipped ${at}`, at, count }] : items;
}

/** How many of the messages follow a position; each counts once. */
export function countAfter(messages: readonly ChatMessage[], position: number, upTo: number): number {
  return new Set(messages.flatMap(({ chatSeq }) => (chatSeq !== null && chatSeq > position && chatSeq <= upTo ? chatSeq : []))).size;
}

/** The `chatSeq` of the first message that has one. */
export function firstSeq(items: readonly RoomItem[]): number | null {
  for (const item of items) if (item.kind === "message" && item.message.chatSeq !== null) return item.message.chatSeq;
  return null;
}

/** The viewer's reaction to a message, counted right away. */
export function withReaction(message: ChatMessage, emoji: string | null): ChatMessage {
  const before = message.reacted ?? null;
  if (before === emoji) return message;
  const reactions = { ...message.reactions };
  if (before !== null) reactions[before] = (reactions[before] ?? 1) - 1;
  if (before !== null && reactions[before] === 0) delete reactions[before];
  if (emoji !== null) reactions[emoji] = (reactions[emoji] ?? 0) + 1;
  return { ...message, reactions, reacted: emoji };
}

/** Removed, for viewers; moderators still receive the text. */
function isGone({ state, text }: ChatMessage): boolean {
  return state === "removed" && text === null;
}

/** Updates for everybody don't contain the viewer's own reaction. */
function keepReaction(message: ChatMessage, before: MessageItem | undefined): ChatMessage {
  if (message.reacted !== undefined || before?.message.reacted === undefined) return message;
  return { ...message, reacted: before.message.reacted };
}

/** The order of items at the same position. */
function rankOf(item: RoomItem): number {
  if (item.kind === "skipped") return 2;
  return item.message.chatSeq === null ? 1 : 0;
}
