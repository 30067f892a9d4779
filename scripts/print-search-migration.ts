// Prints the SQL of `db/search-text.ts` for a migration (`drizzle-kit generate --custom`): its letters, its triggers, and the texts of existing rows.
import { foldRows, foldSql, SEARCHED_TABLES, searchTriggers } from "#db/search-text.ts";
import { foldLetter } from "#worker/lib/fold-text.ts";

/** D1 rejects statements of more than 100 kB. */
const LETTERS_PER_STATEMENT = 1500;
const BREAKPOINT = "--> statement-breakpoint";

/** The letters that fold to something else. ASCII isn't among them: SQLite's `lower` folds it. */
function letters(): [letter: string, plain: string][] {
  return Array.from({ length: 0x10000 - 0x80 }, (_, index) => String.fromCharCode(index + 0x80))
    .map((letter): [string, string] => [letter, foldLetter(letter)])
    .filter(([letter, plain]) => letter !== plain);
}

function* statements(tables = SEARCHED_TABLES): Generator<string> {
  const all = letters();
  for (let from = 0; from < all.length; from += LETTERS_PER_STATEMENT) {
    const json = JSON.stringify(Object.fromEntries(all.slice(from, from + LETTERS_PER_STATEMENT)));
    yield `INSERT INTO search_letters (letter, plain) SELECT key, value FROM json_each('${json.replaceAll("'", "''")}') WHERE true ON CONFLICT (letter) DO UPDATE SET plain = excluded.plain`;
  }
  for (const table of tables) yield* Object.values(searchTriggers(table));
  for (const table of tables) yield foldRows(table);
  yield `UPDATE accounts SET normalized_name = ${foldSql("name")} WHERE name GLOB '*[^' || char(1) || '-' || char(127) || ']*'`;
}

console.log([...statements()].map((statement) => `${statement};`).join(`\n${BREAKPOINT}\n`));
