import { and, asc, count, desc, eq, gte, max, min, ne, notInArray, sql, sum } from "drizzle-orm";
import { allDatabases } from "#db/databases.ts";
import { memberExports } from "#db/schema/commerce/exports.ts";
import { outbox } from "#db/schema/events.ts";
import { insightHours } from "#db/schema/insights.ts";
import { type BackupRunRow, backupRuns, cronRuns, deadLetters, effectFailures } from "#db/schema/operations.ts";
import { scheduledActions } from "#db/schema/schedule.ts";
import { type ArchiveRow, siteArchives } from "#db/schema/site-archives.ts";
import { presenceOf } from "#worker/durable-objects/stubs.ts";
import { inGroups } from "#worker/lib/in-groups.ts";
import { withTimeout } from "#worker/lib/time/with-timeout.ts";
import { toBackup } from "#worker/services/backups/schemas.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import type { IsolateFigures } from "./isolate-metrics.ts";
import { MAX_LISTED, type OperatorReport } from "./schemas.ts";

/** Rows of the outbox that are counted at most. */
const MAX_COUNTED = 100_000;
/** An action is late after this long. */
const LATE_MS = 60_000;
const HOUR = 3_600_000;
/** Sites whose viewers are counted at most, and how many at a time. */
const MAX_SITES = 100;
const SITES_AT_A_TIME = 10;
const CALL_TIMEOUT_MS = 5_000;
/** A D1 database's limit. */
const MAX_DATABASE_BYTES = 10_000_000_000;
/** How long a failed backup is listed. */
const FAILED_BACKUPS_MS = 7 * 24 * HOUR;
const ENDED = ["complete", "failed"] as const;

/** How the deployment is doing. Reads the database once; only the operator's own request pays for it. */
export async function operatorReport(ctx: Ctx, isolate: IsolateFigures): Promise<OperatorReport> {
  await ctx.caller();
  const [rows, bytes, queue] = await Promise.all([readDatabase(ctx), databaseBytes(ctx.env), queueBacklog(ctx.env)]);
  const { activeSites, ...figures } = rows;
  const { id, tag, timestamp } = ctx.env.VERSION;
  return {
    time: ctx.now,
    version: { id, tag: tag === "" ? null : tag, deployed: Date.parse(timestamp) || null },
    database: { bytes, maxBytes: MAX_DATABASE_BYTES },
    ...figures,
    jobs: { ...figures.jobs, queue },
    viewers: await countViewers(ctx.env, activeSites),
    isolate,
  };
}

