import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { CalendarCategory, CalendarDate, CalendarImage } from "#db/types.ts";
import { id, siteId, tracked } from "./columns.ts";

/** Scheduled events of the site or of one channel. */
export const calendarEvents = sqliteTable(
  "calendar_events",
  {
    id: id(),
    siteId: siteId(),
    channelId: text("channel_id"),
    title: text("title").notNull(),
    description: text("description").notNull(),
    categories: text("categories", { mode: "json" }).$type<CalendarCategory[]>().notNull(),
    date: text("date", { mode: "json" }).$type<CalendarDate>().notNull(),
    startsAt: integer("starts_at").notNull(),
    /** Equals `startsAt` if the event has no end. */
    endsAt: integer("ends_at").notNull(),
    image: text("image", { mode: "json" }).$type<CalendarImage>(),
    thirdPartyEventId: text("third_party_event_id"),
    ...tracked(),
  },
  (table) => [
    index("calendar_events_site_starts").on(table.siteId, table.startsAt, table.id),
    uniqueIndex("calendar_events_site_third_party").on(table.siteId, table.thirdPartyEventId),
  ],
);

/** The categories of the events, one row per label, for filters and lists of categories. */
export const calendarCategories = sqliteTable(
  "calendar_categories",
  {
    eventId: text("event_id").notNull(),
    siteId: siteId(),
    title: text("title").notNull(),
    label: text("label").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.eventId, table.title, table.label] }),
    index("calendar_categories_site_title").on(table.siteId, table.title, table.label, table.eventId),
  ],
);

export type CalendarEventRow = typeof calendarEvents.$inferSelect;
