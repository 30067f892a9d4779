import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { CHAT_BAN_KINDS, CHAT_MODES } from "#db/enums.ts";
import { id, siteId, time, tracked } from "#db/schema/columns.ts";

/** The settings of a channel's chat room, by the channel's id; a room without a row has the defaults. The messages are in its object. */
export const chatSettings = sqliteTable("chat_settings", {
  id: id(),
  siteId: siteId(),
  mode: text("mode", { enum: CHAT_MODES }).notNull(),
  slowSeconds: integer("slow_seconds").notNull(),
  premoderate: integer("premoderate", { mode: "boolean" }).notNull(),
  skus: text("skus", { mode: "json" }).$type<string[]>().notNull(),
  emoji: text("emoji", { mode: "json" }).$type<string[]>().notNull(),
  languages: text("languages", { mode: "json" }).$type<string[]>().notNull(),
  pinnedMessageId: text("pinned_message_id"),
  ...tracked(),
});

/**
 * Who may not send, or is seen by moderators only; with an empty `channelId`, in every room of the site. A ban of a device has its id and no
 * account.
 */
export const chatBans = sqliteTable(
  "chat_bans",
  {
    id: id(),
    siteId: siteId(),
    accountId: text("account_id").notNull(),
    deviceId: text("device_id").notNull().default(""),
    kind: text("kind", { enum: CHAT_BAN_KINDS }).notNull(),
    channelId: text("channel_id").notNull(),
    until: time("until"),
    reason: text("reason").notNull(),
    createdBy: text("created_by"),
    ...tracked(),
  },
  (table) => [
    uniqueIndex("chat_bans_target").on(table.siteId, table.accountId, table.deviceId, table.kind, table.channelId),
    index("chat_bans_site_created").on(table.siteId, table.created, table.id),
  ],
);

/** The rooms that have been used. */
export const chatRooms = sqliteTable(
  "chat_rooms",
  {
    id: id(),
    siteId: siteId(),
  },
  (table) => [index("chat_rooms_site").on(table.siteId, table.id)],
);

/** The messages that wait for a moderator: held ones, since they were sent, and reported ones, since their first report. */
export const chatQueue = sqliteTable(
  "chat_queue",
  {
    id: id(),
    siteId: siteId(),
    channelId: text("channel_id").notNull(),
    since: time("since").notNull(),
  },
  (table) => [
    index("chat_queue_site").on(table.siteId, table.since, table.id),
    index("chat_queue_channel").on(table.siteId, table.channelId),
  ],
);

export type ChatSettingsRow = typeof chatSettings.$inferSelect;
export type ChatBanRow = typeof chatBans.$inferSelect;
