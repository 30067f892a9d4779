import type { SiteMoveRow } from "#db/schema/databases/site-moves.ts";
import { MOVED, type MovedTable, OUTBOX, SITE_ROW } from "./tables.ts";
import { statementChunks } from "#worker/lib/statement-chunks.ts";

/** The two databases of a move, and the worker's turn. */
export interface Route {
  siteId: string;
  from: D1Database;
  to: D1Database;
  version: number;
}

type Value = string | number | null;

/** Rows of one read, of which each may have a megabyte. */
const CHUNK_ROWS = 100;
const CHANGES = 200;
const DELETED_ROWS = 2_000;

/** Takes a turn: what workers of earlier ones still write is rejected. */
export async function takeTurn({ from, to, version }: Route): Promise<void> {
  for (const database of [from, to])
    await database
      .prepare(
        `insert into site_move_pass (id, version, open) values (1, ?1, 0)
          on conflict (id) do update set version = max(version, excluded.version), open = 0`,
      )
      .bind(version)
      .run();
}

/** Writes in one batch, past the triggers of the move, unless another worker has taken over: then nothing is written. */
export async function writeAs(database: D1Database, version: number, statements: D1PreparedStatement[]): Promise<D1Result[]> {
  const results = await database.batch([
    // Null, which the column doesn't take, after another worker's turn has begun.
    database.prepare("update site_move_pass set open = case when version = ?1 then 1 end where id = 1").bind(version),
    database.prepare("pragma defer_foreign_keys = on"),
    ...statements,
    database.prepare("update site_move_pass set open = 0 where id = 1"),
  ]);
  return results.slice(2, -1);
}

/** Copies the next rows, of the table in turn or the next one that has any; returns the position after them, or undefined at the end. */
export async function copyChunk(
  route: Route,
  move: SiteMoveRow,
): Promise<Pick<SiteMoveRow, "tableIndex" | "lastRow" | "rows"> | undefined> {
  let { tableIndex, lastRow } = move;
  for (let table = MOVED[tableIndex]; table; table = MOVED[++tableIndex], lastRow = 0) {
    const owned = table.owned(`"${table.name}"`, route.siteId);
    const found = await route.from
      .prepare(
        `select rowid, ${listOf(table.columns)} from "${table.name}" where ${owned} and rowid > ?1 order by rowid limit ${CHUNK_ROWS}`,
      )
      .bind(lastRow)
      .raw<[number, ...Value[]]>();
    const last = found.at(-1)?.[0];
    if (last === undefined) continue;
    const rows = found.map(([, ...values]) => values);
    // A row that is already there has been copied: again, by a worker that died, or with a later change.
    await writeAs(route.to, route.version, insertsOf(route.to, table, rows, `on conflict (${listOf(table.key)}) do nothing`));
    return { tableIndex, lastRow: last, rows: move.rows + rows.length };
  }
  return undefined;
}

/**
 * Repeats what has changed since it was copied, a part of it at a time; returns how much is left, as far as it is known. The rows are read
 * after the list of changes, and what changes in between is on the list again.
 */
export async function copyChanges(route: Route): Promise<"none" | "little" | "much"> {
  const { from, to, siteId, version } = route;
  const changes = await from
    .prepare(`select seq, table_name, key from site_move_changes order by seq limit ${CHANGES}`)
    .raw<[number, string, string]>();
  const last = changes.at(-1)?.[0];
  if (last === undefined) return "none";
  const changed = [...MOVED, SITE_ROW].flatMap((table) => {
    const keys = new Set(changes.flatMap(([, name, key]) => (name === table.name ? [key] : [])));
    return keys.size > 0 ? [{ table, keys: `[${[...keys].join(",")}]` }] : [];
  });
  const reads = changed
    .filter(({ table }) => table !== SITE_ROW)
    .map(({ table, keys }) => ({
      table,
      read: from
        .prepare(
          `select ${listOf(table.columns)} from "${table.name}" where ${isOneOf(table)} and ${table.owned(`"${table.name}"`, siteId)}`,
        )
        .bind(keys),
    }));
  const current = await Promise.all(reads.map(async ({ table, read }) => ({ table, rows: await read.raw<Value[]>() })));
  await writeAs(to, version, [
    // All at first, so that two rows can have exchanged what is unique.
    ...changed.toReversed().map(({ table, keys }) => to.prepare(`delete from "${table.name}" where ${isOneOf(table)}`).bind(keys)),
    ...current.flatMap(({ table, rows }) => insertsOf(to, table, rows)),
  ]);
  await writeAs(from, version, [from.prepare("delete from site_move_changes where seq <= ?1").bind(last)]);
  return changes.length < CHANGES ? "little" : "much";
}