async function readDatabase({ db, now }: Ctx) {
  const waiting = db.select({ siteId: outbox.siteId, created: outbox.created }).from(outbox).limit(MAX_COUNTED).as("waiting");
  const late = sql`${scheduledActions.state} = 'pending' and ${scheduledActions.dueAt} < ${now - LATE_MS}`;
  const isBackup = sql`${siteArchives.kind} = 'backup'`;
  const lastNight = db.select({ started: max(backupRuns.started) }).from(backupRuns);
  const [bySite, [failing], failingSites, [exports], [archives], [dead], letters, [schedule], [cron], active, ...backups] = await db.batch([
    db
      .select({ siteId: waiting.siteId, events: count().as("events"), oldest: min(waiting.created).as("oldest") })
      .from(waiting)
      .groupBy(waiting.siteId)
      .orderBy(desc(sql`events`)),
    db.select({ failing: sum(effectFailures.failing), abandoned: sum(effectFailures.abandoned), sites: count() }).from(effectFailures),
    db.select().from(effectFailures).orderBy(asc(effectFailures.oldest)).limit(MAX_LISTED),
    db
      .select({ count: count(), oldest: min(memberExports.created) })
      .from(memberExports)
      .where(notInArray(memberExports.status, [...ENDED])),
    db
      .select({ count: count(), oldest: min(siteArchives.created) })
      .from(siteArchives)
      .where(and(notInArray(siteArchives.status, [...ENDED]), ne(siteArchives.kind, "backup"))),
    db.select({ count: count() }).from(deadLetters),
    db.select().from(deadLetters).orderBy(desc(deadLetters.created), desc(deadLetters.id)).limit(MAX_LISTED),
    db
      .select({ late: count(), oldest: min(scheduledActions.dueAt) })
      .from(scheduledActions)
      .where(late),
    db.select().from(cronRuns),
    db
      .selectDistinct({ siteId: insightHours.siteId })
      .from(insightHours)
      .where(gte(insightHours.hour, now - 2 * HOUR))
      .limit(MAX_SITES + 1),
    db.select().from(backupRuns).orderBy(desc(backupRuns.day)).limit(1),
    db
      .select({ status: siteArchives.status, count: count() })
      .from(siteArchives)
      .where(and(isBackup, sql`${siteArchives.created} >= ${lastNight}`))
      .groupBy(siteArchives.status),
    db
      .select()
      .from(siteArchives)
      .where(and(isBackup, gte(siteArchives.created, now - FAILED_BACKUPS_MS), eq(siteArchives.status, "failed")))
      .orderBy(desc(siteArchives.created))
      .limit(MAX_LISTED),
  ]);
  const oldest = bySite.reduce<number | null>((least, site) => Math.min(least ?? Infinity, site.oldest ?? Infinity), null);
  return {
    outbox: {
      events: bySite.reduce((all, { events }) => all + events, 0),
      oldest,
      sites: bySite.slice(0, MAX_LISTED).map((site) => ({ ...site, oldest: site.oldest ?? now })),
    },
    effects: { failing: Number(failing?.failing ?? 0), abandoned: Number(failing?.abandoned ?? 0), sites: failingSites },
    jobs: {
      memberExports: exports ?? { count: 0, oldest: null },
      siteArchives: archives ?? { count: 0, oldest: null },
      deadLetters: dead?.count ?? 0,
      latestDeadLetters: letters.map(({ id, ...letter }) => ({ _id: id, ...letter })),
    },
    schedule: schedule ?? { late: 0, oldest: null },
    cron: cron ? { due: cron.due, started: cron.started, completed: cron.completed, failures: cron.failures } : null,
    backups: toBackupFigures(...backups),
    activeSites: active.map(({ siteId }) => siteId),
  };
}

type BackupRows = [BackupRunRow[], { status: ArchiveRow["status"]; count: number }[], ArchiveRow[]];

/** What became of the backups that the last night has started. */
function toBackupFigures([run]: BackupRows[0], statuses: BackupRows[1], failed: BackupRows[2]) {
  const countOf = (of: (status: ArchiveRow["status"]) => boolean) =>
    statuses.reduce((sum, { status, count: backups }) => (of(status) ? sum + backups : sum), 0);
  return {
    lastNight: run
      ? {
          day: run.day,
          started: run.started,
          completed: run.completed,
          sites: run.sites,
          complete: countOf((status) => status === "complete"),
          failed: countOf((status) => status === "failed"),
          unfinished: countOf((status) => status !== "complete" && status !== "failed"),
        }
      : null,
    latestFailures: failed.map(toBackup),
  };
}

/** D1 reports its size with every result. */
export async function databaseBytes(env: Env): Promise<number> {
  const [database] = allDatabases(env);
  const { meta } = await database.prepare("select 1").run();
  return meta.size_after;
}

/** Null where the platform doesn't say. */
async function queueBacklog(env: Env): Promise<OperatorReport["jobs"]["queue"]> {
  try {
    const { backlogCount, backlogBytes, oldestMessageTimestamp } = await withTimeout(env.JOBS.metrics(), CALL_TIMEOUT_MS);
    return { messages: backlogCount, bytes: backlogBytes, oldest: oldestMessageTimestamp?.getTime() ?? null };
  } catch {
    return null;
  }
}

/** The viewers of the sites that had any in the last two hours. */
async function countViewers(env: Env, siteIds: string[]): Promise<OperatorReport["viewers"]> {
  const counted = { connected: 0, sites: 0, unreachable: 0, truncated: siteIds.length > MAX_SITES };
  for (const group of inGroups(siteIds.slice(0, MAX_SITES), SITES_AT_A_TIME)) {
    const calls = group.map((siteId) => withTimeout(presenceOf(env, siteId).concurrents(), CALL_TIMEOUT_MS));
    for (const call of await Promise.allSettled(calls)) {
      if (call.status === "rejected") counted.unreachable++;
      else {
        counted.connected += call.value.concurrents;
        counted.sites++;
      }
    }
  }
  return counted;
}
