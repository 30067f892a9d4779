import { and, asc, count, countDistinct, desc, getTableColumns, getTableName, or, type SQL, sql } from "drizzle-orm";
import type { RunnableQuery } from "drizzle-orm/runnable-query";
import type { SQLiteColumn, SQLiteSelect, SQLiteTable } from "drizzle-orm/sqlite-core";
import { z } from "@hono/zod-openapi";
import type { Db } from "#db/client.ts";
import { searchTexts } from "#db/schema/search.ts";
import { folded, SEARCHED_TABLES } from "#db/search-text.ts";
import { fromBase64Url, toBase64Url } from "#worker/lib/crypto/crypto.ts";
import { invalid } from "#worker/lib/errors.ts";
import { foldText } from "#worker/lib/fold-text.ts";
import type { Ctx } from "./context.ts";
import type { ListPage, ListQuery } from "./list-schemas.ts";

export type { ListPage, ListQuery } from "./list-schemas.ts";

/** The part of a table that is on a page. */
export interface Slice {
  where: SQL | undefined;
  orderBy: SQL[];
  limit: number;
  offset: number;
}

/** Applies a slice to a select: `sliceOf(db.select().from(things).$dynamic(), slice)`. */
export function sliceOf<T extends SQLiteSelect>(select: T, slice: Slice): T {
  return select
    .where(slice.where)
    .orderBy(...slice.orderBy)
    .limit(slice.limit)
    .offset(slice.offset);
}

type SortValue = string | number;

/** Defines a list. Sort fields are never null (coalesce them) and the first is the default; search fields use their wire names. */
export interface ListSpec<Row> {
  table: SQLiteTable;
  /** The tiebreaker for rows with equal sort values. */
  id: { by: SQLiteColumn | SQL; of(row: Row): string };
  /** The column that the rows are grouped by, if they are. */
  counted?: SQLiteColumn;
  rows(db: Db, slice: Slice): RunnableQuery<Row[], "sqlite">;
  sort: Record<string, { by: SQLiteColumn | SQL; of(row: Row): SortValue }>;
  /** The direction of the default sort; a field that the caller chooses sorts ascending by default. */
  defaultDirection: 1 | -1;
  search: Record<string, SQLiteColumn | SQL>;
  /** The searched texts, folded, if they are stored in the table itself. */
  foldedTexts?: SQL[];
}

/** A column that a list can be sorted by. */
type SortColumn = SQLiteColumn & { _: { notNull: true; data: SortValue } };

/** Defines a list of a table's rows by their columns; by default the latest come first. */
export function tableList<Row extends { id: string }>({
  table,
  sort,
  defaultDirection = -1,
  ...spec
}: Pick<ListSpec<Row>, "rows" | "search" | "foldedTexts"> & {
  table: SQLiteTable & { id: SQLiteColumn };
  sort: Record<string, SortColumn>;
  defaultDirection?: 1 | -1;
}): ListSpec<Row> {
  const fields = Object.entries(sort).map(([name, by]) => [name, { by, of: (row: Row) => valueIn(row, table, by) }] as const);
  return { ...spec, table, id: { by: table.id, of: ({ id }) => id }, sort: Object.fromEntries(fields), defaultDirection };
}

/** A row's value of one of its table's columns. */
function valueIn(row: object, table: SQLiteTable, column: SortColumn): SortValue {
  const [name = ""] = Object.entries(getTableColumns(table)).find(([, each]) => each === column) ?? [];
  const value: unknown = Reflect.get(row, name);
  if (typeof value === "string" || typeof value === "number") return value;
  throw new Error(`A list can't be sorted by ${column.name}, which isn't a text or a number`);
}

/** The sort order, then the position in it: the last row's sort value and id. */
const Cursor = z.tuple([z.string(), z.literal([1, -1]), z.union([z.string(), z.number()]), z.string()]);
type Cursor = z.output<typeof Cursor>;

/**
 * Reads one page of a table and counts all matches, in one batch. The order is total: the sort field, then the id. A cursor
 * (the last row's two values) continues there by index, whereas an offset counts rows.
 */
export async function listRows<Row>(
  ctx: Ctx,
  spec: ListSpec<Row>,
  query: ListQuery,
  ...where: (SQL | undefined)[]
): Promise<ListPage<Row>> {
  const [defaultSort = ""] = Object.keys(spec.sort);
  const sortBy = query.sortBy ?? defaultSort;
  const sortDirection = query.sortDirection ?? (query.sortBy === undefined ? spec.defaultDirection : 1);
  const sort = spec.sort[sortBy];
  if (!sort) throw invalid("sortBy", `Must be one of: ${Object.keys(spec.sort).join(", ")}`);
  const order = sortDirection === 1 ? asc : desc;
  const matches = and(...where, contains(searchedTexts(spec), query.search));
  const cursor = query.cursor === undefined ? undefined : readCursor(query.cursor, sortBy, sortDirection);
  const after = cursor && isAfter(sort.by, spec.id.by, cursor);
  const [found, [counted]] = await ctx.db.batch([
    spec.rows(ctx.db, {
      // The cursor comes first, because SQLite uses the first bound that an index can start at.
      where: and(after, matches),
      orderBy: sort.by === spec.id.by ? [order(spec.id.by)] : [order(sort.by), order(spec.id.by)],
      // One extra row shows whether there is a next page; a count couldn't, while rows come and go.
      limit: query.limit + 1,
      offset: after ? 0 : query.offset,
    }),
    ctx.db
      .select({ total: spec.counted ? countDistinct(spec.counted) : count() })
      .from(spec.table)
      .where(matches),
  ]);
  const rows = found.slice(0, query.limit);
  const last = found.length > rows.length ? rows.at(-1) : undefined;
  return {
    rows,
    totalCount: counted?.total ?? 0,
    offset: query.offset,
    sortBy,
    sortDirection,
    searchFields: Object.keys(spec.search),
    cursor: last && writeCursor([sortBy, sortDirection, sort.of(last), spec.id.of(last)]),
  };
}

