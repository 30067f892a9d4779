import { getTableConfig, type SQLiteColumn } from "drizzle-orm/sqlite-core";
import { z } from "@hono/zod-openapi";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import type { StoredRow } from "./secrets.ts";
import { ARCHIVED, type ArchivedTable, columnsOf, nameOf } from "./tables.ts";

// An archive is a text of lines, each a JSON object: a header, then rows in pieces that each end with their digest, then the end.

export const FORMAT = "tifo-site-1";
/** A row of D1 has at most 2 MB. */
export const MAX_LINE = 4_000_000;

/** The archive is invalid; the message says why. */
export class InvalidArchive extends Error {
  override readonly name = "InvalidArchive";
}

const Value = z.union([z.string(), z.number(), z.null()]);
const Row = z.record(z.string().max(100), Value);

const Header = z.strictObject({
  format: z.literal(FORMAT),
  siteId: z.string(),
  exportedAt: z.number(),
  /** The columns of each table in the release that wrote it. */
  tables: z.record(z.string(), z.array(z.string())),
});

const Trailer = z.strictObject({
  piece: z.number().int(),
  table: z.string(),
  rows: z.number().int(),
  sha256: z.string(),
});

const Line = z.union([
  Header,
  z.strictObject({ row: Row }),
  /** The secrets of the piece's rows, which only this deployment can read. */
  z.strictObject({ sealed: z.string() }),
  /** A file of the row before, which is in the bucket. */
  z.strictObject({ file: z.string(), bytes: z.number().int(), md5: z.string() }),
  Trailer,
  z.strictObject({ end: z.literal(true), pieces: z.number().int(), rows: z.number().int() }),
]);

export type Line = z.output<typeof Line>;
export type Header = z.output<typeof Header>;

/** Secrets of one piece, by the keys of its rows; bound to the site, so that they fit no other. */
export const Secrets = z.strictObject({ siteId: z.string(), table: z.string(), rows: z.record(z.string(), Row) });

export function headerOf(siteId: string, exportedAt: number): Header {
  const tables = Object.fromEntries(ARCHIVED.map((each) => [nameOf(each), [...columnsOf(each).keys()]]));
  return { format: FORMAT, siteId, exportedAt, tables };
}

export function writeLine(line: Line): string {
  return `${JSON.stringify(line)}\n`;
}

/** A piece: its lines, and a line with their digest. */
export async function writePiece(piece: number, table: string, lines: string[], rows: number): Promise<string> {
  const text = lines.join("");
  return text + writeLine({ piece, table, rows, sha256: await sha256(text) });
}

/** Reads a line. Throws InvalidArchive. */
export function readLine(text: string, number: string): Line {
  if (text.length > MAX_LINE) throw new InvalidArchive(`A line of ${number} is too long`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new InvalidArchive(`A line of ${number} isn't JSON`);
  }
  const line = Line.safeParse(parsed);
  if (!line.success) throw new InvalidArchive(`A line of ${number} is none of an archive`);
  return line.data;
}

/** The key of a row, by which its secrets are found. */
export function keyOf(table: ArchivedTable, row: StoredRow): string {
  const { primaryKeys, columns } = getTableConfig(table.table);
  const names = primaryKeys[0]?.columns.map(({ name }) => name) ?? columns.filter(({ primary }) => primary).map(({ name }) => name);
  return JSON.stringify(names.map((name) => row[name] ?? null));
}

/** Checks a row against the table of this release, whose site must be this one. Throws InvalidArchive. */
export function checkRow(table: ArchivedTable, row: StoredRow, siteId: string): void {
  const columns = columnsOf(table);
  const name = nameOf(table);
  const hidden = new Set([...table.secret, ...table.blank].map((column) => column.name));
  for (const [key, value] of Object.entries(row)) {
    const column = columns.get(key);
    if (!column || hidden.has(key)) throw new InvalidArchive(`${name} has no column ${key}`);
    if (!fits(column, value)) throw new InvalidArchive(`${name}.${key} has an invalid value`);
  }
  if (row[table.site.name] !== siteId) throw new InvalidArchive(`A row of ${name} belongs to another site`);
  for (const column of columns.values())
    if (column.notNull && !column.hasDefault && !hidden.has(column.name) && (row[column.name] ?? null) === null)
      throw new InvalidArchive(`${name}.${column.name} is missing`);
}

function fits(column: SQLiteColumn, value: string | number | null): boolean {
  if (value === null) return !column.notNull;
  if (column.getSQLType() === "integer") return Number.isSafeInteger(value);
  if (column.getSQLType() === "real") return typeof value === "number";
  if (typeof value !== "string") return false;
  if (column.dataType === "json") return isJson(value);
  return column.enumValues === undefined || column.enumValues.length === 0 || column.enumValues.includes(value);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
