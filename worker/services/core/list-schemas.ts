import { z } from "@hono/zod-openapi";
import { fromQuery } from "#worker/lib/schemas/common.ts";

const LIMIT_MAX = 200;
const SEARCH_MAX = 100;
/** Longer than the cursor of any name, even if each character is escaped. */
const CURSOR_MAX = 10_000;

/** The common query of lists; `listQuery` parses it. */
export interface ListQuery {
  limit: number;
  offset: number;
  search?: string;
  sortBy?: string;
  sortDirection?: 1 | -1;
  cursor?: string;
}

export interface ListPage<Row> {
  rows: Row[];
  totalCount: number;
  offset: number;
  sortBy: string;
  sortDirection: 1 | -1;
  searchFields: string[];
  /** The cursor of the next page; undefined on the last page. */
  cursor: string | undefined;
}

export const SortDirection = z
  .enum(["1", "-1", "2"])
  .transform((direction): 1 | -1 => (direction === "1" ? 1 : -1))
  .openapi({ type: "integer", enum: [1, -1, 2], description: "1 ascending, -1 descending (2 is accepted as -1)", example: -1 });

/**
 * The query of a list: `limit`, `offset`, `search`, `sortBy`, `sortDirection`, `cursor`, and `?field=value` for declared fields.
 * An unknown parameter is a 400 that names it: ignoring a filter silently would return the wrong rows.
 */
export function listQuery<const S extends readonly [string, ...string[]], F extends z.ZodRawShape>(sortFields: S, filters: F) {
  return z.strictObject({
    limit: fromQuery(z.number().int().min(1).max(LIMIT_MAX))
      .default(50)
      .openapi({ description: `At most ${LIMIT_MAX}`, example: 50 }),
    // Unbounded, because `next` and `last` contain offsets too, however long the list is.
    offset: fromQuery(z.number().int().min(0)).default(0),
    search: z
      .string()
      .max(SEARCH_MAX)
      .optional()
      .openapi({ description: `Text to find, at most ${SEARCH_MAX} characters, ignoring case and accents` }),
    sortBy: z.enum(sortFields).optional(),
    sortDirection: SortDirection.optional(),
    cursor: z.string().max(CURSOR_MAX).optional().openapi({ description: "From `pagination.next`; keeps late pages as fast as the first" }),
    ...filters,
  });
}

export const Pagination = z
  .object({
    limit: z.number().int(),
    offset: z.number().int(),
    totalCount: z.number().int(),
    pageResults: z.number().int(),
    search: z.string().nullable(),
    searchFields: z.array(z.string()),
    sortBy: z.string(),
    sortDirection: z.union([z.literal(1), z.literal(-1)]),
    first: z.string().nullable().describe("Path and query of that page"),
    last: z.string().nullable(),
    next: z.string().nullable(),
    prev: z.string().nullable(),
    self: z.string(),
  })
  .openapi("Pagination");

/** The response schema of a list. */
export function listOf<T extends z.ZodType>(item: T) {
  return z.object({ results: z.array(item), pagination: Pagination });
}

/** For lists whose rows are their wire form. */
export function asIs<Row>(row: Row): Row {
  return row;
}

/** Turns a page of rows into the response, with links that keep the caller's parameters. */
export function listResponse<Row, Item>(url: string, query: ListQuery, page: ListPage<Row>, toItem: (row: Row) => Item) {
  const { pathname, searchParams } = new URL(url);
  const link = (offset: number, cursor?: string) => {
    const params = new URLSearchParams(searchParams);
    params.delete("cursor");
    // An offset in the request is kept, because some lists require it.
    if (offset > 0 || params.has("offset")) params.set("offset", String(offset));
    if (cursor !== undefined) params.set("cursor", cursor);
    const text = params.toString();
    return text === "" ? pathname : `${pathname}?${text}`;
  };
  const { limit } = query;
  const { offset, totalCount } = page;
  return {
    results: page.rows.map((row) => toItem(row)),
    pagination: {
      limit,
      offset,
      totalCount,
      pageResults: page.rows.length,
      search: query.search ?? null,
      searchFields: page.searchFields,
      sortBy: page.sortBy,
      sortDirection: page.sortDirection,
      first: link(0),
      last: link(Math.max(0, Math.floor((totalCount - 1) / limit) * limit)),
      next: page.cursor === undefined ? null : link(offset + page.rows.length, page.cursor),
      prev: offset === 0 ? null : link(Math.max(0, offset - limit)),
      self: pathname + new URL(url).search,
    },
  };
}