/**
 * One page of the rows of every database, in the same order: each is read as far as the page may need. For short lists, because an offset is
 * read from the beginning.
 */
export async function listRowsOfAll<Row>(
  ctx: Ctx,
  dbs: [Db, ...Db[]],
  spec: ListSpec<Row>,
  query: ListQuery,
  ...where: (SQL | undefined)[]
): Promise<ListPage<Row>> {
  const [only, ...others] = dbs;
  if (others.length === 0) return listRows({ ...ctx, db: only }, spec, query, ...where);
  const upTo = { ...query, offset: 0, limit: (query.cursor === undefined ? query.offset : 0) + query.limit };
  const [first, ...further] = await Promise.all(dbs.map((db) => listRows({ ...ctx, db }, spec, upTo, ...where)));
  if (!first) throw new Error("A list has at least one database");
  const pages = [first, ...further];
  const { sortBy, sortDirection } = first;
  const sort = spec.sort[sortBy];
  const compare = (one: SortValue, other: SortValue) => (one < other ? -1 : one > other ? 1 : 0) * sortDirection;
  const all = pages
    .flatMap(({ rows }) => rows)
    .sort((one, other) => (sort && compare(sort.of(one), sort.of(other))) || compare(spec.id.of(one), spec.id.of(other)));
  const rows = all.slice(upTo.limit - query.limit, upTo.limit);
  const last = all.length > upTo.limit || pages.some(({ cursor }) => cursor !== undefined) ? rows.at(-1) : undefined;
  return {
    ...first,
    rows,
    totalCount: pages.reduce((sum, { totalCount }) => sum + totalCount, 0),
    offset: query.offset,
    cursor: last && sort && writeCursor([sortBy, sortDirection, sort.of(last), spec.id.of(last)]),
  };
}

/** The conditions of `?field=value` filters: equality or, for list columns, containing the element. */
export function equalTo(columns: Record<string, SQLiteColumn>, query: Record<string, unknown>): SQL[] {
  return Object.entries(columns).flatMap(([name, column]) => {
    const value = query[name];
    if (value === undefined) return [];
    if (column.dataType !== "json") return [sql`${column} = ${value}`];
    return [sql`exists (select 1 from json_each(${column}) where value = ${value})`];
  });
}

/** Matches these ids in a single bound parameter, because D1 allows only 100. */
export function idIn(column: SQLiteColumn | SQL, ids: string[]): SQL {
  return sql`${column} in (select value from json_each(${JSON.stringify(ids)}))`;
}

/** What a list searches, folded: the stored texts of its rows, or its fields where the table has none (`db/search-text.ts`). */
function searchedTexts<Row>({ table, search, id, foldedTexts }: ListSpec<Row>): SQL[] {
  if (foldedTexts) return foldedTexts;
  const fields = Object.values(search);
  const kind = getTableName(table);
  if (fields.length === 0 || !SEARCHED_TABLES.some((searched) => searched.table === kind)) return fields.map((field) => folded(field));
  const { kind: searchedKind, rowId, text } = searchTexts;
  return [sql`(select ${text} from ${searchTexts} where ${searchedKind} = ${kind} and ${rowId} = ${id.by})`];
}

/** Finds text in any of these folded texts, ignoring case and accents. Uses `instr`, because D1 rejects LIKE patterns of more than 50 bytes. */
export function contains(texts: SQL[], text: string | undefined): SQL | undefined {
  if (text === undefined || text === "") return undefined;
  return or(...texts.map((each) => sql`instr(${each}, ${foldText(text)}) > 0`)) ?? sql`false`;
}

/** Whether a name is exactly this one, ignoring case and accents. */
export function isNamed(field: SQLiteColumn | SQL, name: string): SQL {
  return sql`${folded(field)} = ${foldText(name)}`;
}

function isAfter(column: SQLiteColumn | SQL, id: SQLiteColumn | SQL, [, direction, value, lastId]: Cursor): SQL {
  return direction === 1 ? sql`(${column}, ${id}) > (${value}, ${lastId})` : sql`(${column}, ${id}) < (${value}, ${lastId})`;
}

function writeCursor(cursor: Cursor): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify(cursor)));
}

/** Parses a cursor and checks its sort order, because its position is meaningless in another one. */
function readCursor(text: string, sortBy: string, sortDirection: 1 | -1): Cursor {
  const cursor = parseCursor(text);
  if (!cursor) throw invalid("cursor", "Must be the unchanged cursor from `pagination.next`");
  if (cursor[0] !== sortBy || cursor[1] !== sortDirection)
    throw invalid("cursor", "Belongs to a list in another order; don't change `sortBy` or `sortDirection`");
  return cursor;
}

function parseCursor(text: string): Cursor | undefined {
  try {
    return Cursor.parse(JSON.parse(new TextDecoder().decode(fromBase64Url(text))));
  } catch {
    return undefined;
  }
}
