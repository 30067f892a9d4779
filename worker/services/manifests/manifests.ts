import { z } from "@hono/zod-openapi";
import { channelOf, orUnavailable } from "#worker/durable-objects/stubs.ts";
import { EPOCH_TIMECODE, type TimelineEntry } from "#worker/durable-objects/channel/channel.protocol.ts";
import { toBase64Url } from "#worker/lib/crypto/crypto.ts";
import { type DateRange, dateRangeTag, LAST_DATE } from "#worker/lib/hls/date-ranges.ts";
import { isComplete, isMultivariant, relocate, windowOf } from "#worker/lib/hls/playlist.ts";
import { type Loaded, SharedCache } from "#worker/lib/shared-cache.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { takeSlot } from "#worker/services/core/limits.ts";
import { requireManifestChannel } from "./channels.ts";
import { allowedUrl, fetchPlaylist, readable } from "./fetch-playlist.ts";

/** How long an isolate serves the same playlist: a live one changes with every segment. */
const LIVE_MS = 1_000;
const LASTING_MS = 10_000;
const FAILED_MS = 1_000;
/** What an isolate remembers of playlists at most, in characters: its memory serves all sites. */
const MAX_CACHED_CHARS = 16_000_000;
/** Longer than loading a playlist may take. */
const WAIT_MS = 7_000;
/** What is added to a playlist at most; the latest broadcasts come first. */
const MAX_RANGES = 200;
const MAX_ADDED_CHARS = 256 * 1024;
/** A broadcast with more content is added without it. */
const MAX_CONTENT_CHARS = 16 * 1024;
/** The class of the date ranges that are added. */
export const OVERLAY_CLASS = "tifo.overlay";

/** What only concerns a connection. */
const OF_CONNECTION = new Set(["type", "seq", "upTo"]);

const Shown = z.looseObject({
  broadcastId: z.string(),
  overlayId: z.string(),
  startsAt: z.number(),
  endsAt: z.number(),
  timecode: z.number().optional(),
});

export interface ManifestRequest {
  channelId: string;
  /** The playlist's URL. */
  src: string;
  /** The caller's address, whose loads are limited. */
  address: string;
  /** The address of this operation for another playlist of the same channel. */
  addressOf: (src: string) => string;
}

/** Who would have loaded a playlist has loaded too many, which is no business of those who share the load. */
class SlotRefused extends Error {
  readonly address: string;

  constructor(address: string, cause: unknown) {
    super("The address has loaded too many playlists", { cause });
    this.address = address;
  }
}

const manifests = new SharedCache<string>({
  ...{ max: 200, waitMs: WAIT_MS, failedMs: (error) => (error instanceof SlotRefused ? 0 : FAILED_MS) },
  ...{ sizeOf: ({ length }) => length, maxSize: MAX_CACHED_CHARS },
});

/**
 * The playlist with the channel's broadcasts as date ranges. All devices of an isolate that ask within a second share one load; only who may
 * have it is decided for each. `isPublic`: everybody may.
 */
export async function openManifest(ctx: Ctx, request: ManifestRequest): Promise<{ text: string; isPublic: boolean }> {
  const { channelId, src, address, addressOf } = request;
  const { hosts, isGated } = await requireManifestChannel(ctx, channelId);
  const { href } = allowedUrl(ctx.env, src, hosts);
  const key = JSON.stringify([ctx.siteId, channelId, addressOf(href), hosts]);
  const load = () => loadManifest(ctx, { ...request, src: href }, hosts);
  return { text: await shareManifest(ctx, key, address, load), isPublic: !isGated };
}

/** Whoever loads takes a slot of its address. */
async function shareManifest(ctx: Ctx, key: string, address: string, load: () => Promise<Loaded<string>>): Promise<string> {
  const loadWithSlot = async () => {
    await takeSlot(ctx, "manifest", address).catch((error: unknown) => {
      throw new SlotRefused(address, error);
    });
    return load();
  };
  try {
    return await manifests.get(key, loadWithSlot, (work) => ctx.defer(work));
  } catch (error) {
    if (!(error instanceof SlotRefused)) throw error;
    if (error.address === address) throw error.cause;
    await takeSlot(ctx, "manifest", address);
    return (await load()).value;
  }
}

