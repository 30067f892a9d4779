import { and, eq, isNull, lt, lte, notInArray, sql } from "drizzle-orm";
import { directoryDb, forgetShard, PLACED_MS, shardDatabase, shardDb } from "#db/databases.ts";
import { memberExports } from "#db/schema/commerce/exports.ts";
import { siteArchives } from "#db/schema/site-archives.ts";
import { siteMoves, type SiteMoveRow } from "#db/schema/databases/site-moves.ts";
import { siteLogOf } from "#worker/durable-objects/stubs.ts";
import { describeError, logError } from "#worker/lib/log.ts";
import type { SiteMoveJob } from "#worker/queues/messages.ts";
import { differencesOf } from "./compare.ts";
import { copyChanges, copyChunk, copyLast, deleteRows, type Route, takeTurn, writeAs } from "./copy.ts";
import { createFence, createLog, createShade, dropFence, dropLog, dropShade } from "./triggers.ts";

// A move is a row in the directory and one worker at a time, which takes its steps. Each step can be repeated: one that died is continued by
// the next message, or by the cron.

export const LEASE_MS = 60_000;
/** Chunks that one message copies. */
const STEPS_PER_RUN = 20;
/** Attempts without progress before a move is cancelled. */
const MAX_ATTEMPTS = 10;
const PAUSE_SECONDS = 5;
/** The pause after a failure, doubled with each further one up to the lease, so that ten failures bridge some minutes. */
const FAILURE_PAUSE_MS = 1_000;

export const unfinishedMove = notInArray(siteMoves.phase, ["complete", "cancelled"]);

/** Enqueues a move's next steps; safe to repeat, since only one worker can hold its lease. */
export async function enqueueMove(env: Env, siteId: string, delaySeconds = 0): Promise<void> {
  await env.JOBS.send({ kind: "siteMove", siteId } satisfies SiteMoveJob, { delaySeconds });
}

/** Enqueues moves again whose worker died or whose message was lost. */
export async function resumeMoves({ env, now }: { env: Env; now: number }): Promise<void> {
  const stuck = await directoryDb(env)
    .select({ siteId: siteMoves.siteId })
    .from(siteMoves)
    .where(and(unfinishedMove, lt(siteMoves.lease, now)));
  for (const { siteId } of stuck) await enqueueMove(env, siteId);
}

/** Continues a move where it is, until it has ended, has to wait, or is handed over to the next message. A no-op if a worker holds its lease. */
export async function continueMove(env: Env, siteId: string, clock: () => number): Promise<void> {
  const claimed = await claim(env, siteId, clock());
  if (!claimed) return;
  forgetShard(siteId);
  let move: SiteMoveRow | undefined = claimed;
  try {
    const route = routeOf(env, claimed);
    await takeTurn(route);
    const isHopeless = claimed.attempts > MAX_ATTEMPTS && claimed.switched === null && claimed.phase !== "cancelling";
    if (isHopeless) move = await advance(env, claimed, { phase: "cancelling" });
    let waits = false;
    // A phase that begins has a message of its own: a Worker may send 1,000 queries for one.
    for (let steps = 0; move?.phase === claimed.phase && !waits && steps < STEPS_PER_RUN; steps++)
      [move, waits] = await take(env, route, move, clock);
    if (!move || isFinal(move)) return;
    await advance(env, move, { lease: clock() });
    await enqueueMove(env, siteId, waits ? PAUSE_SECONDS : 0);
  } catch (error) {
    logError("site_move_failed", error, { siteId, phase: claimed.phase });
    await pauseAfterFailure(env, move ?? claimed, { message: describeError(error), now: clock() }).catch(() => undefined);
    throw error;
  }
}

/** Releases a move whose worker has failed, after a pause, and says why it waits. If this fails too, the lease expires, and the cron continues. */
async function pauseAfterFailure(env: Env, move: SiteMoveRow, { message, now }: { message: string; now: number }): Promise<void> {
  const pauseMs = Math.min(LEASE_MS, FAILURE_PAUSE_MS * 2 ** move.attempts);
  await directoryDb(env)
    .update(siteMoves)
    .set({ message, lease: now + pauseMs })
    .where(and(eq(siteMoves.siteId, move.siteId), eq(siteMoves.version, move.version)));
  await enqueueMove(env, move.siteId, Math.ceil(pauseMs / 1000));
}

