import { and, eq, lt, ne, notInArray, sql } from "drizzle-orm";
import { allDatabases, directoryDb, forgetShard, isSharded, rememberShard, shardDatabase, shardOf, shardsOf } from "#db/databases.ts";
import { sites } from "#db/schema/sites.ts";
import { siteMoves } from "#db/schema/databases/site-moves.ts";
import { siteShards, siteSlugs } from "#db/schema/databases/shards.ts";
import { conflict, Failure, rejectDuplicate } from "#worker/lib/errors.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { directoryOf, shardDbOf } from "#worker/services/core/databases.ts";

// Where new sites go. What the directory says comes first and the site's rows second, because no batch spans two databases: a crash in
// between leaves an entry without a site, which the cron removes, and never a site that nobody finds.

const TAKEN = "Another site has this slug";

/** Creates a site on the shard that has room for it: `create` gets its context. If it fails, the site's slug is free again. */
export async function placeSite<T>(ctx: Ctx, site: { id: string; slug: string }, create: (own: Ctx) => Promise<T>): Promise<T> {
  if (isSharded(ctx.env)) await ctx.caller();
  const shard = await chooseShard(ctx.env);
  const own: Ctx = { ...ctx, siteId: site.id, db: shardDbOf(ctx, shard) };
  if (shard === 1) return rejectTakenSlug(() => create(own));
  const directory = directoryOf(ctx);
  await rejectTakenSlug(() =>
    directory.batch([
      directory.insert(siteShards).values({ siteId: site.id, shard, created: ctx.now }),
      directory.insert(siteSlugs).values({ slug: site.slug, siteId: site.id, created: ctx.now }),
    ]),
  );
  rememberShard(site.id, shard);
  try {
    return await rejectTakenSlug(() => create(own));
  } catch (error) {
    await releaseUnlessCreated(own).catch(() => undefined);
    throw error;
  }
}

/** After an error: a commit whose response was lost may have succeeded. */
async function releaseUnlessCreated({ env, db, siteId }: Ctx): Promise<void> {
  if ((await db.$count(sites, eq(sites.id, siteId))) === 0) await releaseSite(env, siteId);
}

/**
 * The shard of a site that is about to be imported: the one it is on, else the `preferred` one, or the one with room, which the directory
 * then says.
 */
export async function placeImport(ctx: Ctx, siteId: string, preferred?: number): Promise<void> {
  if (!isSharded(ctx.env)) return;
  await ctx.caller();
  const shard = preferred ?? (await chooseShard(ctx.env));
  // One that has begun on the first shard, or a backup there, is found where it is.
  const isNew = sql`not exists (select 1 from sites where id = ${siteId}) and not exists (select 1 from site_archives
    where site_id = ${siteId} and (kind = 'backup' or kind = 'import' and status not in ('complete', 'failed')))`;
  if (shard !== 1)
    await directoryOf(ctx)
      .insert(siteShards)
      .select(sql`select ${siteId}, ${shard}, ${ctx.now} where ${isNew}`)
      .onConflictDoNothing();
  forgetShard(siteId);
}

/**
 * The shard of a new site. With weights, such as "1,3" for three of four sites on the second shard, by chance; a weight of 0 closes a shard.
 * Without, the one with the smallest database.
 */
async function chooseShard(env: Env): Promise<number> {
  const shards = [...shardsOf(env).keys()];
  if (shards.length === 1) return 1;
  const weights = weightsOf(env, shards);
  if (weights) return byChance(weights);
  const sizes = await Promise.all(
    shards.map(async (shard) => ({ shard, bytes: (await shardDatabase(env, shard).prepare("select 1").run()).meta.size_after })),
  );
  return sizes.reduce((least, each) => (each.bytes < least.bytes ? each : least)).shard;
}

/** Undefined unless there is a shard with a weight. Those without one get no sites. */
function weightsOf(env: Env, shards: number[]): [shard: number, weight: number][] | undefined {
  const given = env.TIFO_SHARD_WEIGHTS.split(",").map(Number);
  const weights = shards.flatMap((shard): [number, number][] => {
    const weight = given[shard - 1] ?? 0;
    return weight > 0 && Number.isFinite(weight) ? [[shard, weight]] : [];
  });
  return weights.length > 0 ? weights : undefined;
}

function byChance(weights: [shard: number, weight: number][]): number {
  let left = Math.random() * weights.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [shard, weight] of weights) if ((left -= weight) < 0) return shard;
  return weights.at(-1)?.[0] ?? 1;
}

/** Reserves a slug for a site that isn't on the first shard; there, the database itself keeps slugs unique. */
export async function reserveSlug(ctx: Ctx, siteId: string, slug: string): Promise<void> {
  if ((await shardOf(ctx.env, siteId)) === 1) return;
  const insert = directoryOf(ctx)
    .insert(siteSlugs)
    .values({ slug, siteId, created: ctx.now })
    .onConflictDoUpdate({ target: siteSlugs.slug, set: { created: ctx.now }, setWhere: eq(siteSlugs.siteId, siteId) })
    .returning({ slug: siteSlugs.slug });
  const reserved = await rejectTakenSlug(() => insert);
  if (reserved.length === 0) throw conflict(TAKEN);
}

