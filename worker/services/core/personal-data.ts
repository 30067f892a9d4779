import { and, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Ctx } from "./context.ts";

// What an area stores about a person, for the export of all of it.

/** Rows in memory at a time. */
const PAGE = 500;

export interface Person {
  accountId: string;
  /** Whether the person asks, who isn't told of a mute, nor who moderates. */
  isSelf: boolean;
}

/** One list of the export. */
export interface PersonalData {
  name: string;
  /** Developer keys need `<area>:read`. */
  area: string;
  description: string;
  /** The tables that it covers; a test fails for one with an account's id that none covers. */
  tables: SQLiteTable[];
  /** Records as JSON, a page at a time. */
  pages: (ctx: Ctx, person: Person) => AsyncGenerator<object[], void>;
}

/** Which rows of a table belong to the person, and what of them. Leave out secrets, hashes and other people's data. */
interface PersonRows {
  table: SQLiteTable;
  of: (ctx: Ctx, person: Person) => SQL | undefined;
  columns: Record<string, SQLiteColumn>;
}

/** A list of the rows of one table. */
export function rowsOf(list: Pick<PersonalData, "name" | "area" | "description">, rows: PersonRows): PersonalData {
  return { ...list, tables: [rows.table], pages: (ctx, person) => pagesOf(ctx, person, rows) };
}

async function* pagesOf(ctx: Ctx, person: Person, { table, of, columns }: PersonRows): AsyncGenerator<object[], void> {
  const rowid = sql<number>`${table}.rowid`;
  for (let after = 0; ;) {
    const rows = await ctx.db
      .select({ ...columns, rowid: rowid.as("position") })
      .from(table)
      .where(and(of(ctx, person), sql`${rowid} > ${after}`))
      .orderBy(rowid)
      .limit(PAGE);
    const last = rows.at(-1);
    if (!last) return;
    yield rows.map(({ rowid: _, ...row }) => row);
    if (rows.length < PAGE) return;
    after = last.rowid;
  }
}
