import { createDb, type D1Usage, type Db, type DbGuard, type Query, type Results } from "./client.ts";
import type { RequestSessions } from "./sessions.ts";
import { SharedReads } from "./shared-reads.ts";
import { Failure } from "#worker/lib/errors.ts";

// The only file that names a D1 binding: everything else asks for the database of a site, or for the directory. `DB` is the directory and
// the first shard. Bindings named `DB_2`, `DB_3` … are further shards, and optional. With one shard, nothing is ever looked up.

const FURTHER_SHARD = /^DB_([1-9]\d*)$/;
const SITE_ID = /^[0-9a-f]{24}$/;

/** How long an isolate relies on where a site is. A site that moves stays closed for longer. */
export const PLACED_MS = 60_000;
const MAX_PLACED = 10_000;

// A site isn't derived from its id, because an import keeps ids, and because sites move. The directory is asked once per isolate, site
// and minute: the first request of a site costs one more round trip than with one shard, the others none.
const placed = new Map<string, { shard: number; until: number }>();

const bound = new WeakMap<object, Map<number, D1Database>>();

/** The deployment's shards by number; the first is the directory. */
export function shardsOf(env: Env): Map<number, D1Database> {
  const known = bound.get(env);
  if (known) return known;
  const further = Object.keys(env).flatMap((name): [number, D1Database][] => {
    const shard = Number(FURTHER_SHARD.exec(name)?.[1]);
    if (!(shard >= 2)) return [];
    const binding: unknown = Reflect.get(env, name);
    return isDatabase(binding) ? [[shard, binding]] : [];
  });
  const shards = new Map([[1, env.DB], ...further.sort(([one], [other]) => one - other)]);
  bound.set(env, shards);
  return shards;
}

function isDatabase(binding: unknown): binding is D1Database {
  return typeof binding === "object" && binding !== null && "prepare" in binding && "batch" in binding;
}

/** Whether sites may be on different databases. */
export function isSharded(env: Env): boolean {
  return shardsOf(env).size > 1;
}

/** A shard's database. Throws if it isn't bound, rather than to look for its sites elsewhere. */
export function shardDatabase(env: Env, shard: number): D1Database {
  const database = shardsOf(env).get(shard);
  if (!database) throw new Error(`The database of shard ${shard} isn't bound: the Worker needs the binding DB_${shard}`);
  return database;
}

/** Drizzle over a shard, for work that is about no site, or about one that isn't in the directory yet. */
export function shardDb(env: Env, shard: number, guard?: DbGuard): Db {
  return createDb(shardDatabase(env, shard), guard);
}

/** The number of the shard that has a site's rows; 1 for a site that doesn't exist. */
export async function shardOf(env: Env, siteId: string, usage?: D1Usage): Promise<number> {
  if (!isSharded(env) || !SITE_ID.test(siteId)) return 1;
  return shardInCache(siteId) ?? (await lookUp(env, siteId, usage));
}

/** The database that holds a site's rows; the directory for any text that is no site's id, which stands for the deployment. */
export function siteDatabase(env: Env, siteId: string, usage?: D1Usage): D1Database | Promise<D1Database> {
  if (!isSharded(env) || !SITE_ID.test(siteId)) return env.DB;
  const shard = shardInCache(siteId);
  return shard === undefined ? lookUp(env, siteId, usage).then((found) => shardDatabase(env, found)) : shardDatabase(env, shard);
}

function shardInCache(siteId: string): number | undefined {
  const known = placed.get(siteId);
  return known && known.until > Date.now() ? known.shard : undefined;
}

/**
 * Asks the directory; each time while the site moves, so that nothing is read where it was once it has been written where it is. What doesn't
 * exist isn't remembered, so that invented ids take no memory, and a new site is found at once.
 */
async function lookUp(env: Env, siteId: string, usage?: D1Usage): Promise<number> {
  if (usage) usage.roundTrips += 1;
  if (usage) usage.statements += 1;
  const [row] = await env.DB.prepare(
    `select coalesce((select shard from site_shards where site_id = ?1), (select 1 from sites where id = ?1)) as shard,
      exists (select 1 from site_moves where site_id = ?1 and phase not in ('complete', 'cancelled')) as moves`,
  )
    .bind(siteId)
    .raw<[number | null, number]>();
  const [shard = null, moves = 0] = row ?? [];
  if (shard === null) return 1;
  if (moves === 0) rememberShard(siteId, shard);
  return shard;
}

