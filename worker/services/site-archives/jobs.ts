import { and, desc, eq, lt, lte, sql } from "drizzle-orm";
import { type ArchiveRow, isUnfinished, siteArchives } from "#db/schema/site-archives.ts";
import type { SiteArchiveJob } from "#worker/queues/messages.ts";
import { logError } from "#worker/lib/log.ts";
import { commit, type Ctx, whereVersion } from "#worker/services/core/context.ts";
import { asSystem } from "#worker/services/core/system.ts";
import { exportPiece, LEASE_MS, prefixOf } from "./export.ts";
import { backupPolicy, expiredBackups } from "./backup-retention.ts";
import { InvalidArchive } from "./format.ts";
import { importParts, undoImport } from "./import.ts";
import { toArchiveEvent } from "./schemas.ts";

type Worker = Pick<Ctx, "env" | "db">;

/** Steps of one queue message, which then enqueues the next. */
const STEPS_PER_RUN = 50;
const RETRY_DELAY_MS = 20_000;
/** More than any retention keeps of a site. */
const MAX_BACKUPS = 1_000;
/** Attempts without any progress before a job fails. */
const MAX_ATTEMPTS = 30;
/** An archive is personal data: it isn't kept longer than it takes to move it. */
export const RETENTION_MS = 86_400_000;

/** Enqueues a job's next steps; safe to repeat, since only one worker can hold its lease. */
export async function enqueueArchive(env: Env, { siteId, id }: Pick<ArchiveRow, "siteId" | "id">): Promise<void> {
  await env.JOBS.send({ kind: "siteArchive", siteId, archiveId: id } satisfies SiteArchiveJob);
}

/** Continues a job where it is, until it has ended or is handed over to the next message. A no-op if another worker holds its lease. */
export async function continueArchive({ env, db }: Worker, { siteId, archiveId }: SiteArchiveJob, clock: () => number): Promise<void> {
  await asSystem({ env, db, now: clock() }, siteId, async (ctx) => {
    const job = await claim(ctx, archiveId);
    if (!job) return;
    if (job.attempts > MAX_ATTEMPTS) return fail(ctx, job, "It failed repeatedly because of a server error");
    try {
      const last = await (job.kind === "import" ? importParts(ctx, job, STEPS_PER_RUN, clock) : exportPieces(ctx, job, clock));
      if (!last || last.status === "failed") return;
      if (last.status === "complete") return await clean(ctx, last);
      await setLease(ctx, last, clock());
      await enqueueArchive(env, last);
    } catch (error) {
      if (error instanceof InvalidArchive) return await fail(ctx, job, error.message);
      // If the database itself failed, the lease expires by itself.
      await setLease(ctx, job, clock() + RETRY_DELAY_MS).catch(() => undefined);
      throw error;
    }
  });
}

async function exportPieces(ctx: Ctx, job: ArchiveRow, clock: () => number): Promise<ArchiveRow | undefined> {
  let current: ArchiveRow | undefined = job;
  for (let steps = 0; steps < STEPS_PER_RUN && current && current.status !== "complete"; steps++)
    current = await exportPiece(ctx, current, clock());
  if (current?.status !== "complete") return current;
  // A backup is the operator's, and no event of the site.
  if (current.kind === "backup") await pruneBackups(ctx);
  else await commit(ctx, [], { type: "site.exportCompleted", resource: `sitearchive/${current.id}`, data: toArchiveEvent(current) });
  return current;
}

/** Claims an unfinished job whose lease has expired. */
async function claim(ctx: Ctx, id: string): Promise<ArchiveRow | undefined> {
  const [job] = await ctx.db
    .update(siteArchives)
    .set({
      lease: ctx.now + LEASE_MS,
      attempts: sql`${siteArchives.attempts} + 1`,
      modified: ctx.now,
      version: sql`${siteArchives.version} + 1`,
    })
    .where(and(eq(siteArchives.id, id), eq(siteArchives.siteId, ctx.siteId), isUnfinished, lte(siteArchives.lease, ctx.now)))
    .returning();
  return job;
}

async function setLease(ctx: Ctx, job: ArchiveRow, lease: number): Promise<void> {
  await ctx.db
    .update(siteArchives)
    .set({ lease })
    .where(whereVersion(ctx, siteArchives, job));
}

