/** A parameter of D1 has at most 2 MB. */
const STATEMENT_CHARS = 900_000;

/** Divides rows, as JSON, among statements that each take theirs as one bound value. */
export function statementChunks(rows: string[]): string[][] {
  const chunks: string[][] = [];
  let chars = Infinity;
  for (const row of rows) {
    if ((chars += row.length) > STATEMENT_CHARS) {
      chunks.push([]);
      chars = row.length;
    }
    chunks.at(-1)?.push(row);
  }
  return chunks;
}
