import { and, eq, notExists, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { prepared } from "#db/prepared.ts";
import { type PlaybackKeyRow, playbackKeys } from "#db/schema/streams/playback-keys.ts";
import type { PlaybackSettings } from "#db/types.ts";
import { readSigningKey, signPlaybackUrl, signThumbnail } from "#worker/integrations/signed-playback.ts";
import { open, seal } from "#worker/lib/crypto/crypto.ts";
import { invalid, notFound } from "#worker/lib/errors.ts";
import { logError } from "#worker/lib/log.ts";
import { playbackUrlProblem } from "#worker/lib/schemas/playback-settings.ts";
import { type PlaybackKeyInput, toPlaybackKey } from "./playback-key-schemas.ts";
import { commit, commitIfUnchanged, type Ctx, deleteRow, newRow, ownRow, requireMatch } from "#worker/services/core/context.ts";
import { type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";

/** Keeps the keys apart from whatever else is sealed. */
export const PLAYBACK_KEY_PURPOSE = "playback key";

const keyList = tableList<PlaybackKeyRow>({
  table: playbackKeys,
  rows: (db, slice) => sliceOf(db.select().from(playbackKeys).$dynamic(), slice),
  sort: { created: playbackKeys.created },
  search: { keyId: playbackKeys.keyId },
});

export function listPlaybackKeys(ctx: Ctx, query: ListQuery): Promise<ListPage<PlaybackKeyRow>> {
  return listRows(ctx, keyList, query, eq(playbackKeys.siteId, ctx.siteId));
}

/** Stores a signing key, which is used from now on; older ones stay until they are deleted. */
export async function addPlaybackKey(ctx: Ctx, { key, ...input }: PlaybackKeyInput): Promise<PlaybackKeyRow> {
  const signingKey = readSigningKey(input.provider, key);
  if (signingKey === undefined) {
    const wanted = input.provider === "hmac" ? "At least 32 characters" : "An RSA private key of at least 2048 bits, as PEM or JWK";
    throw invalid("key", wanted);
  }
  const row: PlaybackKeyRow = { ...newRow(ctx), ...input, keySealed: await seal(ctx.env, PLAYBACK_KEY_PURPOSE, signingKey) };
  await commit(ctx, ctx.db.insert(playbackKeys).values(row), {
    type: "site.playbackKeyAdded",
    resource: resourceOf(row),
    data: toPlaybackKey(row),
  });
  return row;
}

export async function deletePlaybackKey(ctx: Ctx, id: string): Promise<void> {
  const [current] = await ctx.db
    .select()
    .from(playbackKeys)
    .where(ownRow(ctx, playbackKeys, id));
  if (!current) throw notFound("Playback key not found");
  requireMatch(ctx, current);
  const change = deleteRow(ctx, playbackKeys, current);
  await commitIfUnchanged(ctx, change, { type: "site.playbackKeyDeleted", resource: resourceOf(current), data: toPlaybackKey(current) });
}

/** A 400 unless the URL matches the playback settings and the site has a key for the provider. */
export async function requirePlayback(ctx: Ctx, url: string, settings: PlaybackSettings | null): Promise<void> {
  if (!settings) return;
  const problem = playbackUrlProblem(settings, url);
  if (problem !== undefined) throw invalid("url", problem);
  const [key] = await ctx.db
    .select({ id: playbackKeys.id })
    .from(playbackKeys)
    .where(and(eq(playbackKeys.siteId, ctx.siteId), eq(playbackKeys.provider, settings.provider)))
    .limit(1);
  if (!key) throw invalid("playback.provider", `Add a playback key for ${settings.provider} first`);
}

const newer = alias(playbackKeys, "newer");

/** The site's signing keys: the newest of each provider. */
export const selectSigningKeys = prepared((db) => {
  const isNewer = sql`(${newer.created}, ${newer.id}) > (${playbackKeys.created}, ${playbackKeys.id})`;
  const newerOnes = db
    .select({ id: newer.id })
    .from(newer)
    .where(and(eq(newer.siteId, playbackKeys.siteId), eq(newer.provider, playbackKeys.provider), isNewer));
  return db
    .select({
      provider: playbackKeys.provider,
      keyId: playbackKeys.keyId,
      keySealed: playbackKeys.keySealed,
      lifetimeSeconds: playbackKeys.lifetimeSeconds,
    })
    .from(playbackKeys)
    .where(and(eq(playbackKeys.siteId, sql.placeholder("siteId")), notExists(newerOnes)));
});

export type SealedKey = Pick<PlaybackKeyRow, "provider" | "keyId" | "keySealed" | "lifetimeSeconds">;

const MAX_LIFETIME_MS = 24 * 3_600_000;

/** What limits a URL's validity: `ends` are the times in milliseconds since 1970 UTC at which access ends. */
export interface Validity {
  now: number;
  durationSeconds: number;
  ends: (number | undefined)[];
}

/** The signed URLs of a video and its thumbnail, and their expiry; the video's URL is null if there is no key for it. */
export async function signUrl(
  env: Env,
  { url, thumbnail }: { url: string; thumbnail: string | null },
  settings: PlaybackSettings,
  keys: SealedKey[],
  { now, durationSeconds, ends }: Validity,
): Promise<{ url: string | null; thumbnail: string | null; urlExpires: number | null }> {
  const key = keys.find(({ provider }) => provider === settings.provider);
  if (!key) {
    logError("playback_key_missing", "A gated video has no URL", { provider: settings.provider });
    return { url: null, thumbnail, urlExpires: null };
  }
  const full = now + Math.min(MAX_LIFETIME_MS, (key.lifetimeSeconds + durationSeconds) * 1000);
  const expires = Math.floor(Math.min(full, ...ends.filter((end) => end !== undefined)) / 1000);
  const signer = { keyId: key.keyId, key: await open(env, PLAYBACK_KEY_PURPOSE, key.keySealed) };
  const signed = await Promise.all([
    signPlaybackUrl(url, settings, signer, expires),
    thumbnail === null ? null : signThumbnail(thumbnail, settings, signer, expires),
  ]);
  return { url: signed[0], thumbnail: signed[1], urlExpires: expires * 1000 };
}

function resourceOf(row: PlaybackKeyRow): string {
  return `playbackkey/${row.id}`;
}
