import { and, eq, gt, notExists, sql } from "drizzle-orm";
import { backupRuns } from "#db/schema/operations.ts";
import { sandboxes } from "#db/schema/sandboxes.ts";
import { type ArchiveRow, siteArchives } from "#db/schema/site-archives.ts";
import { sites } from "#db/schema/sites.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { inGroups } from "#worker/lib/in-groups.ts";
import { logError } from "#worker/lib/log.ts";
import { batchAll, type Ctx } from "#worker/services/core/context.ts";
import { newJob } from "#worker/services/site-archives/archives.ts";
import { backupPolicy } from "#worker/services/site-archives/backup-retention.ts";
import { enqueueArchive } from "#worker/services/site-archives/jobs.ts";

/** Sites whose backups one run of the cron starts: 28,800 a day. */
export const SITES_PER_RUN = 20;
/** Twenty columns a row, and 100 parameters a statement. */
const ROWS = 4;
const HOUR = 3_600_000;
const KEPT_DAYS = 60;

/**
 * Starts the night's backups, a few sites each minute, in the order of their ids. Safe to repeat and to run twice at a time: a site's backup
 * of a day has an id of its own. A site's backup is a job of the queue like any export.
 */
export async function startBackups({ env, db, now }: Pick<Ctx, "env" | "db" | "now">): Promise<void> {
  const policy = backupPolicy(env);
  const day = dayName(now);
  const midnight = Date.parse(day);
  if (!policy || now < midnight + policy.hour * HOUR) return;
  const [run] = await db.select().from(backupRuns).where(eq(backupRuns.day, day));
  if (run && run.completed !== null) return;
  const next = await db
    .select({ id: sites.id })
    .from(sites)
    .where(and(gt(sites.id, run?.cursor ?? ""), isNoSandbox(db)))
    .orderBy(sites.id)
    .limit(SITES_PER_RUN);
  const jobs = await Promise.all(next.map(async ({ id }) => ({ ...backupJob(id, now), id: await idOf(id, day) })));
  const cursor = next.at(-1)?.id ?? run?.cursor ?? "";
  const completed = next.length < SITES_PER_RUN ? now : null;
  await batchAll(db, [
    ...inGroups(jobs, ROWS).map((group) => db.insert(siteArchives).values(group).onConflictDoNothing()),
    db
      .insert(backupRuns)
      .values({ day, cursor, sites: jobs.length, started: now, completed })
      .onConflictDoUpdate({
        target: backupRuns.day,
        set: { cursor, sites: sql`${backupRuns.sites} + ${jobs.length}`, completed },
        setWhere: eq(backupRuns.cursor, run?.cursor ?? ""),
      }),
  ]);
  // A lost message is made up for by the cron, once the job's lease is over.
  const sent = await Promise.allSettled(jobs.map((job) => enqueueArchive(env, job)));
  for (const result of sent) if (result.status === "rejected") logError("backup_not_enqueued", result.reason, { day });
}

/** A backup that hasn't begun. */
export function backupJob(siteId: string, now: number): ArchiveRow {
  return newJob({ siteId, now }, "backup");
}

export async function pruneBackupRuns({ db, now }: Pick<Ctx, "db" | "now">): Promise<void> {
  await db.delete(backupRuns).where(sql`${backupRuns.day} < ${dayName(now - KEPT_DAYS * 24 * HOUR)}`);
}

/** A sandbox is gone before anybody could restore it. */
export function isNoSandbox(db: Ctx["db"]) {
  return notExists(db.select({ id: sandboxes.siteId }).from(sandboxes).where(eq(sandboxes.siteId, sites.id)));
}

function dayName(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

async function idOf(siteId: string, day: string): Promise<string> {
  const hash = await sha256(`backup ${siteId} ${day}`);
  return Date.parse(day).toString(16).padStart(12, "0") + hash.slice(0, 12);
}