type Step = [move: SiteMoveRow | undefined, waits: boolean];

async function take(env: Env, route: Route, move: SiteMoveRow, clock: () => number): Promise<Step> {
  switch (move.phase) {
    case "starting":
      return [await start(env, route, move), false];
    case "copying":
      return copy(env, route, move, clock());
    case "fenced":
      return [await moveOver(env, route, move, clock), false];
    case "switched":
      return [await clear(env, route, move, clock()), false];
    case "closing":
      return close(env, route, move, clock());
    case "cancelling":
      return [await putBack(env, route, move, clock()), false];
    case "complete":
    case "cancelled":
      return [move, false];
  }
}

/** From now on, what changes is noted, and the copy has no effect. */
async function start(env: Env, route: Route, move: SiteMoveRow): Promise<SiteMoveRow | undefined> {
  await run(route, route.to, createShade(route.siteId));
  await run(route, route.from, ["delete from site_move_changes", ...createLog(route.siteId)]);
  return advance(env, move, { phase: "copying", tableIndex: 0, lastRow: 0, rows: 0 });
}

async function copy(env: Env, route: Route, move: SiteMoveRow, now: number): Promise<Step> {
  const left = await copyChanges(route);
  const next = await copyChunk(route, move);
  if (next) return [await advance(env, move, next), false];
  // A site that is in use always changes: what little is left is copied while its writes wait.
  if (left === "much") return [move, false];
  // Until then, isolates may rely on where the site was before the move began.
  if (now < move.started + PLACED_MS) return [move, true];
  const waitsFor = await unfinishedJobs(env, move);
  if (waitsFor !== null) return [await advance(env, move, { message: waitsFor }), true];
  return [await advance(env, move, { phase: "fenced", message: null }), false];
}

/** The last phase: nothing is written, what is left is copied, both are compared, and the directory says that the site is there. */
async function moveOver(env: Env, route: Route, move: SiteMoveRow, clock: () => number): Promise<SiteMoveRow | undefined> {
  await run(route, route.to, createShade(route.siteId));
  await run(route, route.from, createFence(route.siteId));
  // One that has begun in between would go on there with positions of here.
  const waitsFor = await unfinishedJobs(env, move);
  if (waitsFor !== null) {
    await run(route, route.from, dropFence());
    return advance(env, move, { phase: "copying", message: waitsFor });
  }
  while ((await copyChanges(route)) !== "none");
  await copyLast(route);
  const different = await differencesOf(route);
  if (different.length > 0) return advance(env, move, { phase: "cancelling", message: `The copy differs in ${different.join(", ")}` });
  await run(route, route.to, dropShade());
  const switched = await switchOver(env, route, move, clock());
  if (switched) await siteLogOf(env, route.siteId).nudge();
  return switched;
}

/** In one batch of the directory, unless the move was cancelled. */
async function switchOver(env: Env, { siteId, to }: Route, move: SiteMoveRow, now: number): Promise<SiteMoveRow | undefined> {
  const slug = await to.prepare("select slug from sites where id = ?1").bind(siteId).first<string>("slug");
  const directory = shardDatabase(env, 1);
  const isSwitched = `exists (select 1 from site_moves where site_id = ?1 and phase = 'switched' and version = ${move.version})`;
  const entries =
    move.toShard === 1
      ? [
          directory.prepare(`delete from site_shards where site_id = ?1 and ${isSwitched}`).bind(siteId),
          directory.prepare(`delete from site_slugs where site_id = ?1 and ${isSwitched}`).bind(siteId),
        ]
      : [
          directory
            .prepare(
              `insert into site_shards (site_id, shard, created) select ?1, ?2, ?3 where ${isSwitched}
                on conflict (site_id) do update set shard = excluded.shard, created = excluded.created`,
            )
            .bind(siteId, move.toShard, now),
          directory
            .prepare(
              `insert into site_slugs (slug, site_id, created) select ?2, ?1, ?3 where ${isSwitched}
                on conflict (slug) do update set created = excluded.created where site_id = excluded.site_id`,
            )
            .bind(siteId, slug, now),
        ];
  await directory.batch([
    directory
      .prepare(
        `update site_moves set phase = 'switched', switched = ?2, attempts = 0, message = null
          where site_id = ?1 and phase = 'fenced' and version = ${move.version}`,
      )
      .bind(siteId, now),
    ...entries,
  ]);
  forgetShard(siteId);
  return current(env, move);
}

