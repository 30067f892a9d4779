import type { MessagePage, RoomMessage, SendOutcome } from "#worker/durable-objects/chat-room/chat-room.protocol.ts";
import { conflict, forbidden, notFound } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { type Actor, callerAccount, commit, type Ctx, type NewEvent } from "#worker/services/core/context.ts";
import { mayModerate, requireChatModerator } from "#worker/services/core/moderators.ts";
import { requireChannelAccess } from "#worker/services/realtime/channel-access.ts";
import type { MessageReader } from "./message-view.ts";
import { accepted, fromRoom, ownRoom } from "./rooms.ts";
import type { ChatReport, DecisionInput } from "./schemas.ts";

const NO_MESSAGE = "The room has no such message";

/** Whether the caller reads what moderators see. */
export function readsAsModerator(actor: Actor, channelId: string): boolean {
  return mayModerate(actor, "Chat_Moderator", channelId, "read");
}

/** Throws unless the caller may read the channel's chat: the page's gate applies. */
export function requireReader(ctx: Ctx, channelId: string): Promise<Actor> {
  return requireChannelAccess(ctx, channelId, (actor) => readsAsModerator(actor, channelId));
}

export async function listMessages(
  ctx: Ctx,
  channelId: string,
  { limit, before }: { limit: number; before?: number | undefined },
): Promise<MessagePage & Pick<MessageReader, "moderator">> {
  const actor = await requireReader(ctx, channelId);
  const reader = { accountId: actor.kind === "account" ? actor.id : null, moderator: readsAsModerator(actor, channelId) };
  const page = await fromRoom(ownRoom(ctx, channelId).messages(reader, limit, before));
  if (!page) throw notFound("Channel not found");
  return { ...page, moderator: reader.moderator };
}

interface NewMessage {
  id?: string | undefined;
  text: string;
  replyTo?: string | null | undefined;
  system: boolean;
  language: string | null;
}

/** Sends a message as the calling account or, with `system` or a developer key, as the site itself. */
export async function sendMessage(
  ctx: Ctx,
  channelId: string,
  { id, text, replyTo = null, system, language }: NewMessage,
): Promise<RoomMessage> {
  const actor = await requireReader(ctx, channelId);
  const room = ownRoom(ctx, channelId);
  const accountId = actor.kind === "account" ? actor.id : null;
  // With an id of its own or an Idempotency-Key, a request whose response was lost can be retried.
  const request = { requestId: id ?? ctx.idempotencyId ?? newId(ctx.now), text, replyTo, language };
  const { messageId } = accepted(
    await (system || accountId === null ? announce() : fromRoom(room.send({ ...request, accountId, fresh: true }))),
  );
  return findMessage(ctx, channelId, messageId);

  async function announce(): Promise<SendOutcome> {
    await requireChatModerator(ctx, channelId);
    return fromRoom(room.announce({ ...request, accountId }));
  }
}

/** Removes a message: its author or a moderator may. Repeating it changes nothing. */
export async function removeMessage(ctx: Ctx, channelId: string, id: string): Promise<void> {
  const message = await findMessage(ctx, channelId, id);
  const actor = await ctx.caller();
  const moderates = mayModerate(actor, "Chat_Moderator", channelId, "write");
  const isAuthor = actor.kind === "account" && actor.id === message.accountId;
  if (!moderates && !isAuthor)
    throw message.chatSeq === null ? notFound(NO_MESSAGE) : forbidden("Only the author and moderators may remove it");
  if (message.state !== "removed") await remove(ctx, channelId, message);
}

/** A moderator's decision on a held or reported message; it settles the reports. */
export async function decideMessage(ctx: Ctx, channelId: string, id: string, { decision }: DecisionInput): Promise<RoomMessage> {
  await requireChatModerator(ctx, channelId);
  const message = await findMessage(ctx, channelId, id);
  if (decision === "reject") {
    if (message.state !== "removed") await remove(ctx, channelId, message);
  } else {
    if (message.state === "removed") throw conflict("The message was removed");
    const event: NewEvent = { type: "chat.messageApproved", resource: `chat/${id}`, data: toEvent(channelId, message) };
    const eventIds = await commit(ctx, [], event);
    accepted(await fromRoom(ownRoom(ctx, channelId).approve(id)));
    ctx.emitted.completedEventIds.push(...eventIds);
  }
  return findMessage(ctx, channelId, id);
}

/** Reports a message, once per account; `isNew`: whether this is the account's first report of it. */
export async function reportMessage(
  ctx: Ctx,
  channelId: string,
  id: string,
  reason: string,
): Promise<{ report: ChatReport; isNew: boolean }> {
  await requireReader(ctx, channelId);
  const { id: accountId } = await callerAccount(ctx);
  const room = ownRoom(ctx, channelId);
  const { report, isNew, announce } = accepted(await fromRoom(room.report(id, accountId, reason)));
  if (announce) {
    const message = await findMessage(ctx, channelId, id);
    await commit(ctx, [], { type: "chat.reported", resource: `chat/${id}`, data: toEvent(channelId, message) });
    await fromRoom(room.confirmReport(id));
  }
  return { report, isNew };
}

/** Sets or withdraws the calling account's reaction. */
export async function reactToMessage(ctx: Ctx, channelId: string, id: string, emoji: string | null): Promise<RoomMessage> {
  await requireReader(ctx, channelId);
  const { id: accountId } = await callerAccount(ctx);
  accepted(await fromRoom(ownRoom(ctx, channelId).react({ accountId, messageId: id, emoji })));
  return findMessage(ctx, channelId, id);
}

async function remove(ctx: Ctx, channelId: string, message: RoomMessage): Promise<void> {
  const event: NewEvent = { type: "chat.messageRemoved", resource: `chat/${message.id}`, data: toEvent(channelId, message) };
  const eventIds = await commit(ctx, [], event);
  await fromRoom(ownRoom(ctx, channelId).remove(message.id));
  ctx.emitted.completedEventIds.push(...eventIds);
}

/** The ids alone: the log keeps an event longer than the room may keep the text. */
function toEvent(channelId: string, { id, accountId }: RoomMessage): { _id: string; channelId: string; accountId: string | null } {
  return { _id: id, channelId, accountId };
}

async function findMessage(ctx: Ctx, channelId: string, id: string): Promise<RoomMessage> {
  await requireChannelAccess(ctx, channelId, () => true);
  const message = await fromRoom(ownRoom(ctx, channelId).message(id));
  if (!message) throw notFound(NO_MESSAGE);
  return message;
}
