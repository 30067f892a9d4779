import { channelName } from "#worker/durable-objects/channel/channel.protocol.ts";
import { DIRECT_RELAYS } from "#worker/durable-objects/branch/branch.protocol.ts";
import { channelOf } from "#worker/durable-objects/stubs.ts";
import { SHARED_WAIT_MS, SharedCache } from "#worker/lib/shared-cache.ts";

/**
 * How long an isolate uses a channel's number of relays, for all tickets and connections. An old number costs only spread: a full relay
 * makes the Worker ask for more, and a retired one opens again.
 */
export const RELAY_COUNT_MS = 5_000;
const MAX_CHANNELS = 1_000;

const options = { max: MAX_CHANNELS, waitMs: SHARED_WAIT_MS, failedMs: 0 };
const counts = new SharedCache<number>(options);
/** Calls that ask for relays, by channel and the number that the viewer found full. */
const growths = new SharedCache<number>(options);

/** The number of relays that a channel's new viewers are distributed over. The channel must exist, because asking an object creates it. */
export function relayCount(env: Env, siteId: string, channelId: string): Promise<number> {
  const load = async () => ({ value: await channelOf(env, siteId, channelId).relays(), freshMs: RELAY_COUNT_MS });
  return counts.get(channelName(siteId, channelId), load);
}

/**
 * The number of relays for a viewer who found `seen` of them full. Only one such viewer of the isolate asks the channel for more; the others
 * share the call, or use what it returned.
 */
export async function addRelays(env: Env, siteId: string, channelId: string, seen: number): Promise<number> {
  const known = await relayCount(env, siteId, channelId);
  if (known > seen) return known;
  const name = channelName(siteId, channelId);
  const grow = async () => ({ value: await channelOf(env, siteId, channelId).grow(seen), freshMs: 0 });
  const relays = await growths.get(`${name} ${seen}`, grow);
  counts.put(name, { value: relays, freshMs: RELAY_COUNT_MS });
  return relays;
}

/** A random one of the relays that were added last: viewers who found no room must not all meet in one relay. */
export function newestRelay(relays: number): number {
  const added = Math.ceil(relays / (DIRECT_RELAYS + 1));
  return relays - 1 - Math.floor(Math.random() * added);
}