/** Ends a job with the reason. What an import has written of a new site is removed first. */
async function fail(ctx: Ctx, { id, kind, hadSite }: ArchiveRow, message: string): Promise<void> {
  if (kind === "import" && !hadSite) await undoImport(ctx);
  const [job] = await ctx.db
    .update(siteArchives)
    .set({ status: "failed", message, completed: ctx.now, modified: ctx.now, version: sql`${siteArchives.version} + 1` })
    .where(and(eq(siteArchives.id, id), isUnfinished))
    .returning();
  if (!job) return;
  if (kind === "export") await commit(ctx, [], { type: "site.exportFailed", resource: `sitearchive/${id}`, data: toArchiveEvent(job) });
  await clean(ctx, job);
}

/** Deletes an uploaded archive that is no longer needed. A backup that was restored stays. */
async function clean({ env }: Ctx, job: ArchiveRow): Promise<void> {
  const own = job.pieces.filter(({ key }) => key.startsWith(prefixOf(job)));
  if (job.kind === "import" && own.length > 0) await env.MEDIA.delete(own.map(({ key }) => key));
}

/** Enqueues jobs again whose worker died or whose message was lost. */
export async function resumeArchives({ env, db, now }: Worker & { now: number }): Promise<void> {
  const stuck = await db
    .select({ id: siteArchives.id, siteId: siteArchives.siteId })
    .from(siteArchives)
    .where(and(isUnfinished, lt(siteArchives.lease, now - LEASE_MS)))
    .limit(100);
  await Promise.all(
    stuck.map((job) => enqueueArchive(env, job).catch((error: unknown) => logError("archive_not_resumed", error, { siteId: job.siteId }))),
  );
}

/** Deletes archives a day after they were requested: all their objects, then the row. Backups have their own retention. */
export async function pruneArchives({ env, db, now }: Worker & { now: number }): Promise<void> {
  const past = await db
    .select(place)
    .from(siteArchives)
    .where(and(lt(siteArchives.created, now - RETENTION_MS), sql`${siteArchives.kind} <> 'backup'`))
    .limit(20);
  for (const job of past) await deleteArchive({ env, db }, job);
}

/** What names the objects of a job. */
const place = { id: siteArchives.id, siteId: siteArchives.siteId, kind: siteArchives.kind };

/**
 * Takes a backup away from restores before it is deleted; false while an import of its site, which may be reading it, is running. One
 * statement, because a restore may start at any time. If the deletion doesn't end, the backup stays as one that failed.
 */
export async function claimDeletion(db: Ctx["db"], { id }: Pick<ArchiveRow, "id">): Promise<boolean> {
  const claimed = await db
    .update(siteArchives)
    .set({ status: "failed", message: "Its deletion has begun" })
    .where(
      and(
        eq(siteArchives.id, id),
        sql`${siteArchives.status} in ('complete', 'failed')`,
        sql`not exists (select 1 from site_archives as other where other.site_id = ${siteArchives.siteId} and other.kind = 'import'
          and other.status not in ('complete', 'failed'))`,
      ),
    )
    .returning({ id: siteArchives.id });
  return claimed.length > 0;
}

/**
 * Deletes a job's objects, then its row. A job with too many objects for one call keeps its row, and is continued by the next call; returns
 * whether it is gone.
 */
export async function deleteArchive({ env, db }: Worker, job: Pick<ArchiveRow, "id" | "siteId" | "kind">): Promise<boolean> {
  const { objects, truncated } = await env.MEDIA.list({ prefix: prefixOf(job) });
  if (objects.length > 0) await env.MEDIA.delete(objects.map(({ key }) => key));
  if (!truncated) await db.delete(siteArchives).where(eq(siteArchives.id, job.id));
  return !truncated;
}

/**
 * Deletes the site's backups beyond the retention, once there is a newer one: a site whose backups fail keeps those that it has. None while
 * an import is running, which may be reading one.
 */
async function pruneBackups(ctx: Ctx): Promise<void> {
  const backups = await ctx.db
    .select({ ...place, created: siteArchives.created, status: siteArchives.status })
    .from(siteArchives)
    .where(and(eq(siteArchives.siteId, ctx.siteId), eq(siteArchives.kind, "backup")))
    .orderBy(desc(siteArchives.created))
    .limit(MAX_BACKUPS);
  for (const backup of expiredBackups(backups, backupPolicy(ctx.env), ctx.now))
    if (await claimDeletion(ctx.db, backup)) await deleteArchive(ctx, backup);
}