/** Deletes what the site had where it was. Nothing reads or writes it any more. */
async function clear(env: Env, route: Route, move: SiteMoveRow, now: number): Promise<SiteMoveRow | undefined> {
  await run(route, route.from, dropLog());
  if (!(await deleteRows(route, route.from))) return advance(env, move, { lease: now + LEASE_MS });
  return advance(env, move, { phase: "closing" });
}

/** The fence stays a while, for what had found the old database before and writes only now. */
async function close(env: Env, route: Route, move: SiteMoveRow, now: number): Promise<Step> {
  if (now < (move.switched ?? now) + PLACED_MS) return [move, true];
  await run(route, route.from, ["delete from site_move_changes", ...dropFence()]);
  return [await advance(env, move, { phase: "complete", completed: now }), false];
}

/** Lets the site's writes through at once, and deletes the copy. */
async function putBack(env: Env, route: Route, move: SiteMoveRow, now: number): Promise<SiteMoveRow | undefined> {
  await run(route, route.from, [...dropFence(), ...dropLog(), "delete from site_move_changes"]);
  await run(route, route.to, createShade(route.siteId));
  if (!(await deleteRows(route, route.to))) return advance(env, move, { lease: now + LEASE_MS });
  await run(route, route.to, dropShade());
  return advance(env, move, { phase: "cancelled", completed: now });
}

/** Jobs that remember a position in the database. */
async function unfinishedJobs(env: Env, { siteId, fromShard }: SiteMoveRow): Promise<string | null> {
  const db = shardDb(env, fromShard);
  const [archives, exports] = await Promise.all([
    db.$count(siteArchives, and(eq(siteArchives.siteId, siteId), sql`${siteArchives.status} not in ('complete', 'failed')`)),
    db.$count(memberExports, and(eq(memberExports.siteId, siteId), sql`${memberExports.status} in ('pending', 'running')`)),
  ]);
  return archives + exports > 0 ? "It waits for an export, import or backup of the site to end" : null;
}

function routeOf(env: Env, { siteId, fromShard, toShard, version }: SiteMoveRow): Route {
  return { siteId, from: shardDatabase(env, fromShard), to: shardDatabase(env, toShard), version };
}

async function run({ version }: Route, database: D1Database, statements: string[]): Promise<void> {
  await writeAs(
    database,
    version,
    statements.map((statement) => database.prepare(statement)),
  );
}

function isFinal({ phase }: SiteMoveRow): boolean {
  return phase === "complete" || phase === "cancelled";
}

async function claim(env: Env, siteId: string, now: number): Promise<SiteMoveRow | undefined> {
  const [move] = await directoryDb(env)
    .update(siteMoves)
    .set({ lease: now + LEASE_MS, attempts: sql`${siteMoves.attempts} + 1`, version: sql`${siteMoves.version} + 1` })
    .where(and(eq(siteMoves.siteId, siteId), unfinishedMove, lte(siteMoves.lease, now)))
    .returning();
  return move;
}

/** Records a step, unless another worker has taken over, or the move was cancelled: then the row as it is now. */
async function advance(env: Env, move: SiteMoveRow, change: Partial<SiteMoveRow>): Promise<SiteMoveRow | undefined> {
  const [next] = await directoryDb(env)
    .update(siteMoves)
    .set({ attempts: 0, ...change })
    .where(and(eq(siteMoves.siteId, move.siteId), eq(siteMoves.version, move.version), eq(siteMoves.phase, move.phase)))
    .returning();
  return next ?? current(env, move);
}

/** The row, if it is still this worker's turn. */
async function current(env: Env, { siteId, version }: SiteMoveRow): Promise<SiteMoveRow | undefined> {
  const [row] = await directoryDb(env)
    .select()
    .from(siteMoves)
    .where(and(eq(siteMoves.siteId, siteId), eq(siteMoves.version, version)));
  return row;
}

/** Cancels a move that hasn't switched; false if it has, or there is none. */
export async function cancel(env: Env, siteId: string): Promise<boolean> {
  const cancelled = await directoryDb(env)
    .update(siteMoves)
    .set({ phase: "cancelling", message: "The operator has cancelled it" })
    .where(and(eq(siteMoves.siteId, siteId), unfinishedMove, isNull(siteMoves.switched)))
    .returning({ siteId: siteMoves.siteId });
  return cancelled.length > 0;
}
