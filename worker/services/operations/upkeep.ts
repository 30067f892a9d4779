import { lt, sql } from "drizzle-orm";
import type { Db } from "#db/client.ts";
import { type CronRunRow, cronRuns, deadLetters } from "#db/schema/operations.ts";
import { inGroups } from "#worker/lib/in-groups.ts";

const KEPT_MS = 30 * 86_400_000;
/** Six columns a row, and 100 parameters a statement. */
const ROWS = 16;
/** The only cron. */
const EVERY_MINUTE = "every minute";
/** One failing step can fail for every site. */
const MAX_FAILURES = 50;

/** Stores messages that a queue gave up. Each once, however often it is delivered; a failure is retried by the queue. */
export async function storeDeadLetters(db: Db, { queue, messages }: MessageBatch, now: number): Promise<void> {
  const rows = messages.map(({ id, body, attempts, timestamp }) => ({
    id,
    queue: queue.replace(/-dead$/, ""),
    body: JSON.stringify(body),
    attempts,
    sent: timestamp.getTime(),
    created: now,
  }));
  for (const group of inGroups(rows, ROWS)) await db.insert(deadLetters).values(group).onConflictDoNothing();
}

export async function pruneDeadLetters({ db, now }: { db: Db; now: number }): Promise<void> {
  await db.delete(deadLetters).where(lt(deadLetters.created, now - KEPT_MS));
}

/** Keeps the last run only. */
export async function recordCronRun(db: Db, run: Omit<CronRunRow, "cron">): Promise<void> {
  const values = { ...run, failures: run.failures.slice(0, MAX_FAILURES) };
  await db
    .insert(cronRuns)
    .values({ cron: EVERY_MINUTE, ...values })
    // Two runs may overlap.
    .onConflictDoUpdate({ target: cronRuns.cron, set: values, setWhere: sql`${cronRuns.due} <= excluded.due` });
}
