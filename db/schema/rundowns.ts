import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { RUNDOWN_ITEM_KINDS, TAKE_ACTIONS, TAKE_STATES, TAKE_TRIGGERS } from "#db/enums.ts";
import type { RundownItem, ScheduledBy, TakeReceipt } from "#db/types.ts";
import { id, siteId, time, tracked } from "./columns.ts";

/** The steps of a show on a channel. `version` counts edits of it, `generation` its takes, so that a take doesn't fail an editor's If-Match. */
export const rundowns = sqliteTable(
  "rundowns",
  {
    id: id(),
    siteId: siteId(),
    channelId: text("channel_id").notNull(),
    name: text("name").notNull(),
    items: text("items", { mode: "json" }).$type<RundownItem[]>().notNull(),
    /** The number of takes, which is the generation of the next one. */
    generation: integer("generation").notNull(),
    /** The item that was taken last. */
    lastItemId: text("last_item_id"),
    /** The item that is taken next, in place of the one that follows. */
    armedItemId: text("armed_item_id"),
    /** Whether items wait for an operator, whatever their times. */
    held: integer("held", { mode: "boolean" }).notNull(),
    /** The earliest time of an item that is still to come. */
    timedAt: time("timed_at"),
    /** When a wait ends, and the take that started it. */
    followAt: time("follow_at"),
    followFrom: text("follow_from"),
    /** Who saved the items, whose rights apply to items that are taken at their time. */
    editedBy: text("edited_by", { mode: "json" }).$type<ScheduledBy>().notNull(),
    ...tracked(),
  },
  (table) => [
    index("rundowns_site_created").on(table.siteId, table.created, table.id),
    index("rundowns_site_name").on(table.siteId, table.name, table.id),
    index("rundowns_channel_created").on(table.siteId, table.channelId, table.created, table.id),
    index("rundowns_timed")
      .on(table.timedAt, table.siteId)
      .where(sql`${table.timedAt} is not null`),
    index("rundowns_follow")
      .on(table.followAt, table.siteId)
      .where(sql`${table.followAt} is not null`),
  ],
);

/** What was taken, once per generation: the as-run log. A broadcast has the id of its take. */
export const rundownTakes = sqliteTable(
  "rundown_takes",
  {
    id: id(),
    siteId: siteId(),
    rundownId: text("rundown_id").notNull(),
    channelId: text("channel_id").notNull(),
    generation: integer("generation").notNull(),
    itemId: text("item_id").notNull(),
    kind: text("kind", { enum: RUNDOWN_ITEM_KINDS }).notNull(),
    /** What was done with a poll, quest or stream. */
    action: text("action", { enum: TAKE_ACTIONS }),
    /** The item's name at that time. */
    name: text("name").notNull(),
    /** The overlay, poll, quest or stream. */
    targetId: text("target_id"),
    trigger: text("trigger", { enum: TAKE_TRIGGERS }).notNull(),
    /** The time or wait that caused it, each of which does so once; null for an operator. */
    cause: text("cause"),
    /** The operator. */
    takenBy: text("taken_by", { mode: "json" }).$type<ScheduledBy>(),
    takenAt: integer("taken_at").notNull(),
    state: text("state", { enum: TAKE_STATES }).notNull(),
    message: text("message"),
    /** Of a broadcast, as the following. */
    endsAt: time("ends_at"),
    clearedAt: time("cleared_at"),
    clearedBy: text("cleared_by", { mode: "json" }).$type<ScheduledBy>(),
    /** The final receipt, and when it is read; until then, the channel has it. */
    receipt: text("receipt", { mode: "json" }).$type<TakeReceipt>(),
    receiptDueAt: time("receipt_due_at"),
  },
  (table) => [
    uniqueIndex("rundown_takes_generation").on(table.rundownId, table.generation),
    uniqueIndex("rundown_takes_cause")
      .on(table.rundownId, table.cause)
      .where(sql`${table.cause} is not null`),
    index("rundown_takes_log").on(table.siteId, table.rundownId, table.generation, table.id),
    index("rundown_takes_channel").on(table.siteId, table.channelId),
    index("rundown_takes_receipt_due")
      .on(table.receiptDueAt)
      .where(sql`${table.receiptDueAt} is not null`),
    index("rundown_takes_pending")
      .on(table.takenAt)
      .where(sql`${table.state} = 'pending'`),
  ],
);

/** Who has a rundown open; renewed while it is. */
export const rundownOperators = sqliteTable(
  "rundown_operators",
  {
    siteId: siteId(),
    rundownId: text("rundown_id").notNull(),
    kind: text("kind", { enum: ["developer", "account"] }).notNull(),
    /** The key or account. */
    operatorId: text("operator_id").notNull(),
    seenAt: integer("seen_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.rundownId, table.operatorId] }),
    index("rundown_operators_site").on(table.siteId, table.operatorId),
    index("rundown_operators_seen").on(table.seenAt),
  ],
);

export type RundownRow = typeof rundowns.$inferSelect;
export type TakeRow = typeof rundownTakes.$inferSelect;