async function loadManifest(ctx: Ctx, { channelId, src, addressOf }: ManifestRequest, hosts: string[]): Promise<Loaded<string>> {
  const lines = await fetchPlaylist(ctx.env, src);
  // A player loads what isn't at an allowed host from there itself.
  const playlist = (url: string) => (hosts.includes(URL.parse(url)?.host ?? "") ? addressOf(url) : url);
  const moved = readable(() => relocate(lines, { base: src, playlist }));
  const added = isMultivariant(lines) ? [] : await broadcastLines(ctx, channelId, lines);
  const isLasting = isMultivariant(lines) || isComplete(lines);
  return { value: [...moved, ...added, ""].join("\n"), freshMs: isLasting ? LASTING_MS : LIVE_MS };
}

/** The broadcasts in the time that the playlist covers, and those to come if it is live. */
async function broadcastLines(ctx: Ctx, channelId: string, lines: string[]): Promise<string[]> {
  const covered = windowOf(lines);
  // Date ranges without a date in the playlist mean nothing (RFC 8216bis, 4.4.5.1).
  if (!covered) return ["# Without EXT-X-PROGRAM-DATE-TIME, no broadcasts are added"];
  const to = isComplete(lines) ? covered.to : Infinity;
  const entries = await orUnavailable(channelOf(ctx.env, ctx.siteId, channelId).timeline(covered.from), "The channel did not respond");
  return tagsOf(entries, { from: covered.from, to }, ctx.now);
}

/** The tags of the latest broadcasts that fit, in the order of their start. */
export function tagsOf(entries: TimelineEntry[], covered: { from: number; to: number }, now: number): string[] {
  const tags: { startDate: number; tag: string }[] = [];
  let room = MAX_ADDED_CHARS;
  for (const entry of entries) {
    const { startDate, end, range } = rangeOf(entry, now);
    // Broadcasts of earlier versions may have a timecode beyond that.
    if (startDate > LAST_DATE || end <= covered.from || startDate > covered.to) continue;
    const tag = dateRangeTag(range);
    room -= tag.length + 1;
    if (room < 0 || tags.length === MAX_RANGES) break;
    tags.push({ startDate, tag });
  }
  return tags.sort((one, other) => one.startDate - other.startDate).map(({ tag }) => tag);
}

/** A tag may only gain attributes while it is in the playlist: the duration follows once it can't change any more. */
function rangeOf({ body, clearedAt }: TimelineEntry, now: number): { startDate: number; end: number; range: DateRange } {
  const shown = Shown.parse(JSON.parse(body));
  const { broadcastId, overlayId, startsAt, endsAt, timecode } = shown;
  const startDate = timecode !== undefined && timecode >= EPOCH_TIMECODE ? timecode * 1000 : startsAt;
  const planned = endsAt - startsAt;
  const actual = clearedAt === null ? (endsAt <= now ? planned : null) : Math.min(planned, Math.max(0, clearedAt - startsAt));
  const content = JSON.stringify(Object.fromEntries(Object.entries(shown).filter(([name]) => !OF_CONNECTION.has(name))));
  const range: DateRange = {
    id: `tifo-${broadcastId}`,
    class: OVERLAY_CLASS,
    startDate,
    endDate: null,
    duration: actual === null ? null : actual / 1000,
    plannedDuration: planned / 1000,
    attributes: {
      "X-TIFO-OVERLAY-ID": overlayId,
      ...(content.length > MAX_CONTENT_CHARS ? {} : { "X-TIFO-BROADCAST": toBase64Url(new TextEncoder().encode(content)) }),
    },
  };
  return { startDate, end: startDate + (actual ?? planned), range };
}
