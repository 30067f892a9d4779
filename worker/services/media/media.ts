import { and, eq, sql } from "drizzle-orm";
import { media, type MediaRow } from "#db/schema/media.ts";
import { type ByteRange, parseRange } from "./byte-range.ts";
import { conflict, Failure, invalid, notFound } from "#worker/lib/errors.ts";
import { HEAD_BYTES, sniffMediaType } from "./media-type.ts";
import { toMedia } from "./schemas.ts";
import { whereVersion, commit, commitIfUnchanged, type Ctx, newRow, ownRow, requireMatch } from "#worker/services/core/context.ts";
import { type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { fromShards } from "#worker/services/core/databases.ts";
import { isMoving, requireAllShards } from "#worker/services/sites/placement.ts";
import { clip } from "#worker/lib/well-formed.ts";
import { findUses, unused } from "./uses.ts";

const mediaList = tableList<MediaRow>({
  table: media,
  rows: (db, slice) => sliceOf(db.select().from(media).$dynamic(), slice),
  sort: { created: media.created, fileName: media.fileName, size: media.size },
  search: { fileName: media.fileName },
});

export function listMedia(ctx: Ctx, query: ListQuery & { kind?: MediaRow["kind"] }): Promise<ListPage<MediaRow>> {
  return listRows(ctx, mediaList, query, eq(media.siteId, ctx.siteId), query.kind && eq(media.kind, query.kind));
}

/** Stores a file: first its bytes, then its row, so that no row lacks its bytes. A sweep deletes the bytes that a crash leaves behind. */
export async function uploadMedia(ctx: Ctx, file: File): Promise<MediaRow> {
  const type = sniffMediaType(new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer()));
  if (!type) throw invalid("file", "Must be a PNG, JPEG, GIF, WebP, AVIF or SVG image, a Rive file, or WebVTT or SubRip captions");
  const { kind, contentType, maxBytes } = type;
  if (file.size > maxBytes) throw new Failure("payload_too_large", `A file of type ${contentType} can have at most ${maxBytes} bytes`);
  const row: MediaRow = { ...newRow(ctx), fileName: nameOf(file), kind, contentType, size: file.size };
  await ctx.env.MEDIA.put(row.id, file, { httpMetadata: { contentType } });
  await commit(ctx, ctx.db.insert(media).values(row), { type: "media.created", resource: `media/${row.id}`, data: toMedia(row) });
  return row;
}

/** The last segment of the file name, without control characters. */
function nameOf(file: File): string {
  const name = file.name
    .replace(/^.*[/\\]/, "")
    .replace(/\p{Cc}/gu, "")
    .trim();
  return clip(name, 200) || "file";
}

/** Which part of a file is requested, with the header values as received. */
export interface MediaRequest {
  headOnly: boolean;
  range: string | undefined;
  ifRange: string | undefined;
  ifNoneMatch: string | undefined;
}

/** A file, or the requested part of it; `body` is null for HEAD requests and if the caller has the current version. */
export interface MediaResponse {
  object: R2Object;
  body: ReadableStream | null;
  range: ByteRange | undefined;
}

/** Opens a file of any site. The id is enough, so that pages and players need no credentials. */
export async function openMedia(env: Env, id: string, { headOnly, range, ifRange, ifNoneMatch }: MediaRequest): Promise<MediaResponse> {
  const unconditional = !headOnly && range === undefined && ifNoneMatch === undefined;
  const whole = unconditional ? await env.MEDIA.get(id) : null;
  if (whole) return { object: whole, body: whole.body, range: undefined };
  const object = await env.MEDIA.head(id);
  if (!object) throw notFound("File not found");
  if (headOnly || ifNoneMatch?.includes(object.httpEtag)) return { object, body: null, range: undefined };
  const part = ifRange === undefined || ifRange === object.httpEtag ? parseRange(range, object.size) : undefined;
  if (part === null) {
    const headers = { "Content-Range": `bytes */${object.size}` };
    throw new Failure("range_not_satisfiable", `The file has ${object.size} bytes`, { headers });
  }
  const stored = await env.MEDIA.get(id, part && { range: part });
  if (!stored) throw notFound("File not found");
  return { object, body: stored.body, range: part };
}

/** Deletes a file that is not in use. */
export async function deleteMedia(ctx: Ctx, id: string): Promise<MediaRow> {
  const [current] = await ctx.db
    .select()
    .from(media)
    .where(ownRow(ctx, media, id));
  if (!current) throw notFound("File not found");
  requireMatch(ctx, current);
  const uses = await findUses(ctx, id);
  if (uses.length > 0) throw conflict(`Still in use by ${uses.join(", ")}`);
  const change = ctx.db.delete(media).where(and(whereVersion(ctx, media, current), unused(ctx, id)));
  const eventIds = await commitIfUnchanged(ctx, change, { type: "media.deleted", resource: `media/${id}`, data: toMedia(current) });
  await deleteFile(ctx.env, id);
  ctx.emitted.completedEventIds.push(...eventIds);
  return current;
}

/** Deletes the bytes of a file from the bucket. Idempotent. */
export async function deleteFile(env: Env, id: string): Promise<void> {
  await env.MEDIA.delete(id);
}

const MINUTE = 60_000;
// An upload that has not committed after this time has failed.
const ORPHANED_AFTER = 15 * MINUTE;
// How far back a sweep looks; it runs every hour, so each file is checked many times.
const LOOK_BACK = 48 * 60 * MINUTE;

/** Deletes, once an hour, files whose upload failed before the row was written. Ids sort by time, so only recent files are listed. */
export async function sweepOrphans({ env, now }: Pick<Ctx, "env" | "now">): Promise<void> {
  if (Math.floor(now / MINUTE) % 60 !== 0) return;
  // A file must not seem abandoned because the database of its site isn't bound, or doesn't respond.
  await requireAllShards(env);
  // Nor because the databases are read one after the other while its site moves. The next hour will do.
  if (await isMoving(env)) return;
  const end = firstIdOf(now - ORPHANED_AFTER);
  let startAfter = firstIdOf(now - LOOK_BACK);
  for (;;) {
    const { objects, truncated } = await env.MEDIA.list({ startAfter });
    const ids = objects.map((object) => object.key).filter((id) => id < end);
    const last = ids.at(-1);
    if (last === undefined) return;
    const kept = await fromShards(env, (db) =>
      db
        .select({ id: media.id })
        .from(media)
        .where(sql`${media.id} in (select value from json_each(${JSON.stringify(ids)}))`),
    );
    const known = new Set(kept.map((row) => row.id));
    const orphans = ids.filter((id) => !known.has(id));
    if (orphans.length > 0) await env.MEDIA.delete(orphans);
    if (!truncated) return;
    startAfter = last;
  }
}

function firstIdOf(moment: number): string {
  return moment.toString(16).padStart(12, "0");
}
