import { and, count, eq, gte, max, min, sql } from "drizzle-orm";
import type { Db } from "#db/client.ts";
import { outbox } from "#db/schema/events.ts";
import { type AlertRow, alerts, backupRuns, deadLetters } from "#db/schema/operations.ts";
import { scheduledActions } from "#db/schema/schedule.ts";
import { siteArchives } from "#db/schema/site-archives.ts";
import type { AlertFigures } from "./alert-rules.ts";
import { databaseBytes } from "./report.ts";
import { errorRate, recentRequests } from "./request-counts.ts";

const HOUR = 3_600_000;

/** What alerts compare with their limits, and their states; one round trip, besides the database's size. */
export async function readAlertFigures(env: Env, db: Db, now: number): Promise<{ figures: AlertFigures; states: AlertRow[] }> {
  const lastNight = db.select({ started: max(backupRuns.started) }).from(backupRuns);
  const [rows, databaseSize] = await Promise.all([
    db.batch([
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
    ]),
    databaseBytes(env),
  ]);
  const [[requests], [waiting], [dead], [late], [backups], states] = rows;
  const secondsSince = (since: number | null | undefined) => (since === null || since === undefined ? 0 : Math.max(0, now - since) / 1000);
  const figures = {
    errorRate: errorRate(requests),
    outboxAge: secondsSince(waiting?.oldest),
    deadLetters: dead?.letters ?? 0,
    lateActions: secondsSince(late?.oldest),
    databaseSize,
    failedBackups: backups?.failed ?? 0,
  };
  return { figures, states };
}