/** Whether a site that is being imported may have a slug, which is then reserved: other shards' sites can't take it. */
export async function isSlugFree(ctx: Ctx, slug: string): Promise<boolean> {
  if (!isSharded(ctx.env)) return true;
  const [other] = await directoryOf(ctx)
    .select({ siteId: siteSlugs.siteId })
    .from(siteSlugs)
    .where(and(eq(siteSlugs.slug, slug), ne(siteSlugs.siteId, ctx.siteId)));
  if (other) return false;
  try {
    await reserveSlug(ctx, ctx.siteId, slug);
    return true;
  } catch (error) {
    if (error instanceof Failure && error.code === "conflict") return false;
    throw error;
  }
}

/** A 409 if another site of the deployment has the slug. */
export function rejectTakenSlug<T>(write: () => PromiseLike<T>): Promise<T> {
  return rejectDuplicate("sites.slug", TAKEN, () => rejectDuplicate("site_slugs.slug", TAKEN, async () => write()));
}

/** Removes what the directory says of a site that no longer exists. */
export async function releaseSite(env: Env, siteId: string): Promise<void> {
  if (!isSharded(env)) return;
  const directory = directoryDb(env);
  await directory.batch([
    directory.delete(siteSlugs).where(eq(siteSlugs.siteId, siteId)),
    directory.delete(siteShards).where(eq(siteShards.siteId, siteId)),
  ]);
  forgetShard(siteId);
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const PAGE = 500;

/** Removes, once an hour, what a crash has left in the directory: sites that don't exist, and slugs that their sites no longer have. */
export async function releaseSites({ env, now }: Pick<Ctx, "env" | "now">): Promise<void> {
  if (allDatabases(env).length === 1 || Math.floor(now / MINUTE_MS) % 60 !== 0) return;
  for (const shard of shardsOf(env).keys()) if (shard !== 1) await releaseOn(env, shard, now);
}

async function releaseOn(env: Env, shard: number, now: number): Promise<void> {
  const directory = directoryDb(env);
  for (let after = ""; ;) {
    // What is younger may still be in the making.
    const known = await directory
      .select({ siteId: siteShards.siteId })
      .from(siteShards)
      .where(and(eq(siteShards.shard, shard), sql`${siteShards.siteId} > ${after}`, lt(siteShards.created, now - HOUR_MS)))
      .orderBy(siteShards.siteId)
      .limit(PAGE);
    const ids = known.map(({ siteId }) => siteId);
    const slugs = await slugsOn(shardDatabase(env, shard), ids);
    for (const siteId of ids) {
      const current = slugs.get(siteId);
      if (current === undefined) await releaseSite(env, siteId);
      else if (current !== null)
        await directory
          .delete(siteSlugs)
          .where(and(eq(siteSlugs.siteId, siteId), ne(siteSlugs.slug, current), lt(siteSlugs.created, now - HOUR_MS)));
    }
    const last = ids.at(-1);
    if (last === undefined || ids.length < PAGE) return;
    after = last;
  }
}

/** The slugs of a shard's sites; null for a site that is being imported or deleted, or that has backups. */
async function slugsOn(database: D1Database, ids: string[]): Promise<Map<string, string | null>> {
  const { results } = await database
    .prepare(
      `select value as id, (select slug from sites where id = value) as slug from json_each(?1)
        where exists (select 1 from sites where id = value)
          or exists (select 1 from sandboxes where site_id = value)
          or exists (select 1 from site_archives where site_id = value and (kind = 'backup' or kind = 'import' and status not in ('complete', 'failed')))`,
    )
    .bind(JSON.stringify(ids))
    .all<{ id: string; slug: string | null }>();
  return new Map(results.map(({ id, slug }) => [id, slug]));
}

/** Whether a site is being moved between databases. */
export async function isMoving(env: Env): Promise<boolean> {
  return isSharded(env) && (await directoryDb(env).$count(siteMoves, notInArray(siteMoves.phase, ["complete", "cancelled"]))) > 0;
}

/** Throws if the directory names a shard that isn't bound, before anything is deleted because no database has it. */
export async function requireAllShards(env: Env): Promise<void> {
  const numbers = [...shardsOf(env).keys()];
  const [missing] = await directoryDb(env)
    .select({ shard: siteShards.shard })
    .from(siteShards)
    .where(sql`${siteShards.shard} not in (select value from json_each(${JSON.stringify(numbers)}))`)
    .limit(1);
  if (missing) throw new Error(`The database of shard ${missing.shard} isn't bound: the Worker needs the binding DB_${missing.shard}`);
}
