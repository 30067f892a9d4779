import { and, asc, count, countDistinct, desc, or, type SQL, sql } from "drizzle-orm";
import type { RunnableQuery } from "drizzle-orm/runnable-query";
import type { SQLiteColumn, SQLiteSelect, SQLiteTable } from "drizzle-orm/sqlite-core";
import { z } from "@hono/zod-openapi";
import type { Db } from "#db/client.ts";
import { fromBase64Url, toBase64Url } from "#worker/lib/crypto/crypto.ts";
import { invalid } from "#worker/lib/errors.ts";
import type { Ctx } from "./context.ts";

/** What a list may be asked; worker/services/core/list-schemas.ts parses it. */
export interface ListQuery {
  limit: number;
  offset: number;
  search?: string;
  sortBy?: string;
  sortDirection?: 1 | -1;
  cursor?: string;
}

/** The part of a table that a page shows. */
export interface Slice {
  where: SQL | undefined;
  orderBy: SQL[];
  limit: number;
  offset: number;
}

/** The slice of a select: `sliceOf(db.select().from(things).$dynamic(), slice)`. */
export function sliceOf<T extends SQLiteSelect>(select: T, slice: Slice): T {
  return select
    .where(slice.where)
    .orderBy(...slice.orderBy)
    .limit(slice.limit)
    .offset(slice.offset);
}

type SortValue = string | number;

/** What a list can do. Sort fields are never null (coalesce them), the first is the default; search fields go by their wire name. */
export interface ListSpec<Row> {
  table: SQLiteTable;
  /** What tells rows of one sort value apart. */
  id: { by: SQLiteColumn | SQL; of(row: Row): string };
  /** What the rows are grouped by, where each stands for several of the table's. */
  counted?: SQLiteColumn;
  rows(db: Db, slice: Slice): RunnableQuery<Row[], "sqlite">;
  sort: Record<string, { by: SQLiteColumn | SQL; of(row: Row): SortValue }>;
  /** Of the default sort; a field that the caller names sorts upward unless told otherwise. */
  defaultDirection: 1 | -1;
  search: Record<string, SQLiteColumn | SQL>;
}

export interface ListPage<Row> {
  rows: Row[];
  totalCount: number;
  offset: number;
  sortBy: string;
  sortDirection: 1 | -1;
  searchFields: string[];
  /** Of the next page; undefined on the last. */
  cursor: string | undefined;
}

/** The order that a place belongs to, then the place: the last row's two values. */
const Cursor = z.tuple([z.string(), z.literal([1, -1]), z.union([z.string(), z.number()]), z.string()]);
type Cursor = z.output<typeof Cursor>;

/**
 * One page of a table and the count of all that matches, in one batch. The order is total (the sort field, then the id);
 * a cursor (the last row's two values) goes on there by index, an offset counts rows.
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
  if (!sort) throw invalid("sortBy", `One of: ${Object.keys(spec.sort).join(", ")}`);
  const order = sortDirection === 1 ? asc : desc;
  const matches = and(...where, contains(Object.values(spec.search), query.search));
  const cursor = query.cursor === undefined ? undefined : readCursor(query.cursor, sortBy, sortDirection);
  const after = cursor && behind(sort.by, spec.id.by, cursor);
  const [found, [counted]] = await ctx.db.batch([
    spec.rows(ctx.db, {
      // The cursor first: of two bounds that an index could begin at, SQLite takes the first.
      where: and(after, matches),
      orderBy: sort.by === spec.id.by ? [order(spec.id.by)] : [order(sort.by), order(spec.id.by)],
      // One more tells whether there is a next page, which a count can't while rows come and go.
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

/** What `?field=value` asks of the columns it names: to be equal or, where they hold a list, to have this element. */
export function equalTo(columns: Record<string, SQLiteColumn>, query: Record<string, unknown>): SQL[] {
  return Object.entries(columns).flatMap(([name, column]) => {
    const value = query[name];
    if (value === undefined) return [];
    if (column.dataType !== "json") return [sql`${column} = ${value}`];
    return [sql`exists (select 1 from json_each(${column}) where value = ${value})`];
  });
}

/** The rows of these ids, in one bound parameter, however many they are: D1 takes 100. */
export function idIn(column: SQLiteColumn, ids: string[]): SQL {
  return sql`${column} in (select value from json_each(${JSON.stringify(ids)}))`;
}

/** Text anywhere in any of the fields, the case of A to Z ignored, as SQLite knows it. By `instr`: D1 refuses LIKE patterns of more than 50 bytes. */
export function contains(fields: (SQLiteColumn | SQL)[], text: string | undefined): SQL | undefined {
  if (text === undefined || text === "") return undefined;
  const lower = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return or(...fields.map((field) => sql`instr(lower(${field}), ${lower}) > 0`)) ?? sql`false`;
}

function behind(column: SQLiteColumn | SQL, id: SQLiteColumn | SQL, [, direction, value, lastId]: Cursor): SQL {
  return direction === 1 ? sql`(${column}, ${id}) > (${value}, ${lastId})` : sql`(${column}, ${id}) < (${value}, ${lastId})`;
}

function writeCursor(cursor: Cursor): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify(cursor)));
}

/** A cursor of this order; in another one its place would be a wrong one. */
function readCursor(text: string, sortBy: string, sortDirection: 1 | -1): Cursor {
  const cursor = parseCursor(text);
  if (!cursor) throw invalid("cursor", "Take it from `pagination.next` as it stands");
  if (cursor[0] !== sortBy || cursor[1] !== sortDirection)
    throw invalid("cursor", "Of a list in another order; leave `sortBy` and `sortDirection` as they are");
  return cursor;
}

function parseCursor(text: string): Cursor | undefined {
  try {
    return Cursor.parse(JSON.parse(new TextDecoder().decode(fromBase64Url(text))));
  } catch {
    return undefined;
  }
}
