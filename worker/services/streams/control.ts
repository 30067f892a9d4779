import { and, eq, gte, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import type { STREAM_CALLS } from "#db/enums.ts";
import { type StreamProviderRow, type StreamRow, streams } from "#db/schema/streams/streams.ts";
import { isAcknowledged, type ProviderOutcome } from "#worker/integrations/stream-provider.ts";
import { conflict, Failure } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { toStreamEvent } from "./schemas.ts";
import { whereVersion, commitIfUnchanged, type Ctx, nextVersion, ownRow, requireMatch } from "#worker/services/core/context.ts";
import { keepGatedOfStream } from "#worker/services/videos/gate-departures.ts";
import { callFor, isGone, providerFailed } from "./drafts.ts";
import { findStream } from "./streams.ts";

// Calls take much less than this; an older one was interrupted by a crash.
const CRASHED_AFTER = 60_000;
const NO_CALL = { call: null, callBy: null, callAt: null };

type StreamCall = (typeof STREAM_CALLS)[number];

const FAILED: Record<StreamCall, string> = {
  start: "Start Stream call to provider failed",
  stop: "Stop Stream call to provider failed",
  delete: "Delete Stream call to provider failed",
};

/** Starts a stream. */
export async function startStream(ctx: Ctx, id: string): Promise<StreamRow> {
  const { stream, provider } = await findStream(ctx, id, "write");
  requireMatch(ctx, stream);
  if (stream.isLive) throw conflict("The stream is already live");
  const by = await callExclusively(ctx, stream, provider, "start");
  const next: StreamRow = { ...stream, ...NO_CALL, isLive: true, liveSince: ctx.now, ...nextVersion(ctx, stream) };
  const change = ctx.db
    .update(streams)
    .set(next)
    .where(calledBy(ctx, id, by));
  await commitIfUnchanged(ctx, change, { type: "admin.wentLive", resource: `stream/${id}`, data: toStreamEvent(next) });
  return next;
}

/**
 * Stops a stream. `vod` in the event is the input for creating a video of the recording, except for its URL. With `force`, it is stopped here
 * even if the provider fails.
 */
export async function stopStream(ctx: Ctx, id: string, force = false): Promise<StreamRow> {
  const { stream, provider } = await findStream(ctx, id, "write");
  requireMatch(ctx, stream);
  const by = await callExclusively(ctx, stream, provider, "stop", force);
  if (!stream.isLive) {
    await endCall(ctx, id, by);
    return stream;
  }
  const next: StreamRow = { ...stream, ...NO_CALL, isLive: false, liveSince: null, ...nextVersion(ctx, stream) };
  const vod = { streamId: id, durationSeconds: Math.round((ctx.now - (stream.liveSince ?? ctx.now)) / 1000) };
  const change = ctx.db
    .update(streams)
    .set(next)
    .where(calledBy(ctx, id, by));
  await commitIfUnchanged(ctx, change, { type: "admin.wentOffline", resource: `stream/${id}`, data: { ...toStreamEvent(next), vod } });
  return next;
}

/** Deletes a stream at its provider, then here; with `force`, here even if the provider fails. */
export async function deleteStream(ctx: Ctx, id: string, force = false): Promise<StreamRow> {
  const { stream, provider } = await findStream(ctx, id, "write");
  requireMatch(ctx, stream);
  if (stream.isLive) throw conflict("The stream is live; stop it first");
  const by = await callExclusively(ctx, stream, provider, "delete", force);
  const change = ctx.db.delete(streams).where(calledBy(ctx, id, by));
  const changes = [change, ...(await keepGatedOfStream(ctx, id, stream.channelId))];
  await commitIfUnchanged(ctx, changes, { type: "stream.deleted", resource: `stream/${id}`, data: toStreamEvent(stream) });
  return stream;
}

/** A condition for writes: no stream of the channel is live or about to be. */
export function isOffAir(ctx: Ctx, channelId: string): SQL {
  return sql`not exists (select 1 from ${streams} where ${isOnAir(ctx, channelId)})`;
}

/** Runs a write with that condition; its 409 names the stream. */
export async function whileOffAir<T>(ctx: Ctx, channelId: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "conflict") throw error;
    const [busy] = await ctx.db.select({ id: streams.id }).from(streams).where(isOnAir(ctx, channelId)).limit(1);
    throw busy ? conflict(`The channel's stream ${busy.id} is live; stop it first`) : error;
  }
}

function isOnAir(ctx: Ctx, channelId: string): SQL | undefined {
  const busy = or(eq(streams.isLive, true), gte(streams.callAt, ctx.now - CRASHED_AFTER));
  return and(eq(streams.siteId, ctx.siteId), eq(streams.channelId, channelId), busy);
}

/** Makes a provider call exclusively and returns the call's id; a failed call leaves the stream unchanged, unless `force`. */
async function callExclusively(ctx: Ctx, stream: StreamRow, provider: StreamProviderRow, call: StreamCall, force = false): Promise<string> {
  const callBy = newId(ctx.now);
  const idle = or(isNull(streams.callAt), lt(streams.callAt, ctx.now - CRASHED_AFTER));
  const claimed = await ctx.db
    .update(streams)
    .set({ call, callBy, callAt: ctx.now })
    .where(and(whereVersion(ctx, streams, stream), idle))
    .returning({ id: streams.id });
  if (claimed.length === 0) throw conflict("Another request is starting, stopping or deleting this stream");
  const outcome = await callFor(ctx.env, provider, provider[`${call}Stream`], stream);
  if (force || hasSucceeded(outcome, stream, call)) return callBy;
  await endCall(ctx, stream.id, callBy);
  const reason = outcome.ok ? "The response was neither empty nor for this stream" : outcome.reason;
  throw providerFailed(FAILED[call], reason);
}

function hasSucceeded(outcome: ProviderOutcome, stream: StreamRow, call: StreamCall): boolean {
  if (outcome.ok) return isAcknowledged(outcome.text, stream.providerStreamId);
  // What the provider no longer has is neither live nor there.
  return call !== "start" && isGone(outcome);
}

async function endCall(ctx: Ctx, id: string, by: string): Promise<void> {
  await ctx.db
    .update(streams)
    .set(NO_CALL)
    .where(calledBy(ctx, id, by));
}

function calledBy(ctx: Ctx, id: string, by: string): SQL | undefined {
  return and(ownRow(ctx, streams, id), eq(streams.callBy, by));
}
