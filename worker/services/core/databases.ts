import { and, eq, notInArray } from "drizzle-orm";
import type { Db, DbGuard } from "#db/client.ts";
import { isUnfinished, siteArchives } from "#db/schema/site-archives.ts";
import { siteMoves } from "#db/schema/databases/site-moves.ts";
import { allDbs, directoryDb, isSharded, shardDb, shardsOf, siteDb } from "#db/databases.ts";
import type { Ctx } from "./context.ts";

// What a request needs of another database than its site's. With one shard, all of it is `ctx.db`, at no cost.

/** The database of a site, or of the deployment if the id is no site's, such as "" or "global". Queries wait for the caller's check. */
export function dbOf(ctx: Ctx, siteId: string): Db {
  return isSharded(ctx.env) ? siteDb(ctx.env, siteId, confirmedFirst(ctx)) : ctx.db;
}

/** The context on another site, with its database. */
export function ctxOf(ctx: Ctx, siteId: string): Ctx {
  return { ...ctx, siteId, db: dbOf(ctx, siteId) };
}

/** The database of what belongs to no site. */
export function directoryOf(ctx: Ctx): Db {
  return isSharded(ctx.env) ? directoryDb(ctx.env, confirmedFirst(ctx)) : ctx.db;
}

/** Every database, for what is about all sites, or found before its site is known. */
export function everyDb(ctx: Ctx): [Db, ...Db[]] {
  return isSharded(ctx.env) ? allDbs(ctx.env, confirmedFirst(ctx)) : [ctx.db];
}

/** The rows of every database, found before their site is known. */
export function fromEveryDb<T>(ctx: Ctx, read: (db: Db) => PromiseLike<T[]>): Promise<T[]> {
  return isSharded(ctx.env) ? fromShards(ctx.env, read, confirmedFirst(ctx)) : Promise.resolve(read(ctx.db));
}

/** Every database with its number. */
export function everyShard(ctx: Ctx): [shard: number, db: Db][] {
  return [...shardsOf(ctx.env).keys()].map((shard) => [shard, shardDbOf(ctx, shard)]);
}

/** A shard's database, for a site that is being created. */
export function shardDbOf(ctx: Ctx, shard: number): Db {
  return isSharded(ctx.env) ? shardDb(ctx.env, shard, confirmedFirst(ctx)) : ctx.db;
}

/** The caller's check is a query of the request's own database, so it can't be batched with one of another. */
function confirmedFirst(ctx: Ctx): DbGuard {
  return { pending: () => undefined, settle: () => undefined, admit: async () => void (await ctx.caller()) };
}

/**
 * The rows of every shard, without a caller's check: for rows that are found by a secret. While a site moves, another shard than its own has a
 * copy of its rows, which isn't returned.
 */
export async function fromShards<T>(env: Env, read: (db: Db) => PromiseLike<T[]>, guard?: DbGuard): Promise<T[]> {
  const found = await Promise.all(
    [...shardsOf(env).keys()].map(async (shard): Promise<T[]> => {
      const rows = await read(shardDb(env, shard, guard));
      return rows.length === 0 ? rows : without(rows, await movingCopies(env, shard));
    }),
  );
  return found.flat();
}

/** One of the databases, as the cron goes through them. */
export interface Shard {
  env: Env;
  db: Db;
  shard: number;
}

/**
 * Leaves out what isn't a site yet, or any more: rows of a move's copy, and of an import that isn't complete. Such a copy lacks rows, and what
 * is written to that of a move has no effect, so nothing may follow from it, least of all a call of somebody else's API. The rows must have
 * been read before: a move or import that begins later has copied none of them.
 */
export async function leaveOutCopies<T>({ env, db, shard }: Shard, rows: T[]): Promise<T[]> {
  if (rows.length === 0) return rows;
  const imports = db
    .select({ siteId: siteArchives.siteId })
    .from(siteArchives)
    .where(and(isUnfinished, eq(siteArchives.kind, "import")));
  const [moving, importing] = await Promise.all([movingCopies(env, shard), imports]);
  return without(rows, new Set([...moving, ...importing.map(({ siteId }) => siteId)]));
}

/** The sites of which a shard has a copy, while they are on another one. */
async function movingCopies(env: Env, shard: number): Promise<Set<string>> {
  if (!isSharded(env)) return new Set();
  const moves = await directoryDb(env)
    .select()
    .from(siteMoves)
    .where(notInArray(siteMoves.phase, ["complete", "cancelled"]));
  const copies = moves.filter((move) => (move.switched === null ? move.toShard : move.fromShard) === shard);
  return new Set(copies.map(({ siteId }) => siteId));
}

function without<T>(rows: T[], siteIds: Set<string>): T[] {
  return rows.filter((row) => !siteIds.has(siteIdIn(row)));
}

function siteIdIn(row: unknown): string {
  return typeof row === "object" && row !== null && "siteId" in row ? String(row.siteId) : "";
}
