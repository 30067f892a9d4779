import { and, eq } from "drizzle-orm";
import { siteDb } from "#db/databases.ts";
import { chatRooms } from "#db/schema/engagement/chat.ts";
import { chatRoomOf, orUnavailable } from "#worker/durable-objects/stubs.ts";
import type { ChatError, RoomTask } from "#worker/durable-objects/chat-room/chat-room.protocol.ts";
import { Failure } from "#worker/lib/errors.ts";
import { inGroups } from "#worker/lib/in-groups.ts";
import type { Ctx } from "#worker/services/core/context.ts";

// How services reach a site's chat rooms.

const DELAYED = "The chat did not respond; send the request again";
/** Rooms per group: the first of them calls the others. */
const GROUP = 50;
/** Groups that are called at the same time. */
const AT_ONCE = 20;

/** The channel's room, for a request. */
export function ownRoom(ctx: Ctx, channelId: string) {
  return chatRoomOf(ctx.env, ctx.siteId, channelId);
}

/** The result of a call to a room; a 503 if it fails or takes too long. */
export function fromRoom<Call extends Promise<unknown>>(call: Call): Promise<Awaited<Call>> {
  return orUnavailable(resultOf(call), DELAYED);
}

/** A call to an object that returns one of several types is one of several promises. */
async function resultOf<Call extends Promise<unknown>>(call: Call): Promise<Awaited<Call>> {
  return await call;
}

type Result = { ok: true } | ChatError;

/** Throws a room's rejection as the API's error. */
export function accepted<R extends Result>(result: R): Exclude<R, ChatError> {
  if (!isAccepted(result)) throw failureOf(result);
  return result;
}

function isAccepted<R extends Result>(result: R): result is Exclude<R, ChatError> {
  return result.ok;
}

function failureOf(result: Result): Failure {
  if (result.ok) return new Failure("internal");
  const { code, message, path, retryAfter } = result;
  return new Failure(code, message, {
    ...(path === undefined ? {} : { issues: [{ path, message }] }),
    ...(retryAfter === undefined ? {} : { headers: { "Retry-After": String(retryAfter) } }),
  });
}

/** The channels in whose rooms an account has written, reacted or reported. */
export function roomsUsedBy(ctx: Ctx, accountId: string): Promise<string[]> {
  return fromRoom(onRooms(ctx.env, ctx.siteId, null, { kind: "find", accountId }));
}

/** Makes rooms read their settings, bans and panels again: one that has been used, or with null all of the site. Safe to repeat. */
export async function refreshRooms(env: Env, siteId: string, channelId: string | null): Promise<void> {
  await onRooms(env, siteId, channelId, { kind: "refresh" });
}

/** Erases a deleted account from all rooms of the site. Safe to repeat. */
export async function eraseFromRooms(env: Env, siteId: string, accountId: string): Promise<void> {
  await onRooms(env, siteId, null, { kind: "erase", accountId });
}

/**
 * Runs a task in the rooms that have been used, or one of them; returns the channels for which it returns true. Each call serves a group of
 * rooms, because a request may make only so many calls.
 */
async function onRooms(env: Env, siteId: string, channelId: string | null, task: RoomTask): Promise<string[]> {
  const rows = await siteDb(env, siteId)
    .select({ id: chatRooms.id })
    .from(chatRooms)
    .where(and(eq(chatRooms.siteId, siteId), channelId === null ? undefined : eq(chatRooms.id, channelId)));
  const groups = inGroups(
    rows.map(({ id }) => id),
    GROUP,
  );
  const found: string[] = [];
  for (const some of inGroups(groups, AT_ONCE))
    found.push(...(await Promise.all(some.map((ids) => chatRoomOf(env, siteId, ids[0] ?? "").runInRooms(ids, task)))).flat());
  return found;
}
