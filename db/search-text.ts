import { type SQL, type SQLWrapper, sql } from "drizzle-orm";

// SQLite can neither fold accents nor, outside of ASCII, case. The searched texts of large tables are therefore stored folded, in
// `search_texts`: triggers write them, so that no insert or update, whoever makes it, can leave one behind.

/** A searched table, and the columns (or values in them) that its list searches. */
export interface SearchedTable {
  table: string;
  texts: readonly [string, ...string[]];
}

export const SEARCHED_TABLES: readonly SearchedTable[] = [
  { table: "automation_rules", texts: ["name"] },
  { table: "bundles", texts: ["name", "description"] },
  { table: "calendar_events", texts: ["title", "description"] },
  { table: "charges", texts: ["description"] },
  { table: "claims", texts: ["product_id", "message"] },
  { table: "media", texts: ["file_name"] },
  { table: "navigations", texts: ["name"] },
  { table: "overlays", texts: ["name", "description"] },
  { table: "pages", texts: ["data ->> '$.name'", "slug"] },
  { table: "panels", texts: ["panel_name"] },
  { table: "playlists", texts: ["title", "description"] },
  { table: "polls", texts: ["name", "question"] },
  { table: "questions", texts: ["text"] },
  { table: "quests", texts: ["title", "description"] },
  { table: "streams", texts: ["title"] },
  { table: "subscriptions", texts: ["name", "sku"] },
  { table: "videos", texts: ["title", "description"] },
];

/**
 * A folded text in SQL. Texts of ASCII letters only, which most are, cost one call; others are folded letter by letter. Uses nothing
 * that a trigger may not contain. Ends in a space, by which migrations are split into statements correctly.
 */
export function foldSql(text: string): string {
  return `CASE WHEN ${text} GLOB '*[^' || char(1) || '-' || char(127) || ']*' THEN (
    WITH RECURSIVE letters(rest, folded) AS (
      SELECT ${text}, ''
      UNION ALL
      SELECT substr(rest, 2), folded || coalesce((SELECT plain FROM search_letters WHERE letter = substr(rest, 1, 1)), lower(substr(rest, 1, 1)))
      FROM letters WHERE rest <> ''
    ) SELECT folded FROM letters WHERE rest = ''
  ) ELSE lower(${text}) END `;
}

/** The same for a value of a query. Meant for short texts: it is computed for each row. */
export function folded(text: SQLWrapper): SQL<string | null> {
  return sql`(case when ${text} glob '*[^' || char(1) || '-' || char(127) || ']*' then (
    with recursive letters(rest, folded) as (
      select ${text}, ''
      union all
      select substr(rest, 2), folded || coalesce((select plain from search_letters where letter = substr(rest, 1, 1)), lower(substr(rest, 1, 1)))
      from letters where rest <> ''
    ) select folded from letters where rest = ''
  ) else lower(${text}) end)`;
}

/** The triggers of a searched table, by their names. */
export function searchTriggers({ table, texts }: SearchedTable): Record<string, string> {
  const write = `INSERT INTO search_texts (kind, row_id, text) VALUES ('${table}', new.id, ${foldSql(joined("new.", texts))})
  ON CONFLICT (kind, row_id) DO UPDATE SET text = excluded.text;`;
  const columns = [...new Set(texts.map((text) => /^\w+/.exec(text)?.[0]))].join(", ");
  return {
    [`search_${table}_insert`]: `CREATE TRIGGER search_${table}_insert AFTER INSERT ON ${table} BEGIN\n  ${write}\nEND`,
    [`search_${table}_update`]: `CREATE TRIGGER search_${table}_update AFTER UPDATE OF ${columns} ON ${table} BEGIN\n  ${write}\nEND`,
    [`search_${table}_delete`]: `CREATE TRIGGER search_${table}_delete AFTER DELETE ON ${table} BEGIN\n  DELETE FROM search_texts WHERE kind = '${table}' AND row_id = old.id;\nEND`,
  };
}

/** The statement that folds the rows that a table has already. */
export function foldRows({ table, texts }: SearchedTable): string {
  return `INSERT INTO search_texts (kind, row_id, text) SELECT '${table}', id, ${foldSql(joined("", texts))} FROM ${table} WHERE true
ON CONFLICT (kind, row_id) DO UPDATE SET text = excluded.text`;
}

/** All searched texts of a row, separated by a character that no search contains. */
function joined(row: string, texts: SearchedTable["texts"]): string {
  return `(${texts.map((text) => `coalesce(${row}${text}, '')`).join(" || char(31) || ")})`;
}