/** Notes where a site is, once the directory says so. */
export function rememberShard(siteId: string, shard: number): void {
  if (placed.size >= MAX_PLACED) placed.clear();
  placed.set(siteId, { shard, until: Date.now() + PLACED_MS });
}

export function forgetShard(siteId: string): void {
  placed.delete(siteId);
}

/** Drizzle over the database of a site. */
export function siteDb(env: Env, siteId: string, guard?: DbGuard, usage?: D1Usage): Db {
  if (!isSharded(env)) return createDb(env.DB, guard, usage);
  return createDb((by) => siteDatabase(env, siteId, by), guard, usage, { isTemporary: waitForMove(siteId) });
}

/** In the message of a write's error while its site is about to be on another database (`services/site-moves/triggers.ts`). */
export const SITE_MOVING = "site_moving";
const MOVE_PAUSE_MS = 100;
const MAX_MOVE_PAUSES = 100;

/**
 * Whether a failed batch should run again, after a pause: the site's database is about to be another one. A trigger has undone all of the
 * batch, and what the caller has read is the same there. Throws a 503 after ten seconds, if the move hasn't ended.
 */
function waitForMove(siteId: string): (error: unknown) => Promise<boolean> {
  let pauses = 0;
  return async (error) => {
    if (!(error instanceof Error) || !error.message.includes(SITE_MOVING)) return false;
    if (++pauses > MAX_MOVE_PAUSES)
      throw new Failure("unavailable", "The site is being moved to another database", { headers: { "Retry-After": "2" } });
    await new Promise((resolve) => setTimeout(resolve, MOVE_PAUSE_MS));
    forgetShard(siteId);
    return true;
  };
}

interface RequestDb {
  env: Env;
  siteId: string;
  guard: DbGuard;
  usage: D1Usage;
  /** If the deployment reads from replicas. */
  sessions: RequestSessions | undefined;
  /** Keeps work of a request alive that shares its reads with others; undefined for one that doesn't. */
  sharing: ((work: Promise<unknown>) => void) | undefined;
}

/** Drizzle over the database of a site, for a request. */
export function requestDb({ env, siteId, guard, usage, sessions, sharing }: RequestDb): Db {
  const open = async (by: D1Usage) => {
    if (!sessions) return siteDatabase(env, siteId, by);
    const shard = await shardOf(env, siteId, by);
    return sessions.open(shardDatabase(env, shard), shard);
  };
  const source = sessions || isSharded(env) ? open : env.DB;
  return createDb(source, guard, usage, {
    sessions,
    isTemporary: isSharded(env) ? waitForMove(siteId) : undefined,
    share: sharing && ((queries, send) => shared(siteId, queries, send, sessions, sharing)),
  });
}

const sharedReads = new SharedReads<{ results: Results; bookmark: string | undefined }>();

async function shared(
  siteId: string,
  queries: Query[],
  send: () => Promise<Results>,
  sessions: RequestSessions | undefined,
  defer: (work: Promise<unknown>) => void,
): Promise<Results> {
  const from = sessions ? sessions.sharedFrom() : "";
  if (from === undefined) return send();
  const key = [siteId, from, ...queries.flatMap(({ sql, params }) => [sql, JSON.stringify(params)])].join("\n");
  const { results, bookmark } = await sharedReads.read(key, async () => ({ results: await send(), bookmark: sessions?.bookmark() }), defer);
  sessions?.follow(bookmark);
  return results;
}

/** Whether requests that may read old rows read them from D1's replicas. */
export function readsReplicas(env: Env): boolean {
  return env.TIFO_READ_REPLICAS === "on";
}

/** Drizzle over the database of what belongs to no site, or is looked up before the site is known. */
export function directoryDb(env: Env, guard?: DbGuard): Db {
  return createDb(env.DB, guard);
}

/** Every database of the deployment, for what is about all sites; the directory comes first. */
export function allDbs(env: Env, guard?: DbGuard): [Db, ...Db[]] {
  const [first, ...further] = allDatabases(env);
  return [createDb(first, guard), ...further.map((database) => createDb(database, guard))];
}

/** Every database of the deployment; the directory comes first. */
export function allDatabases(env: Env): [D1Database, ...D1Database[]] {
  const [, ...further] = shardsOf(env).values();
  return [env.DB, ...further];
}
