import { z } from "@hono/zod-openapi";
import { Broadcast, ClearTarget } from "../durable-objects/channel.protocol.ts";
import type { LogEntry } from "../durable-objects/site-log.protocol.ts";
import { sendBroadcast, sendClear } from "./broadcasts.ts";
import { forgetFile } from "./media.ts";
import { mailReset } from "./passwords.ts";
import { channelOf } from "./realtime.ts";
import { mailRegisterInvite } from "./register-invites.ts";

const BroadcastEvent = z.object({ channelIds: z.array(z.string()).nullable(), broadcast: Broadcast });
const Data = z.record(z.string(), z.unknown());
const ClearEvent = z.object({ clearId: z.string(), channelIds: z.array(z.string()).nullable(), target: ClearTarget });

/**
 * What follows from an event, by its type. Each effect is safe to repeat: the log runs it until it has succeeded once.
 * Requests send broadcasts themselves, so that no screen waits for the log; here they are only made sure of.
 */
const EFFECTS: Record<string, (env: Env, siteId: string, event: LogEntry) => Promise<unknown>> = {
  "overlay.broadcast": (env, siteId, event) => sendBroadcast(env, siteId, BroadcastEvent.parse(JSON.parse(event.data))),
  "overlay.cleared": (env, siteId, event) => sendClear(env, siteId, ClearEvent.parse(JSON.parse(event.data))),
  "account.deleted": (env, siteId, event) => env.SITE_LOG.getByName(siteId).erase(event.resource, event.sequence),
  "account.passwordResetRequested": mailReset,
  "admin.channelUpdated": (env, siteId, event) => tellChannel(env, siteId, event),
  "admin.channelDeleted": (env, siteId, event) => channelOf(env, siteId, idOf(event)).end({ id: event.id }),
  "invite.registerCreated": mailRegisterInvite,
  "media.deleted": (env, _siteId, event) => forgetFile(env, idOf(event)),
};

export async function runEffects(env: Env, siteId: string, event: LogEntry): Promise<void> {
  await EFFECTS[event.type]?.(env, siteId, event);
}

function tellChannel(env: Env, siteId: string, event: LogEntry) {
  return channelOf(env, siteId, idOf(event)).emit({ id: event.id, type: "page.updated", data: Data.parse(JSON.parse(event.data)) });
}

/** The id in "<area>/<id>". */
function idOf(event: LogEntry): string {
  return event.resource.slice(event.resource.indexOf("/") + 1);
}
