import type { ArchivePiece } from "#db/types.ts";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { type Header, InvalidArchive, type Line, MAX_LINE, readLine } from "./format.ts";
import type { StoredRow } from "./secrets.ts";
import { ARCHIVED, type ArchivedTable, columnsOf, nameOf } from "./tables.ts";

/** What is read at a time; more than any piece has. */
const WINDOW = 2 * MAX_LINE;
const NEWLINE = 10;
const TABLES = new Map(ARCHIVED.map((table) => [nameOf(table), table]));

export interface Piece {
  kind: "piece";
  number: number;
  table: ArchivedTable;
  rows: StoredRow[];
  sealed: string | null;
  files: { file: string; bytes: number; md5: string }[];
}

export type Part = { kind: "header"; header: Header } | Piece | { kind: "end"; pieces: number; rows: number };

/** A stored archive: one object, or several that each contain whole parts. */
interface Source {
  env: Env;
  pieces: ArchivePiece[];
  size: number;
}

/** The parts of an archive from this byte on, each with the byte after it; holds one window in memory. Throws InvalidArchive. */
export async function* readParts(source: Source, from: number): AsyncGenerator<{ part: Part; offset: number }, void> {
  for (let offset = from; offset < source.size;) {
    const bytes = await readWindow(source, offset);
    const start = offset;
    for (let at = 0; at < bytes.length;) {
      const found = await nextPart(bytes, at, offset === 0);
      if (!found) break;
      at = found.end;
      offset = start + at;
      yield { part: found.part, offset };
    }
    if (offset === start) throw new InvalidArchive(`The part at byte ${offset} is too large or incomplete`);
  }
}

async function readWindow({ env, pieces }: Source, offset: number): Promise<Uint8Array> {
  let start = 0;
  const piece = pieces.find(({ bytes }) => offset < (start += bytes));
  if (!piece) throw new InvalidArchive("The archive is incomplete");
  const rest = start - offset;
  const object = await env.MEDIA.get(piece.key, { range: { offset: piece.bytes - rest, length: Math.min(WINDOW, rest) } });
  if (!object) throw new InvalidArchive("The archive is gone");
  return new Uint8Array(await object.arrayBuffer());
}

/** The part at this place in a window, if the window has all of it. */
async function nextPart(bytes: Uint8Array, start: number, isFirst: boolean): Promise<{ part: Part; end: number } | undefined> {
  const lines: { text: string; line: Line }[] = [];
  for (let at = start; ;) {
    const newline = bytes.indexOf(NEWLINE, at);
    if (newline === -1) return undefined;
    const text = decode(bytes.subarray(at, newline + 1));
    const line = readLine(text, `the part at byte ${start}`);
    at = newline + 1;
    if ("format" in line) {
      if (!isFirst || lines.length > 0) throw new InvalidArchive("A header in the middle");
      return { part: { kind: "header", header: line }, end: at };
    }
    if (isFirst) throw new InvalidArchive("It doesn't start with the header of an archive");
    if ("end" in line) {
      if (lines.length > 0) throw new InvalidArchive("A piece has no digest");
      return { part: { kind: "end", pieces: line.pieces, rows: line.rows }, end: at };
    }
    if ("piece" in line) return { part: await pieceOf(line, lines), end: at };
    lines.push({ text, line });
  }
}

async function pieceOf(trailer: Extract<Line, { piece: number }>, lines: { text: string; line: Line }[]): Promise<Piece> {
  const name = `Piece ${trailer.piece}`;
  const table = TABLES.get(trailer.table);
  if (!table) throw new InvalidArchive(`${name} is of an unknown table`);
  if ((await sha256(lines.map(({ text }) => text).join(""))) !== trailer.sha256) throw new InvalidArchive(`${name} has another digest`);
  const piece: Piece = { kind: "piece", number: trailer.piece, table, rows: [], sealed: null, files: [] };
  for (const { line } of lines) {
    if ("row" in line) piece.rows.push(line.row);
    else if ("sealed" in line) piece.sealed = line.sealed;
    else if ("file" in line) piece.files.push(line);
  }
  if (piece.rows.length !== trailer.rows) throw new InvalidArchive(`${name} has another number of rows`);
  return piece;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new InvalidArchive("It isn't UTF-8");
  }
}

/** Checks that this release knows all tables and columns, and that the archive is of this site. Throws InvalidArchive. */
export function checkHeader({ siteId, tables }: Header, expected: string): void {
  if (siteId !== expected) throw new InvalidArchive("It is of another site");
  for (const [name, columns] of Object.entries(tables)) {
    const table = TABLES.get(name);
    const known = table && columnsOf(table);
    const unknown = columns.find((column) => !known?.has(column));
    if (!known || unknown !== undefined)
      throw new InvalidArchive(`It was written by a newer release: this one has no ${known ? `${name}.${unknown}` : name}`);
  }
}
