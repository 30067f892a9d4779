import { getTableColumns, getTableName } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { tables } from "./tables.ts";
import { siteStore } from "#test/site-store.ts";

// Detects writes: a checksum of every table, computed by the database itself, so that it stays cheap however many rows other suites
// have left.

/** Written by the alarms of objects, whatever a request does. */
const BY_ALARM = /^insight_/;

const statements = tables
  .filter((table) => !BY_ALARM.test(getTableName(table)))
  .map((table) => {
    const columns = Object.values<SQLiteColumn>(getTableColumns(table));
    const isText = (column: SQLiteColumn): boolean => column.getSQLType().startsWith("text");
    const texts = columns.filter(isText).map(({ name }) => `length(coalesce("${name}", ''))`);
    const numbers = columns.filter((column) => !isText(column)).map(({ name }) => `cast(coalesce("${name}", 0) as integer)`);
    const name = getTableName(table);
    return `select '${name}' as name, count(*) as rows, sum(${["0", ...texts].join(" + ")}) as length, sum(${["0", ...numbers].join(" + ")}) as total from "${name}"`;
  });

/** Row count, length of all texts and sum of all numbers, by table. Compare it only once the outbox is empty. */
export async function databaseChecksum(): Promise<unknown> {
  const results = await siteStore.batch(statements.map((statement) => siteStore.prepare(statement)));
  return results.map(({ results: [checksum] }) => checksum);
}
