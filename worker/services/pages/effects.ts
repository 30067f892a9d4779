import { z } from "@hono/zod-openapi";
import { channelOf, chatRoomOf, questionBoardOf, statBoardOf } from "#worker/durable-objects/stubs.ts";
import { refreshRooms } from "#worker/services/chat/rooms.ts";
import { type Effects, idOf, type LoggedEvent } from "#worker/services/event-catalogue/effect.ts";

// Viewers receive the page as the event has it, even if an earlier release wrote the event.
const Data = z.record(z.string(), z.unknown());

export const effects: Effects = {
  "admin.channelUpdated": notifyChannel,
  "admin.channelDeleted": endChannel,
};

/** Notifies a channel's viewers of a change of its page. */
async function notifyChannel(env: Env, siteId: string, event: LoggedEvent<"admin.channelUpdated">): Promise<void> {
  await channelOf(env, siteId, idOf(event)).emit({ id: event.id, type: "page.updated", data: Data.parse(JSON.parse(event.data)) });
  // Its panels may have changed, and with them the filtered words.
  await refreshRooms(env, siteId, idOf(event));
}

/** Closes a deleted channel. */
async function endChannel(env: Env, siteId: string, event: LoggedEvent<"admin.channelDeleted">): Promise<void> {
  await channelOf(env, siteId, idOf(event)).end({ id: event.id });
  await questionBoardOf(env, siteId, idOf(event)).clear();
  await statBoardOf(env, siteId, idOf(event)).clear();
  await chatRoomOf(env, siteId, idOf(event)).end();
}
