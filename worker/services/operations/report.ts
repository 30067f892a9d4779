import { and, asc, count, desc, eq, gte, max, min, ne, notInArray, sql, sum } from "drizzle-orm";
import type { Db } from "#db/client.ts";
import { shardsOf } from "#db/databases.ts";
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
import { everyDb } from "#worker/services/core/databases.ts";
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

/** How the deployment is doing. Reads each database once; only the operator's own request pays for it. */
export async function operatorReport(ctx: Ctx, isolate: IsolateFigures): Promise<OperatorReport> {
  await ctx.caller();
  const [parts, databases, queue] = await Promise.all([
    Promise.all(everyDb(ctx).map((db) => readDatabase(db, ctx.now))),
    databaseSizes(ctx.env),
    queueBacklog(ctx.env),
  ]);
  const rows = combine(parts, ctx.now);
  const { activeSites, ...figures } = rows;
  const { id, tag, timestamp } = ctx.env.VERSION;
  return {
    time: ctx.now,
    version: { id, tag: tag === "" ? null : tag, deployed: Date.parse(timestamp) || null },
    database: { bytes: Math.max(...databases.map(({ bytes }) => bytes)), maxBytes: MAX_DATABASE_BYTES, shards: databases },
    ...figures,
    jobs: { ...figures.jobs, queue },
    viewers: await countViewers(ctx.env, activeSites),
    isolate,
  };
}

/** What one database has; the directory alone has dead letters and runs of the cron. */
async function readDatabase(db: Db, now: number) {
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
  return { bySite, failing, failingSites, exports, archives, dead, letters, schedule, cron, active, backups };
}

type Part = Awaited<ReturnType<typeof readDatabase>>;

/** The figures of all databases together. */
function combine(parts: Part[], now: number) {
  const sumOf = (of: (part: Part) => number | string | null | undefined) => parts.reduce((sum, part) => sum + Number(of(part) ?? 0), 0);
  const backlogOf = (of: (part: Part) => { count: number; oldest: number | null } | undefined) => ({
    count: sumOf((part) => of(part)?.count),
    oldest: oldestOf(parts.map((part) => of(part)?.oldest ?? null)),
  });
  const bySite = parts.flatMap((part) => part.bySite).sort((one, other) => other.events - one.events);
  const failingSites = parts.flatMap((part) => part.failingSites).sort((one, other) => one.oldest - other.oldest);
  const letters = parts.flatMap((part) => part.letters);
  const [cron] = parts.flatMap((part) => part.cron);
  return {
    outbox: {
      events: bySite.reduce((all, { events }) => all + events, 0),
      oldest: oldestOf(bySite.map(({ oldest }) => oldest)),
      sites: bySite.slice(0, MAX_LISTED).map((site) => ({ ...site, oldest: site.oldest ?? now })),
    },
    effects: {
      failing: sumOf(({ failing }) => failing?.failing),
      abandoned: sumOf(({ failing }) => failing?.abandoned),
      sites: failingSites.slice(0, MAX_LISTED),
    },
    jobs: {
      memberExports: backlogOf(({ exports }) => exports),
      siteArchives: backlogOf(({ archives }) => archives),
      deadLetters: sumOf(({ dead }) => dead?.count),
      latestDeadLetters: letters.map(({ id, ...letter }) => ({ _id: id, ...letter })),
    },
    schedule: { late: sumOf(({ schedule }) => schedule?.late), oldest: oldestOf(parts.map(({ schedule }) => schedule?.oldest ?? null)) },
    cron: cron ? { due: cron.due, started: cron.started, completed: cron.completed, failures: cron.failures } : null,
    backups: toBackupFigures(parts.map(({ backups }) => backups)),
    activeSites: parts.flatMap(({ active }) => active).map(({ siteId }) => siteId),
  };
}

type BackupRows = [BackupRunRow[], { status: ArchiveRow["status"]; count: number }[], ArchiveRow[]];

/** What became of the backups that the last night has started; each database has started its own. */
function toBackupFigures(parts: BackupRows[]) {
  const day = parts.reduce((last, [[run]]) => (run && run.day > last ? run.day : last), "");
  const ofNight = parts.filter(([[run]]) => run?.day === day);
  const runs = ofNight.flatMap(([run]) => run);
  const statuses = ofNight.flatMap(([, each]) => each);
  const failed = parts.flatMap(([, , each]) => each).sort((one, other) => other.created - one.created);
  const ends = runs.map(({ completed }) => completed);
  const countOf = (of: (status: ArchiveRow["status"]) => boolean) =>
    statuses.reduce((sum, { status, count: backups }) => (of(status) ? sum + backups : sum), 0);
  return {
    lastNight:
      runs.length > 0
        ? {
            day,
            started: Math.min(...runs.map(({ started }) => started)),
            completed: ends.reduce((last, end) => (last === null || end === null ? null : Math.max(last, end)), 0),
            sites: runs.reduce((sum, { sites }) => sum + sites, 0),
            complete: countOf((status) => status === "complete"),
            failed: countOf((status) => status === "failed"),
            unfinished: countOf((status) => status !== "complete" && status !== "failed"),
          }
        : null,
    latestFailures: failed.slice(0, MAX_LISTED).map(toBackup),
  };
}

/** The size of each shard's database, which D1 reports with every result. */
export async function databaseSizes(env: Env): Promise<{ shard: number; bytes: number }[]> {
  const reads = [...shardsOf(env)].map(async ([shard, database]) => {
    const { meta } = await database.prepare("select 1").run();
    return { shard, bytes: meta.size_after };
  });
  return Promise.all(reads);
}

/** The least of moments, null without one. */
export function oldestOf(moments: (number | null)[]): number | null {
  return moments.reduce((least, moment) => (moment === null ? least : Math.min(least ?? moment, moment)), null);
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
