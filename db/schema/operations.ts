import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { CronFailure } from "#db/types.ts";
import { siteId, time } from "./columns.ts";

// What the operator of a deployment needs to know, apart from what each site's tables have.

/** Sites whose event log has effects that fail: a copy of its counts, because nobody can ask all logs. */
export const effectFailures = sqliteTable("effect_failures", {
  siteId: siteId().primaryKey(),
  /** Effects that are retried. */
  failing: integer("failing").notNull(),
  /** Effects that were given up. */
  abandoned: integer("abandoned").notNull(),
  /** When the oldest of their events was committed. */
  oldest: time("oldest").notNull(),
  /** Why the last one failed. */
  cause: text("cause").notNull(),
  modified: time("modified").notNull(),
});

/** Messages that the job queue gave up. What they refer to is continued by the cron. */
export const deadLetters = sqliteTable("dead_letters", {
  id: text("id").primaryKey(),
  queue: text("queue").notNull(),
  /** References to work, never its data. */
  body: text("body").notNull(),
  attempts: integer("attempts").notNull(),
  /** When the message was sent. */
  sent: time("sent").notNull(),
  created: time("created").notNull(),
});

/** The last run of each cron. */
export const cronRuns = sqliteTable("cron_runs", {
  cron: text("cron").primaryKey(),
  /** When it was due. */
  due: time("due").notNull(),
  started: time("started").notNull(),
  completed: time("completed").notNull(),
  failures: text("failures", { mode: "json" }).$type<CronFailure[]>().notNull(),
});

export type EffectFailureRow = typeof effectFailures.$inferSelect;
export type DeadLetterRow = typeof deadLetters.$inferSelect;
export type CronRunRow = typeof cronRuns.$inferSelect;
