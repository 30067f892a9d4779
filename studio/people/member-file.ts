import { CsvError, readCsv } from "#worker/lib/csv.ts";

export interface MemberRow {
  /** As a spreadsheet counts: the header is row 1. */
  row: number;
  email: string;
  name: string;
}

export interface RowProblem {
  row: number;
  /** What is in the row, so that it is found. */
  value: string;
  problem: string;
}

export interface MemberFile {
  rows: MemberRow[];
  problems: RowProblem[];
}

export const MOST_ROWS = 20_000;
export const MOST_BYTES = 10_000_000;

/** Reads a CSV of members: columns `email` and `name` in any order, others are ignored. Throws a sentence for the whole file. */
export async function readMembers(file: Blob): Promise<MemberFile> {
  if (file.size > MOST_BYTES) throw new Error("The file is larger than 10 MB.");
  const found: MemberFile = { rows: [], problems: [] };
  const seen = new Map<string, number>();
  let columns: { email: number; name: number } | null = null;
  let row = 0;
  try {
    for await (const cells of readCsv(chunksOf(file))) {
      row++;
      if (columns === null) columns = columnsOf(cells);
      else if (row > MOST_ROWS + 1) throw new Error(`The file has more than ${MOST_ROWS.toLocaleString("en-GB")} rows.`);
      else addRow(found, seen, { row, email: textOf(cells[columns.email]), name: textOf(cells[columns.name]) });
    }
  } catch (error) {
    if (error instanceof CsvError) throw new Error(`Row ${String(error.row)}: ${error.message}`, { cause: error });
    throw error;
  }
  if (columns === null) throw new Error("The file is empty.");
  return found;
}

function columnsOf(header: string[]): { email: number; name: number } {
  // Spreadsheets put a byte order mark first.
  const names = header.map((name) =>
    name
      .replace(/^\uFEFF/, "")
      .trim()
      .toLowerCase(),
  );
  const [email, name] = [names.findIndex((each) => each === "email" || each === "e-mail"), names.indexOf("name")];
  if (email === -1 || name === -1) throw new Error("The first row has to name the columns: email and name.");
  return { email, name };
}

function addRow({ rows, problems }: MemberFile, seen: Map<string, number>, member: MemberRow): void {
  const { row, email, name } = member;
  const first = seen.get(email.toLowerCase());
  const problem =
    email === "" || !email.includes("@")
      ? "This isn't an email address."
      : name === ""
        ? "The name is missing."
        : first === undefined
          ? null
          : `The same address is in row ${String(first)}.`;
  if (problem !== null) return void problems.push({ row, value: email === "" ? name : email, problem });
  seen.set(email.toLowerCase(), row);
  rows.push(member);
}

/** Exports prefix what a spreadsheet would run as a formula with an apostrophe. */
function textOf(cell: string | undefined): string {
  return (cell ?? "").trim().replace(/^'(?=[=+\-@])/, "");
}

async function* chunksOf(file: Blob): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
}

interface Progress {
  done: number;
  problems: RowProblem[];
}

/** As many as one request takes without a pause that is felt. */
export const ROWS_AT_A_TIME = 200;

interface Options {
  report: (progress: Progress) => void;
  stop: AbortSignal;
  size?: number;
}

/** Sends the rows in groups, and reports after each. `send` returns what is wrong with each row; stopping leaves the rest unsent. */
export async function importMembers(
  rows: readonly MemberRow[],
  send: (rows: readonly MemberRow[]) => Promise<(string | null)[]>,
  { report, stop, size = ROWS_AT_A_TIME }: Options,
): Promise<void> {
  const problems: RowProblem[] = [];
  for (let start = 0; start < rows.length && !stop.aborted; start += size) {
    const group = rows.slice(start, start + size);
    const messages = await send(group);
    for (const [index, { row, email }] of group.entries()) {
      const problem = messages[index] ?? null;
      if (problem !== null) problems.push({ row, value: email, problem });
    }
    report({ done: start + group.length, problems: [...problems] });
  }
}
