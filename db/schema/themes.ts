import { index, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { THEME_MODES, THEME_TYPES } from "#db/enums.ts";
import type { ThemeButton, ThemeColors, ThemeTypography } from "#db/types.ts";
import { id, siteId, tracked } from "./columns.ts";

/** Themes of channels and of the admin's pages. Admin and default themes belong to the operator; their `siteId` is empty. */
export const themes = sqliteTable(
  "themes",
  {
    id: id(),
    siteId: siteId(),
    name: text("name").notNull(),
    type: text("type", { enum: THEME_TYPES }).notNull(),
    mode: text("mode", { enum: THEME_MODES }).notNull(),
    colors: text("colors", { mode: "json" }).$type<ThemeColors>().notNull(),
    button: text("button", { mode: "json" }).$type<ThemeButton>().notNull(),
    typography: text("typography", { mode: "json" }).$type<ThemeTypography>().notNull(),
    logo: text("logo"),
    icon: text("icon"),
    backgrounds: text("backgrounds", { mode: "json" }).$type<string[]>().notNull(),
    ...tracked(),
  },
  (table) => [index("themes_site_modified").on(table.siteId, table.modified, table.id)],
);

/** The admin theme that the operator has assigned to a site. */
export const siteThemes = sqliteTable("site_themes", { siteId: siteId().primaryKey(), themeId: text("theme_id").notNull() });

export type ThemeRow = typeof themes.$inferSelect;
