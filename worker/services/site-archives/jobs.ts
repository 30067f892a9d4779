import { and, eq, lt, lte, sql } from "drizzle-orm";
import { type ArchiveRow, siteArchives } from "#db/schema/site-archives.ts";
import type { SiteArchiveJob } from "#worker/queues/messages.ts";
import { logError } from "#worker/lib/log.ts";
import { commit, type Ctx, whereVersion } from "#worker/services/core/context.ts";
import { asSystem } from "#worker/services/core/system.ts";
import { exportPiece, LEASE_MS, prefixOf } from "./export.ts";
import { InvalidArchive } from "./format.ts";
import { importParts, undoImport } from "./import.ts";
import { toArchiveEvent } from "./schemas.ts";

type Worker = Pick<Ctx, "env" | "db">;

/** Steps of one queue message, which then enqueues the next. */
const STEPS_PER_RUN = 50;
const RETRY_DELAY_MS = 20_000;
/** Attempts without any progress before a job fails. */
const MAX_ATTEMPTS = 30;
/** An archive is personal data: it isn't kept longer than it takes to move it. */
export const RETENTION_MS = 86_400_000;

export const unfinished = sql`${siteArchives.status} not in ('complete', 'failed')`;

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
      const last = await (job.kind === "export" ? exportPieces(ctx, job, clock) : importParts(ctx, job, STEPS_PER_RUN, clock));
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
  if (current?.status === "complete")
    await commit(ctx, [], { type: "site.exportCompleted", resource: `sitearchive/${current.id}`, data: toArchiveEvent(current) });
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
    .where(and(eq(siteArchives.id, id), eq(siteArchives.siteId, ctx.siteId), unfinished, lte(siteArchives.lease, ctx.now)))
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
    .where(and(eq(siteArchives.id, id), unfinished))
    .returning();
  if (!job) return;
  if (kind === "export") await commit(ctx, [], { type: "site.exportFailed", resource: `sitearchive/${id}`, data: toArchiveEvent(job) });
  await clean(ctx, job);
}

/** Deletes an uploaded archive that is no longer needed. */
async function clean({ env }: Ctx, job: ArchiveRow): Promise<void> {
  if (job.kind === "import") await env.MEDIA.delete(job.pieces.map(({ key }) => key));
}

/** Enqueues jobs again whose worker died or whose message was lost. */
export async function resumeArchives({ env, db, now }: Worker & { now: number }): Promise<void> {
  const stuck = await db
    .select({ id: siteArchives.id, siteId: siteArchives.siteId })
    .from(siteArchives)
    .where(and(unfinished, lt(siteArchives.lease, now - LEASE_MS)))
    .limit(100);
  await Promise.all(
    stuck.map((job) => enqueueArchive(env, job).catch((error: unknown) => logError("archive_not_resumed", error, { siteId: job.siteId }))),
  );
}

/** Deletes archives a day after they were requested: all their objects, then the row. */
export async function pruneArchives({ env, db, now }: Worker & { now: number }): Promise<void> {
  const past = await db
    .select({ id: siteArchives.id })
    .from(siteArchives)
    .where(lt(siteArchives.created, now - RETENTION_MS))
    .limit(20);
  for (const job of past) {
    const { objects, truncated } = await env.MEDIA.list({ prefix: prefixOf(job) });
    if (objects.length > 0) await env.MEDIA.delete(objects.map(({ key }) => key));
    // Any remaining objects, and the row, are deleted in the next run.
    if (!truncated) await db.delete(siteArchives).where(eq(siteArchives.id, job.id));
  }
}
