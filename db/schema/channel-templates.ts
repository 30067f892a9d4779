import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { TemplatePanel } from "#db/types.ts";
import { id, siteId, tracked } from "./columns.ts";

/** Templates for new channels. An archived template is kept, but no channel can be created from it. */
export const channelTemplates = sqliteTable(
  "channel_templates",
  {
    id: id(),
    siteId: siteId(),
    title: text("title").notNull(),
    description: text("description").notNull(),
    icon: text("icon"),
    panels: text("panels", { mode: "json" }).$type<TemplatePanel[]>().notNull(),
    rules: text("rules", { mode: "json" }).$type<string[]>().notNull(),
    theme: text("theme"),
    creator: text("creator").notNull(),
    owner: text("owner").notNull(),
    archived: integer("archived", { mode: "boolean" }).notNull(),
    ...tracked(),
  },
  (table) => [index("channel_templates_site_modified").on(table.siteId, table.archived, table.modified, table.id)],
);

export type ChannelTemplateRow = typeof channelTemplates.$inferSelect;
