import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { id, siteId, time } from "./columns.ts";

/** The devices on which accounts watch. Each takes one of the slots that the site allows per account. */
export const devices = sqliteTable(
  "devices",
  {
    id: id(),
    siteId: siteId(),
    accountId: text("account_id").notNull(),
    /** The id that the device sends. */
    deviceId: text("device_id").notNull(),
    description: text("description").notNull(),
    created: integer("created").notNull(),
  },
  (table) => [
    uniqueIndex("devices_account_device").on(table.siteId, table.accountId, table.deviceId),
    index("devices_account_created").on(table.siteId, table.accountId, table.created, table.id),
  ],
);

/** How long a viewer has watched a page, which uses up previews. The viewer is "account:<id>" or "device:<id>". */
export const watchTime = sqliteTable(
  "watch_time",
  {
    siteId: siteId(),
    pageId: text("page_id").notNull(),
    viewer: text("viewer").notNull(),
    seconds: integer("seconds").notNull(),
    modified: time("modified").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.siteId, table.pageId, table.viewer] }),
    index("watch_time_viewer").on(table.siteId, table.viewer),
    index("watch_time_modified").on(table.modified),
  ],
);

export type DeviceRow = typeof devices.$inferSelect;
