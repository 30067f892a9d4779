import { and, count, eq, gte, max, min, sql } from "drizzle-orm";
import type { Db } from "#db/client.ts";
import { allDbs } from "#db/databases.ts";
import { outbox } from "#db/schema/events.ts";
import { type AlertRow, alerts, backupRuns, deadLetters } from "#db/schema/operations.ts";
import { scheduledActions } from "#db/schema/schedule.ts";
import { siteArchives } from "#db/schema/site-archives.ts";
import type { AlertFigures } from "./alert-rules.ts";
import { databaseSizes, oldestOf } from "./report.ts";
import { errorRate, recentRequests } from "./request-counts.ts";

const HOUR = 3_600_000;

/** What alerts compare with their limits, and their states; one round trip to each database, besides its size. */
export async function readAlertFigures(env: Env, now: number): Promise<{ figures: AlertFigures; states: AlertRow[] }> {
  const [[first, ...others], sizes] = await Promise.all([Promise.all(allDbs(env).map((db) => readFigures(db, now))), databaseSizes(env)]);
  const all = first ? [first, ...others] : others;
  const secondsSince = (since: number | null) => (since === null ? 0 : Math.max(0, now - since) / 1000);
  const figures = {
    errorRate: errorRate(first?.requests),
    outboxAge: secondsSince(oldestOf(all.map(({ outbox: waiting }) => waiting))),
    deadLetters: first?.deadLetters ?? 0,
    lateActions: secondsSince(oldestOf(all.map(({ late }) => late))),
    // Each database has the limit for itself.
    databaseSize: Math.max(...sizes.map(({ bytes }) => bytes)),
    failedBackups: all.reduce((sum, { failedBackups }) => sum + failedBackups, 0),
  };
  return { figures, states: first?.states ?? [] };
}

/** The figures of one database. The directory's alone has requests, dead letters and alerts. */
async function readFigures(db: Db, now: number) {
  const lastNight = db.select({ started: max(backupRuns.started) }).from(backupRuns);
  const [[requests], [waiting], [dead], [late], [backups], states] = await db.batch([
    recentRequests(db, now),
    db.select({ oldest: min(outbox.created) }).from(outbox),
    db
      .select({ letters: count() })
      .from(deadLetters)
      .where(gte(deadLetters.created, now - HOUR)),
    db
      .select({ oldest: min(scheduledActions.dueAt) })
      .from(scheduledActions)
      .where(sql`${scheduledActions.state} = 'pending' and ${scheduledActions.dueAt} < ${now}`),
    db
      .select({ failed: count() })
      .from(siteArchives)
      .where(and(sql`${siteArchives.kind} = 'backup'`, sql`${siteArchives.created} >= ${lastNight}`, eq(siteArchives.status, "failed"))),
    db.select().from(alerts),
  ]);
  return {
    requests,
    outbox: waiting?.oldest ?? null,
    deadLetters: dead?.letters ?? 0,
    late: late?.oldest ?? null,
    failedBackups: backups?.failed ?? 0,
    states,
  };
}
