import { primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** How `search_texts` are folded: the letters that differ from their plain form. Filled by the migration from `foldText`. */
export const searchLetters = sqliteTable("search_letters", {
  letter: text("letter").primaryKey(),
  plain: text("plain").notNull(),
});

/** The searched texts of a row, folded. Triggers write it (`db/search-text.ts`), so that no write of a searched table can miss it. */
export const searchTexts = sqliteTable(
  "search_texts",
  {
    /** The searched table's name. */
    kind: text("kind").notNull(),
    rowId: text("row_id").notNull(),
    text: text("text").notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.rowId] })],
);
