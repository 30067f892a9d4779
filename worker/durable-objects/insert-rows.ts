import { pageOf } from "./call-size.ts";

/** Characters that one statement inserts: a bound text may have two megabytes, and JSON quotes these once more. */
const STATEMENT_CHARS = 400_000;

/** A row's values, in the order of the columns. */
export type Values = readonly (string | number | null)[];

/** Inserts rows in order, as few statements as possible: each one also writes the last id of a table with `AUTOINCREMENT`. */
export function insertRows(sql: SqlStorage, table: string, columns: readonly string[], rows: readonly Values[]): void {
  const into = `INSERT INTO ${table} (${columns.join(", ")})`;
  const fields = columns.map((_, index) => `value ->> ${index}`).join(", ");
  for (let rest = rows.map((values) => ({ values, body: textOf(values) })); rest.length > 0;) {
    const { page } = pageOf(rest, STATEMENT_CHARS);
    rest = rest.slice(page.length);
    const [only] = page;
    // Not as JSON, so that one value may be as large as a row.
    if (only && page.length === 1) sql.exec(`${into} VALUES (${columns.map(() => "?").join(", ")})`, ...only.values);
    else sql.exec(`${into} SELECT ${fields} FROM json_each(?) ORDER BY key`, JSON.stringify(page.map(({ values }) => values)));
  }
}

function textOf(values: Values): string {
  return values.map((value) => value ?? "").join("");
}
