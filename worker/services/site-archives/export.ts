import { and, eq, gt, sql } from "drizzle-orm";
import { type ArchiveRow, siteArchives } from "#db/schema/site-archives.ts";
import type { ArchivePiece } from "#db/types.ts";
import { graphics } from "#db/schema/graphics.ts";
import { media } from "#db/schema/media.ts";
import { seal } from "#worker/lib/crypto/crypto.ts";
import { type Ctx, whereVersion } from "#worker/services/core/context.ts";
import { frameKey } from "#worker/services/graphics/graphics.ts";
import { headerOf, keyOf, writeLine, writePiece } from "./format.ts";
import type { StoredRow } from "./secrets.ts";
import { ARCHIVED, type ArchivedTable, columnsOf, nameOf } from "./tables.ts";

/** The purpose under which the secrets of an archive are sealed. */
export const SECRETS_PURPOSE = "site archive";
/** Rows of a piece, and the characters after which it ends. */
const PIECE_ROWS = 500;
const PIECE_CHARS = 1_000_000;

/** Writes the next piece of an export, then records it: a crash in between leaves only an unreferenced object. Undefined if another worker was faster. */
export async function exportPiece(ctx: Ctx, job: ArchiveRow, now: number): Promise<ArchiveRow | undefined> {
  const table = ARCHIVED[job.tableIndex];
  const number = job.pieces.length;
  if (number === 0) return append(ctx, job, writeLine(headerOf(job.siteId, job.created)), { piece: 0 }, now);
  if (!table) {
    const end = writeLine({ end: true, pieces: job.piece, rows: job.rows });
    return append(ctx, job, end, { status: "complete", completed: now, modified: now }, now);
  }
  const rows = await readRows(ctx, table, job.lastRow);
  const { lines, taken } = await linesOf(ctx, table, rows);
  const last = rows[taken - 1];
  const isDone = taken === rows.length && rows.length < PIECE_ROWS;
  const position = isDone ? { tableIndex: job.tableIndex + 1, lastRow: 0 } : { lastRow: Number(last?.position ?? job.lastRow) };
  if (taken === 0) return advance(ctx, job, { ...position, lease: now + LEASE_MS });
  const text = await writePiece(job.piece, nameOf(table), lines, taken);
  return append(ctx, job, text, { ...position, piece: job.piece + 1, rows: job.rows + taken }, now);
}

/** How long a job is locked after the last sign of life from its worker. */
export const LEASE_MS = 30_000;

/** The rows of a table in the order in which they were inserted, as they are stored. */
async function readRows(ctx: Ctx, table: ArchivedTable, after: number): Promise<StoredRow[]> {
  // Few rows, as most sites have, are found by an index and sorted. The unary plus keeps SQLite from that for the pieces of many, which
  // it would sort again each time: the table is read once.
  const site = after === 0 ? sql`${table.site}` : sql`+${table.site}`;
  const rowid = sql<number>`${table.table}.rowid`;
  const columns = Object.fromEntries(
    [...columnsOf(table)].map(([name, column]) => [name, sql<string | number | null>`${column}`.as(name)]),
  );
  return ctx.db
    .select({ ...columns, position: rowid.as("position") })
    .from(table.table)
    .where(and(sql`${site} = ${ctx.siteId}`, gt(rowid, after)))
    .orderBy(rowid)
    .limit(PIECE_ROWS);
}

/** The lines of as many rows as fit into a piece, with their secrets sealed. */
async function linesOf(ctx: Ctx, table: ArchivedTable, rows: StoredRow[]): Promise<{ lines: string[]; taken: number }> {
  const secretNames = table.secret.map(({ name }) => name);
  const hidden = new Set([...secretNames, ...table.blank.map(({ name }) => name), "position"]);
  const secrets: Record<string, StoredRow> = {};
  const lines: string[] = [];
  let taken = 0;
  for (let chars = 0; taken < rows.length && chars < PIECE_CHARS; taken++) {
    const row = rows[taken] ?? {};
    const line = writeLine({ row: Object.fromEntries(Object.entries(row).filter(([name, value]) => !hidden.has(name) && value !== null)) });
    lines.push(line);
    chars += line.length;
    if (table.table === media) lines.push(...(await fileLine(ctx, String(row.id))));
    // Of a graphic's files the one that is stored last: it shows that the bucket was copied.
    if (table.table === graphics) lines.push(...(await fileLine(ctx, frameKey(String(row.id)))));
    const own = secretNames.flatMap((name): [string, string | number][] => {
      const value = row[name] ?? null;
      return value === null ? [] : [[name, value]];
    });
    if (own.length > 0) secrets[keyOf(table, row)] = Object.fromEntries(own);
  }
  if (Object.keys(secrets).length > 0) {
    const content = JSON.stringify({ siteId: ctx.siteId, table: nameOf(table), rows: secrets });
    lines.push(writeLine({ sealed: await seal(ctx.env, SECRETS_PURPOSE, content) }));
  }
  return { lines, taken };
}

/** What the bucket has for an uploaded file. */
async function fileLine(ctx: Ctx, file: string): Promise<string[]> {
  const object = await ctx.env.MEDIA.head(file);
  const md5 = object?.checksums.toJSON().md5;
  return object && md5 !== undefined ? [writeLine({ file, bytes: object.size, md5 })] : [];
}

async function append(ctx: Ctx, job: ArchiveRow, text: string, change: Partial<ArchiveRow>, now: number): Promise<ArchiveRow | undefined> {
  const bytes = new TextEncoder().encode(text);
  // The version makes the key unique, so that a late worker overwrites nothing.
  const key = `${prefixOf(job)}${job.pieces.length}-${job.version}`;
  await ctx.env.MEDIA.put(key, bytes, { httpMetadata: { contentType: "text/x-ndjson" } });
  const pieces = [...job.pieces, { key, bytes: bytes.byteLength }];
  if (change.status === "complete" && job.kind === "backup") await putManifest(ctx, job, pieces);
  return advance(ctx, job, { pieces, bytes: job.bytes + bytes.byteLength, lease: now + LEASE_MS, ...change });
}

/** Records a step of a job that nobody else has taken. */
export async function advance(ctx: Ctx, job: ArchiveRow, change: Partial<ArchiveRow>): Promise<ArchiveRow | undefined> {
  const [next] = await ctx.db
    .update(siteArchives)
    .set({ attempts: 0, ...change, version: job.version + 1 })
    .where(and(whereVersion(ctx, siteArchives, job), eq(siteArchives.status, job.status)))
    .returning();
  return next;
}

/** Where the objects of a job are. */
export function prefixOf({ id, siteId, kind }: Pick<ArchiveRow, "id" | "siteId" | "kind">): string {
  return kind === "backup" ? `backups/${siteId}/${id}/` : `site-archives/${id}/`;
}

/** Names a backup's pieces in their order, so that it can be restored without the database. */
async function putManifest({ env }: Ctx, job: ArchiveRow, pieces: ArchivePiece[]): Promise<void> {
  const { id, siteId, created } = job;
  const manifest = { backupId: id, siteId, created, pieces };
  await env.MEDIA.put(`${prefixOf(job)}manifest.json`, JSON.stringify(manifest), { httpMetadata: { contentType: "application/json" } });
}
