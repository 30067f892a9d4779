import { z } from "@hono/zod-openapi";
import { channelOf } from "#worker/durable-objects/stubs.ts";
import type { LogEntry } from "#worker/durable-objects/site-log/site-log.protocol.ts";
import { type Effects, idOf } from "#worker/services/event-catalogue/effect.ts";

const Data = z.record(z.string(), z.unknown());

export const effects: Effects = {
  "admin.channelUpdated": notifyChannel,
  "admin.channelDeleted": (env, siteId, event) => channelOf(env, siteId, idOf(event)).end({ id: event.id }),
};

/** Notifies a channel's viewers of a change of its page. */
async function notifyChannel(env: Env, siteId: string, event: LogEntry): Promise<void> {
  await channelOf(env, siteId, idOf(event)).emit({ id: event.id, type: "page.updated", data: Data.parse(JSON.parse(event.data)) });
}
