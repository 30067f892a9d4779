import { channelOf, questionBoardOf } from "#worker/durable-objects/stubs.ts";
import { dataOf, type Effects, idOf, type LoggedEvent } from "#worker/services/event-catalogue/effect.ts";

export const effects: Effects = {
  "admin.channelUpdated": notifyChannel,
  "admin.channelDeleted": endChannel,
};

/** Notifies a channel's viewers of a change of its page. */
async function notifyChannel(env: Env, siteId: string, event: LoggedEvent<"admin.channelUpdated">): Promise<void> {
  await channelOf(env, siteId, idOf(event)).emit({ id: event.id, type: "page.updated", data: dataOf(event) });
}

/** Closes a deleted channel. */
async function endChannel(env: Env, siteId: string, event: LoggedEvent<"admin.channelDeleted">): Promise<void> {
  await channelOf(env, siteId, idOf(event)).end({ id: event.id });
  await questionBoardOf(env, siteId, idOf(event)).clear();
}
