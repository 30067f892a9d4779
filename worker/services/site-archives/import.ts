import { and, eq, ne, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { type ArchiveRow, siteArchives } from "#db/schema/site-archives.ts";
import { sites } from "#db/schema/sites.ts";
import { open } from "#worker/lib/crypto/crypto.ts";
import { batchAll, commitIfUnchanged, type Ctx, updateRow, whereVersion } from "#worker/services/core/context.ts";
import { wonRace } from "#worker/lib/errors.ts";
import { isSlugFree } from "#worker/services/sites/placement.ts";
import { advance, LEASE_MS, SECRETS_PURPOSE } from "./export.ts";
import { checkRow, InvalidArchive, keyOf, Secrets } from "./format.ts";
import { checkHeader, type Part, type Piece, readParts } from "./read-archive.ts";
import { toArchiveEvent } from "./schemas.ts";
import type { StoredRow } from "./secrets.ts";
import { ARCHIVED, type ArchivedTable, columnsOf, nameOf } from "./tables.ts";
import { statementChunks } from "#worker/lib/statement-chunks.ts";

/**
 * Takes the next steps of an import, at most this many; returns the job as it is then, or undefined if another worker was faster. First
 * everything is checked, and nothing written. Then rows are written piece by piece; the site's own row is the last, and shows all of it at
 * once. Throws InvalidArchive.
 */
export async function importParts(ctx: Ctx, job: ArchiveRow, steps: number, clock: () => number): Promise<ArchiveRow | undefined> {
  const source = { env: ctx.env, pieces: job.pieces, size: job.bytes };
  let current = job.status === "pending" ? await advance(ctx, job, { status: "checking" }) : job;
  const phase = current?.status;
  let taken = 0;
  for await (const { part, offset } of readParts(source, job.offset)) {
    if (!current) return undefined;
    const next = { offset, lease: clock() + LEASE_MS };
    current = phase === "writing" ? await write(ctx, current, part, next) : await check(ctx, current, part, next);
    // The next phase starts again from the first part.
    if (current?.status !== phase || ++taken === steps) return current;
  }
  throw new InvalidArchive("It has no end");
}

type Position = { offset: number; lease: number };

async function check(ctx: Ctx, job: ArchiveRow, part: Part, next: Position): Promise<ArchiveRow | undefined> {
  if (part.kind === "header") {
    checkHeader(part.header, ctx.siteId);
    return advance(ctx, job, next);
  }
  if (part.kind === "end") {
    if (part.pieces !== job.piece || part.rows !== job.rows || next.offset !== job.bytes) throw new InvalidArchive("Pieces are missing");
    return advance(ctx, job, { ...next, status: "writing", offset: 0, piece: 0, rows: 0 });
  }
  checkOrder(job, part);
  for (const row of part.rows) checkRow(part.table, row, ctx.siteId);
  for (const file of part.files) await checkFile(ctx, file);
  if (part.table.table === sites) await requireFreeSlug(ctx, part.rows);
  return advance(ctx, job, { ...next, piece: job.piece + 1, rows: job.rows + part.rows.length });
}

async function write(ctx: Ctx, job: ArchiveRow, part: Part, next: Position): Promise<ArchiveRow | undefined> {
  if (part.kind === "header") return advance(ctx, job, next);
  if (part.kind === "end") return complete(ctx, job, next);
  checkOrder(job, part);
  const rows = job.hadSite && part.table.isRevocable ? [] : await restored(ctx, part);
  const statements = statementsFor(ctx, part.table, rows);
  const recorded = ctx.db
    .update(siteArchives)
    .set({ ...next, piece: job.piece + 1, rows: job.rows + part.rows.length, attempts: 0, version: job.version + 1 })
    .where(whereVersion(ctx, siteArchives, job))
    .returning();
  const [[recordedJob], ...inserted] = await ctx.db.batch([recorded, ...statements]);
  const skipped = part.rows.length - inserted.reduce((sum, each) => sum + each.length, 0);
  if (!recordedJob || skipped === 0) return recordedJob;
  const lost = rows.length - (part.rows.length - skipped);
  if (!job.hadSite && lost > 0)
    throw new InvalidArchive(`${lost} rows of ${nameOf(part.table)} conflict with another site, or belong to it`);
  return advance(ctx, recordedJob, { skipped: recordedJob.skipped + skipped });
}

function checkOrder(job: ArchiveRow, piece: Piece): void {
  if (piece.number !== job.piece) throw new InvalidArchive(`Piece ${job.piece} is missing`);
}

async function checkFile(ctx: Ctx, { file, bytes, md5 }: Piece["files"][number]): Promise<void> {
  const object = await ctx.env.MEDIA.head(file);
  if (!object) throw new InvalidArchive(`The bucket has no file ${file}; copy the files first`);
  if (object.size !== bytes || object.checksums.toJSON().md5 !== md5) throw new InvalidArchive(`The bucket has another file ${file}`);
}

/** A slug is unique in a deployment. */
async function requireFreeSlug(ctx: Ctx, rows: StoredRow[]): Promise<void> {
  const [row] = rows;
  if (!row || rows.length > 1) throw new InvalidArchive("An archive has one site");
  const slug = String(row.slug);
  const [other] = await ctx.db
    .select({ id: sites.id })
    .from(sites)
    .where(and(eq(sites.slug, slug), ne(sites.id, ctx.siteId)));
  if (other || !(await isSlugFree(ctx, slug))) throw new InvalidArchive("Another site has this slug");
}

/** The rows with their secrets, if this deployment can read them; else with new ones, or without the rows that consist of them. */
async function restored(ctx: Ctx, { table, rows, sealed }: Piece): Promise<StoredRow[]> {
  if (table.secret.length === 0) return rows;
  const secrets = await openSecrets(ctx, table, sealed);
  const complete = rows.map(async (row): Promise<StoredRow[]> => {
    const found = secrets?.[keyOf(table, row)];
    if (found) return [{ ...row, ...found }];
    const needsNone = secrets !== null && table.secret.every((column) => !column.notNull);
    if (needsNone) return [row];
    return table.replace ? [{ ...row, ...(await table.replace(ctx.env, { raffle_draw: null, ...row })) }] : [];
  });
  return (await Promise.all(complete)).flat();
}

/** Null if they were sealed by another deployment, or for other rows than these. */
async function openSecrets(ctx: Ctx, table: ArchivedTable, sealed: string | null): Promise<Record<string, StoredRow> | null> {
  if (sealed === null) return {};
  const text = await open(ctx.env, SECRETS_PURPOSE, sealed).catch(() => null);
  if (text === null) return null;
  const { siteId, table: name, rows } = Secrets.parse(JSON.parse(text));
  return siteId === ctx.siteId && name === nameOf(table) ? rows : null;
}

/** Statements that insert the rows which aren't there, and return one row for each. Nothing that exists is changed. */
function statementsFor(ctx: Ctx, table: ArchivedTable, rows: StoredRow[]) {
  const columns = [...columnsOf(table)];
  const texts = rows.map((row) => JSON.stringify(columns.map(([name, column]) => row[name] ?? defaultOf(column))));
  const fields = sql.join(
    columns.map((_, index) => valueAt(index)),
    sql`, `,
  );
  const isOwn = table.parents.map(({ column, of }) => {
    const value = valueAt(columns.findIndex(([name]) => name === column.name));
    return sql`exists (select 1 from ${of} where ${of.id} = ${value} and ${of.siteId} = ${ctx.siteId})`;
  });
  const condition = and(sql`true`, ...isOwn) ?? sql`true`;
  return statementChunks(texts).map((chunk) =>
    ctx.db
      .insert(table.table)
      .select(sql`select ${fields} from json_each(${`[${chunk.join(",")}]`}) as line where ${condition}`)
      .onConflictDoNothing()
      .returning({ done: sql<number>`1`.as("done") }),
  );
}

function valueAt(index: number): SQL {
  return sql`line.value ->> ${sql.raw(`'$[${index}]'`)}`;
}

/** What a column has in rows of a release without it. */
function defaultOf(column: SQLiteColumn): unknown {
  const value: unknown = column.default;
  return value === undefined || value === null ? null : column.mapToDriverValue(value);
}

async function complete(ctx: Ctx, job: ArchiveRow, { offset, lease }: Position): Promise<ArchiveRow> {
  const next: ArchiveRow = { ...job, offset, lease, status: "complete", completed: ctx.now, modified: ctx.now, version: job.version + 1 };
  const event = { type: "site.imported" as const, resource: `sitearchive/${job.id}`, data: toArchiveEvent(next) };
  await wonRace(() => commitIfUnchanged(ctx, updateRow(ctx, siteArchives, job, next), event));
  return next;
}

/** Removes what a failed import has written, unless the site exists. */
export async function undoImport(ctx: Ctx): Promise<void> {
  const isAbsent = sql`not exists (select 1 from ${sites} where ${sites.id} = ${ctx.siteId})`;
  await batchAll(
    ctx.db,
    ARCHIVED.toReversed()
      .filter(({ table }) => table !== sites)
      .map(({ table, site }) => ctx.db.delete(table).where(and(eq(site, ctx.siteId), isAbsent))),
  );
}
