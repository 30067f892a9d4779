import { env } from "cloudflare:workers";
import { getTableColumns, getTableName, is } from "drizzle-orm";
import { type SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import * as schema from "#db/schema/index.ts";

// What a test compares to find that nothing was written: a sum over every table, made by the database itself, so that it
// costs no more for all the rows that other suites have left.

const statements = Object.values(schema).flatMap((table) => {
  if (!is(table, SQLiteTable)) return [];
  const columns = Object.values<SQLiteColumn>(getTableColumns(table));
  const isText = (column: SQLiteColumn): boolean => column.getSQLType().startsWith("text");
  const texts = columns.filter(isText).map(({ name }) => `length(coalesce("${name}", ''))`);
  const numbers = columns.filter((column) => !isText(column)).map(({ name }) => `cast(coalesce("${name}", 0) as integer)`);
  const name = getTableName(table);
  return [
    `select '${name}' as name, count(*) as rows, sum(${["0", ...texts].join(" + ")}) as length, sum(${["0", ...numbers].join(" + ")}) as total from "${name}"`,
  ];
});

/** Rows, length of all texts and total of all numbers, by table. Compare after all that was started has left the outbox. */
export async function databaseChecksum(): Promise<unknown> {
  const results = await env.DB.batch(statements.map((statement) => env.DB.prepare(statement)));
  return results.map(({ results: [sum] }) => sum);
}
