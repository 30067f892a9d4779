import { channelOf, orUnavailable } from "#worker/durable-objects/stubs.ts";
import type { RecordedFrame } from "#worker/durable-objects/channel/channel.protocol.ts";
import { SharedCache } from "#worker/lib/shared-cache.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { requireChannelAccess } from "#worker/services/realtime/channel-access.ts";
import { type ChannelRecording, RecordedBroadcast, type RecordingQuery } from "./schemas.ts";

/** How long an isolate returns the same page: only what is still on can change. */
const FRESH_MS = 5_000;
const pages = new SharedCache<ChannelRecording>({ max: 16, waitMs: 2_000, failedMs: 0 });

/**
 * A page of the broadcasts that everybody on the channel received, for whoever may connect to it now. Viewers of the same recording share
 * an isolate's page; only who may have it is decided for each.
 */
export async function readRecording(ctx: Ctx, channelId: string, query: RecordingQuery): Promise<ChannelRecording> {
  await requireChannelAccess(ctx, channelId, () => false);
  const load = async () => ({ value: await readPage(ctx, channelId, query), freshMs: FRESH_MS });
  return pages.get(JSON.stringify([ctx.siteId, channelId, query]), load, (work) => ctx.defer(work));
}

async function readPage(ctx: Ctx, channelId: string, { from, to, cursor, limit }: RecordingQuery): Promise<ChannelRecording> {
  const [at, seq] = (cursor ?? "").split("-").map(Number);
  const after = at !== undefined && seq !== undefined ? { at, seq } : null;
  const channel = channelOf(ctx.env, ctx.siteId, channelId);
  const { frames, more } = await orUnavailable(
    channel.recording({ from, to: to ?? Number.MAX_SAFE_INTEGER, after, limit }),
    "The channel did not respond",
  );
  const last = frames.at(-1);
  return { results: frames.map(toRecordedBroadcast), next: more && last ? `${last.at}-${last.seq}` : null };
}

/** With its times on the recording's clock. */
function toRecordedBroadcast({ at, ends, body }: RecordedFrame): RecordedBroadcast {
  return { ...RecordedBroadcast.parse(JSON.parse(body)), startsAt: at, endsAt: ends };
}
