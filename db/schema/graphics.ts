import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { GraphicFile, GraphicManifest } from "#db/graphic-types.ts";
import { id, siteId, tracked } from "./columns.ts";

/** Uploaded OGraf graphics; their files are in the bucket under the id. */
export const graphics = sqliteTable(
  "graphics",
  {
    id: id(),
    siteId: siteId(),
    name: text("name").notNull(),
    description: text("description").notNull(),
    manifest: text("manifest", { mode: "json" }).$type<GraphicManifest>().notNull(),
    /** The script's path in the archive. */
    main: text("main").notNull(),
    files: text("files", { mode: "json" }).$type<GraphicFile[]>().notNull(),
    /** Bytes of all files. */
    size: integer("size").notNull(),
    /** False until all files are stored. What stays so is deleted. */
    ready: integer("ready", { mode: "boolean" }).notNull(),
    ...tracked(),
  },
  (table) => [
    index("graphics_site_created").on(table.siteId, table.created, table.id),
    index("graphics_ready").on(table.ready, table.created),
  ],
);

export type GraphicRow = typeof graphics.$inferSelect;
