import { Failure } from "#worker/lib/errors.ts";
import { limiterName, type Slot } from "#worker/lib/limits.ts";
import { withTimeout } from "#worker/lib/time/with-timeout.ts";
import { branchName } from "./branch/branch.protocol.ts";
import { channelName, relayName } from "./channel/channel.protocol.ts";
import { insightCounterName } from "./insight-counter/insight-counter.protocol.ts";
import { counterName, POLL_COUNTERS } from "./poll-counter/poll-counter.protocol.ts";

// The Durable Objects as services call them. Which object holds what is decided here alone.

/** A client has usually given up by then; without it, a request would hang as long as the object does. */
const CALL_TIMEOUT_MS = 30_000;

/** The object that logs a channel's frames and pushes them to its relays. */
export function channelOf(env: Env, siteId: string, channelId: string) {
  return env.CHANNEL.getByName(channelName(siteId, channelId));
}

/** An object that holds sockets of a channel's viewers. */
export function relayOf(env: Env, siteId: string, channelId: string, relay: number) {
  return env.RELAY.getByName(relayName(channelName(siteId, channelId), relay));
}

/** The object that calls some of a large channel's relays. */
export function branchStubOf(env: Env, siteId: string, channelId: string, branch: number) {
  return env.BRANCH.getByName(branchName(channelName(siteId, channelId), branch));
}

/** The object that keeps a channel's chat. */
export function chatRoomOf(env: Env, siteId: string, channelId: string) {
  return env.CHAT_ROOM.getByName(channelName(siteId, channelId));
}

/** The object that counts a site's viewers and broadcasts to all its channels. */
export function presenceOf(env: Env, siteId: string) {
  return env.SITE_PRESENCE.getByName(siteId);
}

/** The object that numbers a site's events and runs their effects. */
export function siteLogOf(env: Env, siteId: string) {
  return env.SITE_LOG.getByName(siteId);
}

/** The object that evaluates a site's rules. */
export function automationOf(env: Env, siteId: string) {
  return env.AUTOMATION.getByName(siteId);
}

/** The object that runs a site's scheduled actions. */
export function schedulerOf(env: Env, siteId: string) {
  return env.SCHEDULER.getByName(siteId);
}

/** The object that reads the playlists whose cues are events of a site's data providers. */
export function cuePollerOf(env: Env, siteId: string) {
  return env.CUE_POLLER.getByName(siteId);
}

/** The object that counts a quota. */
export function limiterOf(env: Env, siteId: string, slot: Slot) {
  return env.LIMITER.getByName(limiterName(siteId, slot));
}

/** All counters of a poll. */
export function countersOf(env: Env, siteId: string, pollId: string) {
  return Array.from({ length: POLL_COUNTERS }, (_, counter) => counterAt(env, siteId, pollId, counter));
}

/** One of a poll's counters; the first adds up all of them. */
export function counterAt(env: Env, siteId: string, pollId: string, counter: number) {
  return env.POLL_COUNTER.getByName(counterName(siteId, pollId, counter));
}

/** The object that notifies a channel's viewers of its questions. */
export function questionBoardOf(env: Env, siteId: string, channelId: string) {
  return env.QUESTION_BOARD.getByName(channelName(siteId, channelId));
}

/** The object that notifies a channel's viewers of its match facts. */
export function statBoardOf(env: Env, siteId: string, channelId: string) {
  return env.STAT_BOARD.getByName(channelName(siteId, channelId));
}

/** The object that stores a leaderboard's awards and ranks. */
export function leaderboardOf(env: Env, siteId: string, leaderboardId: string) {
  return env.LEADERBOARD.getByName(`${siteId}:${leaderboardId}`);
}

/** The object that counts what viewers of a network were shown. */
export function insightCounterOf(env: Env, siteId: string, network: string) {
  return env.INSIGHT_COUNTER.getByName(insightCounterName(siteId, network));
}

/** The object that counts a video's views. */
export function viewCounterOf(env: Env, videoId: string) {
  return env.VIEW_COUNTER.getByName(videoId);
}

/** The object that delivers to a webhook endpoint. */
export function webhookEndpointOf(env: Env, siteId: string, endpointId: string) {
  return env.WEBHOOK_ENDPOINT.getByName(`${siteId}:${endpointId}`);
}

/** The result of a call to an object; a 503 with this message if the call fails or takes too long. */
export async function orUnavailable<T>(call: Promise<T>, message: string): Promise<T> {
  try {
    return await withTimeout(call, CALL_TIMEOUT_MS);
  } catch (cause) {
    throw new Failure("unavailable", message, { cause });
  }
}
