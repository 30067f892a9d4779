import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { POLL_TYPES } from "#db/enums.ts";
import type { PollAnswer } from "#db/types.ts";
import { id, siteId, time, tracked } from "#db/schema/columns.ts";

export const polls = sqliteTable(
  "polls",
  {
    id: id(),
    siteId: siteId(),
    type: text("type", { enum: POLL_TYPES }).notNull(),
    question: text("question").notNull(),
    name: text("name").notNull(),
    answers: text("answers", { mode: "json" }).$type<PollAnswer[]>().notNull(),
    /** Public once the poll is settled. */
    correctAnswerId: text("correct_answer_id"),
    open: integer("open", { mode: "boolean" }).notNull(),
    responsesPerViewer: integer("responses_per_viewer").notNull(),
    hideResults: integer("hide_results", { mode: "boolean" }).notNull(),
    settled: time("settled"),
    /** What a response costs, in minor units of the viewer's wallet. */
    responseCost: integer("response_cost").notNull().default(0),
    /** Responses from this time on don't count; null: until the poll is closed. */
    locksAt: time("locks_at"),
    /** When its responses were deleted, long after it was closed. */
    responsesPruned: time("responses_pruned"),
    ...tracked(),
  },
  (table) => [
    index("polls_site_created").on(table.siteId, table.created, table.id),
    index("polls_site_name").on(table.siteId, table.name, table.id),
    index("polls_site_open")
      .on(table.siteId, table.modified)
      .where(sql`${table.open} = 1`),
    index("polls_unpruned")
      .on(table.modified)
      .where(sql`${table.open} = 0 and ${table.responsesPruned} is null`),
  ],
);

/**
 * Responses; `n` counts those of one account from 1. Written by the poll's counters, which keep the tally: in batches, or each in the batch
 * that debits its cost.
 */
export const pollResponses = sqliteTable(
  "poll_responses",
  {
    siteId: siteId(),
    pollId: text("poll_id").notNull(),
    accountId: text("account_id").notNull(),
    n: integer("n").notNull(),
    answerId: text("answer_id").notNull(),
    created: integer("created").notNull(),
    /** What the account's wallet has paid for it. */
    charged: integer("charged").notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.pollId, table.accountId, table.n] }),
    index("poll_responses_account").on(table.siteId, table.accountId),
  ],
);

export type PollRow = typeof polls.$inferSelect;
