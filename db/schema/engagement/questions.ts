import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { QUESTION_STATES } from "#db/enums.ts";
import { id, siteId, tracked } from "#db/schema/columns.ts";

/** What viewers of a channel ask. Only approved, answered and merged questions are public. */
export const questions = sqliteTable(
  "questions",
  {
    id: id(),
    siteId: siteId(),
    channelId: text("channel_id").notNull(),
    /** The account that asked. */
    accountId: text("account_id").notNull(),
    text: text("text").notNull(),
    /** What was asked, if words of it are masked in `text`; for moderators only. */
    original: text("original"),
    state: text("state", { enum: QUESTION_STATES }).notNull(),
    /** The number of rows in `question_upvotes`, kept here because lists are sorted by it. */
    upvotes: integer("upvotes").notNull(),
    answer: text("answer"),
    /** The account that answered; null for a developer key. */
    answeredBy: text("answered_by"),
    mergedInto: text("merged_into"),
    /** Counts every change, upvotes included; `version` counts those of moderators only, so that upvotes don't fail an If-Match. */
    revision: integer("revision").notNull().default(1),
    ...tracked(),
  },
  (table) => [
    index("questions_channel_upvotes").on(table.siteId, table.channelId, table.upvotes, table.id),
    index("questions_channel_created").on(table.siteId, table.channelId, table.created, table.id),
    index("questions_account").on(table.siteId, table.accountId),
    index("questions_answered_by")
      .on(table.siteId, table.answeredBy)
      .where(sql`${table.answeredBy} is not null`),
    index("questions_merged_into")
      .on(table.mergedInto)
      .where(sql`${table.mergedInto} is not null`),
  ],
);

/** Who upvoted what, once. The account that asked is the first. */
export const questionUpvotes = sqliteTable(
  "question_upvotes",
  {
    siteId: siteId(),
    questionId: text("question_id").notNull(),
    accountId: text("account_id").notNull(),
    created: integer("created").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.questionId, table.accountId] }),
    index("question_upvotes_account").on(table.siteId, table.accountId),
  ],
);

export type QuestionRow = typeof questions.$inferSelect;
