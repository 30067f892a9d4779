import { and, eq } from "drizzle-orm";
import { siteDb } from "#db/databases.ts";
import { dataProviders } from "#db/schema/data-providers.ts";
import { sites } from "#db/schema/sites.ts";
import { bytesOf } from "#sdk/cues/reader.ts";
import { MAX_SECTION_BYTES, parseSplice } from "#sdk/cues/scte35.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { Failure } from "#worker/lib/errors.ts";
import { type DateRange, dateRangesOf } from "#worker/lib/hls/date-ranges.ts";
import { isComplete, isMultivariant } from "#worker/lib/hls/playlist.ts";
import { asSystem } from "#worker/services/core/system.ts";
import { ingestEventOf } from "#worker/services/data-providers/provider-events.ts";
import { ManifestSettings } from "#worker/services/sites/setting-schemas.ts";
import { allowedUrl, fetchPlaylist } from "./fetch-playlist.ts";
import { OVERLAY_CLASS } from "./manifests.ts";

/** Date ranges of a playlist that are read, the last ones. */
const MAX_RANGES = 200;

export type ManifestSettings = NonNullable<ReturnType<typeof ManifestSettings.parse>>;
export type CueSource = ManifestSettings["cues"][number];

/** A cue of a source, as its data provider's event; `key` is the same for the same cue. */
export interface FoundCue {
  key: string;
  /** ms since 1970 UTC; null if the stream doesn't say. */
  startsAt: number | null;
  event: Record<string, unknown>;
}

/** What the site has set about playlists, now. */
export async function readManifestSettings(env: Env, siteId: string): Promise<ManifestSettings> {
  const [site] = await siteDb(env, siteId).select({ settings: sites.settings }).from(sites).where(eq(sites.id, siteId));
  return ManifestSettings.catch({ hosts: [], cues: [] }).parse(site?.settings.manifest ?? {});
}

/** The cues that a source's playlist has now; of a multivariant one, those of its first variant. `isLive`: more may follow. */
export async function readCues(env: Env, { src }: CueSource, hosts: string[]): Promise<{ cues: FoundCue[]; isLive: boolean }> {
  const url = allowedUrl(env, src, hosts);
  let lines = await fetchPlaylist(env, url.href);
  if (isMultivariant(lines)) {
    const variant = lines.find((line) => !line.startsWith("#")) ?? "";
    lines = await fetchPlaylist(env, allowedUrl(env, URL.parse(variant, url.href)?.href ?? "", hosts).href);
  }
  const ranges = dateRangesOf(lines, MAX_RANGES).filter((range) => range.class !== OVERLAY_CLASS);
  return { cues: await Promise.all(ranges.map((range) => toCue(src, range))), isLive: !isComplete(lines) };
}

async function toCue(src: string, range: DateRange): Promise<FoundCue> {
  const key = (await sha256(`${src}\n${range.id}`)).slice(0, 40);
  return { key, startsAt: range.startDate, event: { cue: eventOf(range) } };
}

/** Without what the stream doesn't say, so that a schema needn't allow null. */
function eventOf({ id, class: name, startDate, endDate, duration, plannedDuration, attributes }: DateRange): Record<string, unknown> {
  const { "SCTE35-OUT": out, "SCTE35-IN": back, "SCTE35-CMD": command } = attributes;
  const section = bytesOf(out ?? back ?? command ?? "", MAX_SECTION_BYTES);
  const splice = section && parseSplice(section);
  const length = duration ?? plannedDuration;
  return {
    id,
    attributes,
    ...(name !== null && { class: name }),
    ...(startDate !== null && { startDate }),
    ...(endDate !== null && { endDate }),
    ...(length !== null && { duration: length }),
    ...(splice && { splice: withoutNulls({ ...splice, segments: splice.segments.map((segment) => withoutNulls({ ...segment })) }) }),
  };
}

function withoutNulls(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/**
 * Passes a cue on as an event of its data provider, once: the event's id is the cue's. Returns why the provider doesn't take it, which
 * another attempt won't change; undefined if it does.
 */
export async function ingestCue(env: Env, siteId: string, dataProviderId: string, { key, event }: FoundCue): Promise<string | undefined> {
  const db = siteDb(env, siteId);
  return asSystem({ env, db, now: Date.now() }, siteId, async (ctx) => {
    const [provider] = await db
      .select()
      .from(dataProviders)
      .where(and(eq(dataProviders.siteId, siteId), eq(dataProviders.id, dataProviderId)));
    if (!provider) return "The data provider doesn't exist";
    try {
      await ingestEventOf(ctx, provider, event, `cue-${key}`);
      return undefined;
    } catch (error) {
      if (error instanceof Failure && (error.code === "invalid_request" || error.code === "conflict")) return error.message;
      throw error;
    }
  });
}
