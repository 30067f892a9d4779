import { z } from "@hono/zod-openapi";
import { and, desc, eq } from "drizzle-orm";
import { createDb } from "../../db/client.ts";
import { streams } from "../../db/schema/index.ts";
import type { LogEntry } from "../durable-objects/site-log.protocol.ts";
import { channelOf } from "./realtime.ts";

// What players need; where the encoder sends is none of theirs.
const StreamEvent = z.object({
  _id: z.string(),
  channelId: z.string().nullable(),
  title: z.string(),
  playbackUrl: z.string(),
  fallbackImageUrl: z.string().nullable(),
  tags: z.array(z.string()),
});

/** Tells a channel's viewers that a stream is on; one that stands by itself has none to tell. */
export async function tellLive(env: Env, siteId: string, event: LogEntry): Promise<void> {
  const { channelId, ...data } = StreamEvent.parse(JSON.parse(event.data));
  if (channelId !== null) await channelOf(env, siteId, channelId).emit({ id: event.id, type: "stream.live", data });
}

/** Tells them that it is over or, where another stream of the channel has taken its place, of that one: they have one picture. */
export async function tellOffline(env: Env, siteId: string, event: LogEntry): Promise<void> {
  const { channelId, ...data } = StreamEvent.parse(JSON.parse(event.data));
  if (channelId === null) return;
  const on = await liveOn(env, siteId, channelId);
  const frame = on ? { type: "stream.live" as const, data: on } : { type: "stream.offline" as const, data };
  await channelOf(env, siteId, channelId).emit({ id: event.id, ...frame });
}

async function liveOn(env: Env, siteId: string, channelId: string) {
  const { id: _id, title, playbackUrl, fallbackImageUrl, tags } = streams;
  const [on] = await createDb(env.DB)
    .select({ _id, title, playbackUrl, fallbackImageUrl, tags })
    .from(streams)
    .where(and(eq(streams.siteId, siteId), eq(streams.channelId, channelId), eq(streams.isLive, true)))
    .orderBy(desc(streams.created))
    .limit(1);
  return on;
}
