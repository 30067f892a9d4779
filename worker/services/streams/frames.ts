import type { z } from "@hono/zod-openapi";
import { and, desc, eq, sql } from "drizzle-orm";
import { siteDb } from "#db/databases.ts";
import { sites } from "#db/schema/sites.ts";
import { streams } from "#db/schema/streams/streams.ts";
import { channelOf } from "#worker/durable-objects/stubs.ts";
import { dataOf, type LoggedEvent } from "#worker/services/event-catalogue/effect.ts";
import { channelIsRestricted } from "#worker/services/videos/gated-videos.ts";
import type { Stream } from "./schemas.ts";

/** The fields that players need, without the ingest URL. */
type PlayerFields = "_id" | "title" | "playbackUrl" | "playback" | "fallbackImageUrl" | "tags";

interface StreamData extends Pick<z.output<typeof Stream>, PlayerFields> {
  gated: boolean;
}

/** Notifies a channel's viewers that a stream is live; a stream without a channel has no viewers. */
export async function notifyWentLive(env: Env, siteId: string, event: LoggedEvent<"admin.wentLive">): Promise<void> {
  const { channelId, ...stream } = dataOf(event);
  if (channelId === null) return;
  const data = frameOf({ ...stream, gated: await isGated(env, siteId, channelId) });
  await channelOf(env, siteId, channelId).emit({ id: event.id, type: "stream.live", data });
}

/** Notifies viewers that the stream is offline or, if another stream of the channel is live, sends that one instead. */
export async function notifyWentOffline(env: Env, siteId: string, event: LoggedEvent<"admin.wentOffline">): Promise<void> {
  const { channelId, ...stream } = dataOf(event);
  if (channelId === null) return;
  const [live, gated] = await Promise.all([findLiveStream(env, siteId, channelId), isGated(env, siteId, channelId)]);
  const frame = { type: live ? ("stream.live" as const) : ("stream.offline" as const), data: frameOf({ ...(live ?? stream), gated }) };
  await channelOf(env, siteId, channelId).emit({ id: event.id, ...frame });
}

async function findLiveStream(env: Env, siteId: string, channelId: string) {
  const { id: _id, title, playbackUrl, playback, fallbackImageUrl, tags } = streams;
  const [live] = await siteDb(env, siteId)
    .select({ _id, title, playbackUrl, playback, fallbackImageUrl, tags })
    .from(streams)
    .where(and(eq(streams.siteId, siteId), eq(streams.channelId, channelId), eq(streams.isLive, true)))
    .orderBy(desc(streams.created))
    .limit(1);
  return live;
}

/** Only content responses return the URL of a restricted channel, or a signed one. */
function frameOf(stream: StreamData) {
  const { _id, title, fallbackImageUrl, tags } = stream;
  const gated = stream.gated || stream.playback !== null;
  return { _id, title, playbackUrl: gated ? null : stream.playbackUrl, fallbackImageUrl, tags, gated };
}

async function isGated(env: Env, siteId: string, channelId: string): Promise<boolean> {
  const [page] = await siteDb(env, siteId)
    .select({ gated: channelIsRestricted(sql`${siteId}`, sql`${channelId}`).as("gated") })
    .from(sites)
    .where(eq(sites.id, siteId));
  return page?.gated ?? true;
}
