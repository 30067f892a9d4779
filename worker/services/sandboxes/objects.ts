import type { SandboxRow } from "#db/schema/sandboxes.ts";
import { channelName } from "#worker/durable-objects/channel/channel.protocol.ts";
import { INSIGHT_COUNTERS } from "#worker/durable-objects/insight-counter/insight-counter.protocol.ts";
import { counterName, POLL_COUNTERS } from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { siteLogOf } from "#worker/durable-objects/stubs.ts";
import { unshardedLimiters } from "#worker/lib/limits.ts";

export type ObjectName = SandboxRow["objects"][number];

/** What every object of a site can do. */
interface SiteObjectStub {
  destroy(): Promise<void>;
  storedBytes(): Promise<number>;
}

/** Objects that exist once per site; its log last, because the others may still wake it. */
const PER_SITE = ["SITE_PRESENCE", "AUTOMATION", "SCHEDULER", "CUE_POLLER", "SITE_LOG"] as const;
const PER_CHANNEL = ["CHANNEL", "CHAT_ROOM", "QUESTION_BOARD", "STAT_BOARD"] as const;

/** Every object that a site may have, by what its events have been about: those of deleted channels and polls too. */
export async function objectsOfSite(env: Env, siteId: string): Promise<ObjectName[]> {
  const resources = await siteLogOf(env, siteId).resources();
  return [
    ...resources.flatMap((resource) => objectsOf(siteId, resource)),
    ...Array.from({ length: INSIGHT_COUNTERS }, (_, counter): ObjectName => ["INSIGHT_COUNTER", `${siteId}:${counter}`]),
    ...unshardedLimiters(siteId).map((name): ObjectName => ["LIMITER", name]),
    ...PER_SITE.map((binding): ObjectName => [binding, siteId]),
  ];
}

function objectsOf(siteId: string, resource: string): ObjectName[] {
  const [kind, id = ""] = resource.split("/");
  switch (kind) {
    case "page":
      return PER_CHANNEL.map((binding) => [binding, channelName(siteId, id)]);
    case "poll":
      return Array.from({ length: POLL_COUNTERS }, (_, counter) => ["POLL_COUNTER", counterName(siteId, id, counter)]);
    case "leaderboard":
      return [["LEADERBOARD", `${siteId}:${id}`]];
    case "webhook":
      return [["WEBHOOK_ENDPOINT", `${siteId}:${id}`]];
    case "video":
      return [["VIEW_COUNTER", id]];
    default:
      return [];
  }
}

/** Deletes what an object stores. */
export async function destroyObject(env: Env, object: ObjectName): Promise<void> {
  await siteObjectOf(env, object)?.destroy();
}

/** An object by its binding and name. A binding that no longer exists has none. */
export function siteObjectOf(env: Env, [binding, name]: ObjectName): SiteObjectStub | undefined {
  const namespaces: Partial<Record<string, { getByName(name: string): SiteObjectStub }>> = {
    SITE_PRESENCE: env.SITE_PRESENCE,
    AUTOMATION: env.AUTOMATION,
    SCHEDULER: env.SCHEDULER,
    CUE_POLLER: env.CUE_POLLER,
    SITE_LOG: env.SITE_LOG,
    CHANNEL: env.CHANNEL,
    CHAT_ROOM: env.CHAT_ROOM,
    QUESTION_BOARD: env.QUESTION_BOARD,
    STAT_BOARD: env.STAT_BOARD,
    POLL_COUNTER: env.POLL_COUNTER,
    LEADERBOARD: env.LEADERBOARD,
    WEBHOOK_ENDPOINT: env.WEBHOOK_ENDPOINT,
    VIEW_COUNTER: env.VIEW_COUNTER,
    INSIGHT_COUNTER: env.INSIGHT_COUNTER,
    LIMITER: env.LIMITER,
  };
  return namespaces[binding]?.getByName(name);
}
