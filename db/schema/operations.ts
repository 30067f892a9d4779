import { integer, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
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

/** The nightly backups of all sites: one row a day, whose cursor says which sites have theirs. */
export const backupRuns = sqliteTable("backup_runs", {
  /** In UTC, as 2026-11-23. */
  day: text("day").primaryKey(),
  /** The last site whose backup has started; sites are taken in the order of their ids. */
  cursor: text("cursor").notNull(),
  sites: integer("sites").notNull(),
  started: time("started").notNull(),
  /** When the last backup was started; null until then. */
  completed: time("completed"),
});

/** What the operator's alerts are about, and whether they are on. */
export const alerts = sqliteTable("alerts", {
  name: text("name").primaryKey(),
  isRaised: integer("is_raised", { mode: "boolean" }).notNull(),
  /** When it was last raised or resolved. */
  changed: time("changed").notNull(),
  /** Since when the figure asks for a change; null if it doesn't. */
  crossing: time("crossing"),
  value: real("value").notNull(),
  /** Whether the webhook has accepted the last change, or there was none to call. */
  isSent: integer("is_sent", { mode: "boolean" }).notNull(),
  /** Why it hasn't. */
  problem: text("problem"),
  /** Whether the email service has accepted the email about the last change, or there is none to send. */
  isEmailed: integer("is_emailed", { mode: "boolean" }).notNull().default(true),
  emailProblem: text("email_problem"),
});

/** Requests of all isolates, in intervals of five minutes; only counted for alerts. */
export const requestCounts = sqliteTable("request_counts", {
  /** When the interval begins. */
  since: time("since").primaryKey(),
  requests: integer("requests").notNull(),
  errors: integer("errors").notNull(),
});

export type BackupRunRow = typeof backupRuns.$inferSelect;
export type AlertRow = typeof alerts.$inferSelect;
export type EffectFailureRow = typeof effectFailures.$inferSelect;
export type DeadLetterRow = typeof deadLetters.$inferSelect;
export type CronRunRow = typeof cronRuns.$inferSelect;