/** Copies what only makes sense once nothing writes any more. Safe to repeat. */
export async function copyLast({ from, to, siteId, version }: Route): Promise<void> {
  const own = (table: MovedTable) => table.owned(`"${table.name}"`, siteId);
  const site = await from.prepare(`select ${listOf(SITE_ROW.columns)} from sites where ${own(SITE_ROW)}`).raw<Value[]>();
  const ids = await from.prepare("select coalesce((select seq from sqlite_sequence where name = 'outbox'), 0)").raw<[number]>();
  const columns = OUTBOX.columns.filter((name) => name !== "id");
  const events = await from.prepare(`select ${listOf(columns)} from outbox where ${own(OUTBOX)} order by id`).raw<Value[]>();
  await writeAs(to, version, [
    to.prepare(`delete from sites where ${own(SITE_ROW)}`),
    to.prepare(`delete from outbox where ${own(OUTBOX)}`),
    ...insertsOf(to, SITE_ROW, site),
    // The log deletes what it has taken by position. Events here must come after every position that it may still know.
    to
      .prepare(
        `insert into outbox (id, site_id, event_id, type, resource, data, actor, request_id, created)
          select ?1, '${siteId}', '', '', '', '{}', '', '', 0
          where ?1 > coalesce((select seq from sqlite_sequence where name = 'outbox'), 0)`,
      )
      .bind(ids[0]?.[0] ?? 0),
    to.prepare("delete from outbox where id = ?1 and event_id = ''").bind(ids[0]?.[0] ?? 0),
    ...insertsOf(to, { ...OUTBOX, columns }, events),
  ]);
}

/** Deletes the next rows of the site from a database; true once it has none left. */
export async function deleteRows({ siteId, version }: Route, database: D1Database): Promise<boolean> {
  const deleted = await writeAs(
    database,
    version,
    [OUTBOX, SITE_ROW, ...MOVED.toReversed()].map((table) => {
      const owned = table.owned(`"${table.name}"`, siteId);
      const some = `select rowid from "${table.name}" where ${owned} limit ${DELETED_ROWS}`;
      return database.prepare(`delete from "${table.name}" where rowid in (${some}) returning 1`);
    }),
  );
  return deleted.every(({ results }) => results.length < DELETED_ROWS);
}

/** Matches the rows with the keys of a parameter: a JSON array of arrays. */
function isOneOf({ name, key }: MovedTable): string {
  const columns = key.map((column) => `"${name}"."${column}"`).join(", ");
  const values = key.map((_, index) => `value ->> '$[${index}]'`).join(", ");
  return `(${columns}) in (select ${values} from json_each(?1))`;
}

function insertsOf(database: D1Database, table: MovedTable, rows: Value[][], conflict = ""): D1PreparedStatement[] {
  const values = table.columns.map((_, index) => `value ->> '$[${index}]'`).join(", ");
  const insert = `insert into "${table.name}" (${listOf(table.columns)}) select ${values} from json_each(?1) where true order by key ${conflict}`;
  return statementChunks(rows.map((row) => JSON.stringify(row))).map((chunk) => database.prepare(insert).bind(`[${chunk.join(",")}]`));
}

function listOf(columns: string[]): string {
  return columns.map((name) => `"${name}"`).join(", ");
}
