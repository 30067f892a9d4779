import { and, eq, lt, sql } from "drizzle-orm";
import { graphics, type GraphicRow } from "#db/schema/graphics.ts";
import { overlays } from "#db/schema/overlays.ts";
import type { GraphicFile } from "#db/graphic-types.ts";
import { conflict, Failure, notFound } from "#worker/lib/errors.ts";
import { readZip, type ZippedFile, type ZipLimits } from "#worker/lib/zip.ts";
import {
  commitIfUnchanged,
  type Ctx,
  newRow,
  nextVersion,
  ownRow,
  requireMatch,
  updateRow,
  whereVersion,
} from "#worker/services/core/context.ts";
import { leaveOutCopies, type Shard } from "#worker/services/core/databases.ts";
import { type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { contentTypeOf } from "./content-types.ts";
import { findGraphic, type PackedGraphic } from "./manifest.ts";
import { toGraphic } from "./schemas.ts";

const MB = 1_000_000;
export const MAX_ARCHIVE_BYTES = 10 * MB;
const LIMITS: ZipLimits = { files: 300, bytes: 30 * MB, fileBytes: 10 * MB, ratio: 100 };
const FIELD = "file";
/** An upload that isn't complete after this time has failed. */
const ABANDONED_AFTER_MS = 15 * 60_000;
const SWEPT_AT_ONCE = 20;
/** Connections that a Worker has open at once. */
const STORED_AT_ONCE = 6;
/** How many files the bucket deletes in one call. */
const DELETED_AT_ONCE = 1_000;

const graphicList = tableList<GraphicRow>({
  table: graphics,
  rows: (db, slice) => sliceOf(db.select().from(graphics).$dynamic(), slice),
  sort: { created: graphics.created, name: graphics.name, size: graphics.size },
  search: {},
});

export function listGraphics(ctx: Ctx, query: ListQuery): Promise<ListPage<GraphicRow>> {
  return listRows(ctx, graphicList, query, eq(graphics.siteId, ctx.siteId), eq(graphics.ready, true));
}

export async function getGraphic(ctx: Ctx, id: string): Promise<GraphicRow> {
  const [graphic] = await ctx.db
    .select()
    .from(graphics)
    .where(and(ownRow(ctx, graphics, id), eq(graphics.ready, true)));
  if (!graphic) throw notFound("Graphic not found");
  return graphic;
}

/** Stores a graphic. Its row is written first, so that no file is ever left behind without one. */
export async function uploadGraphic(ctx: Ctx, archive: File): Promise<GraphicRow> {
  if (archive.size > MAX_ARCHIVE_BYTES) throw new Failure("payload_too_large", `An archive can have at most ${MAX_ARCHIVE_BYTES} bytes`);
  const files = await readZip(archive, FIELD, LIMITS);
  const draft = rowOf(ctx, files, findGraphic(files, FIELD));
  await ctx.db.insert(graphics).values(draft);
  await storeFiles(ctx.env, draft, files);
  const row = { ...draft, ready: true, ...nextVersion(ctx, draft) };
  await commitIfUnchanged(ctx, updateRow(ctx, graphics, draft, row), {
    type: "graphic.created",
    resource: `graphic/${row.id}`,
    data: toGraphic(row),
  });
  return row;
}

function rowOf(ctx: Ctx, files: ZippedFile[], { manifest, main }: PackedGraphic): GraphicRow {
  const listed = files.map(({ path, content }): GraphicFile => ({ path, contentType: contentTypeOf(path), size: content.byteLength }));
  return {
    ...newRow(ctx),
    name: manifest.name.trim() || manifest.id,
    description: manifest.description ?? "",
    manifest,
    main,
    files: listed,
    size: listed.reduce((sum, { size }) => sum + size, 0),
    ready: false,
  };
}

async function storeFiles(env: Env, { id, main }: GraphicRow, files: ZippedFile[]): Promise<void> {
  const store = ({ path, content }: ZippedFile) =>
    env.MEDIA.put(fileKey(id, path), content, { httpMetadata: { contentType: contentTypeOf(path) } });
  for (let at = 0; at < files.length; at += STORED_AT_ONCE) await Promise.all(files.slice(at, at + STORED_AT_ONCE).map(store));
  await env.MEDIA.put(frameKey(id), JSON.stringify({ main }));
}

/** Deletes a graphic that no overlay shows. Screens that show it keep it until their broadcast ends. */
export async function deleteGraphic(ctx: Ctx, id: string): Promise<GraphicRow> {
  const current = await getGraphic(ctx, id);
  requireMatch(ctx, current);
  const isShown = sql`exists (select 1 from ${overlays} where ${overlays.siteId} = ${ctx.siteId} and instr(${overlays.contents}, ${id}) > 0)`;
  const [use] = await ctx.db
    .select({ id: overlays.id })
    .from(overlays)
    .where(and(eq(overlays.siteId, ctx.siteId), sql`instr(${overlays.contents}, ${id}) > 0`))
    .limit(1);
  if (use) throw conflict(`Still in use by overlay/${use.id}`);
  const change = ctx.db.delete(graphics).where(and(whereVersion(ctx, graphics, current), sql`not ${isShown}`));
  const eventIds = await commitIfUnchanged(ctx, change, { type: "graphic.deleted", resource: `graphic/${id}`, data: toGraphic(current) });
  await deleteFiles(ctx.env, id);
  ctx.emitted.completedEventIds.push(...eventIds);
  return current;
}

/** Deletes a graphic's files from the bucket. Idempotent. */
export async function deleteFiles(env: Env, id: string): Promise<void> {
  for (;;) {
    const { objects } = await env.MEDIA.list({ prefix: folderOf(id), limit: DELETED_AT_ONCE });
    if (objects.length === 0) return;
    await env.MEDIA.delete(objects.map(({ key }) => key));
  }
}

/** Deletes what failed uploads have left: the files, then the row that led to them. */
export async function sweepAbandonedGraphics({ env, db, shard, now }: Shard & Pick<Ctx, "now">): Promise<void> {
  const abandoned = await db
    .select({ id: graphics.id, siteId: graphics.siteId })
    .from(graphics)
    .where(and(eq(graphics.ready, false), lt(graphics.created, now - ABANDONED_AFTER_MS)))
    .limit(SWEPT_AT_ONCE);
  for (const { id } of await leaveOutCopies({ env, db, shard }, abandoned)) {
    await deleteFiles(env, id);
    await db.delete(graphics).where(and(eq(graphics.id, id), eq(graphics.ready, false)));
  }
}

export function folderOf(id: string): string {
  return `graphics/${id}/`;
}

export function fileKey(id: string, path: string): string {
  return `${folderOf(id)}files/${path}`;
}

/** The object with what a graphic's frame needs to know, so that no viewer costs a query. */
export function frameKey(id: string): string {
  return `${folderOf(id)}frame.json`;
}
