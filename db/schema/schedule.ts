import { sql } from "drizzle-orm";
import { index, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { SCHEDULED_KINDS, SCHEDULED_SOURCES, SCHEDULED_STATES } from "#db/enums.ts";
import type { ScheduledBy, ScheduledPayload } from "#db/types.ts";
import { id, siteId, time, tracked } from "./columns.ts";

/** What the site does at a time. The site's `Scheduler` runs what is due. */
export const scheduledActions = sqliteTable(
  "scheduled_actions",
  {
    id: id(),
    siteId: siteId(),
    kind: text("kind", { enum: SCHEDULED_KINDS }).notNull(),
    /** The overlay, poll or quest. */
    targetId: text("target_id").notNull(),
    /** The target's name when the action was scheduled, for the list. */
    name: text("name").notNull(),
    /** The channel of a broadcast to a single one. */
    channelId: text("channel_id"),
    payload: text("payload", { mode: "json" }).$type<ScheduledPayload>().notNull(),
    dueAt: time("due_at").notNull(),
    state: text("state", { enum: SCHEDULED_STATES }).notNull(),
    /** `request`: somebody scheduled it; otherwise it follows from a time of the poll or quest. */
    source: text("source", { enum: SCHEDULED_SOURCES }).notNull(),
    /** Whose rights apply when it is due; null for what follows from a poll or quest. */
    scheduledBy: text("scheduled_by", { mode: "json" }).$type<ScheduledBy>(),
    requestId: text("request_id").notNull(),
    /** Why it failed or was missed. */
    message: text("message"),
    endedAt: time("ended_at"),
    ...tracked(),
  },
  (table) => [
    index("scheduled_actions_site_due").on(table.siteId, table.dueAt, table.id),
    index("scheduled_actions_target").on(table.siteId, table.targetId),
    index("scheduled_actions_pending")
      .on(table.dueAt, table.siteId)
      .where(sql`${table.state} = 'pending'`),
    index("scheduled_actions_ended")
      .on(table.endedAt)
      .where(sql`${table.endedAt} is not null`),
  ],
);

export type ScheduledActionRow = typeof scheduledActions.$inferSelect;
