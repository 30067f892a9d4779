import type { Route } from "./copy.ts";
import { MOVED, type MovedTable, SITE_ROW } from "./tables.ts";

/** The tables in which the two databases don't have the same rows of the site. */
export async function differencesOf({ siteId, from, to }: Route): Promise<string[]> {
  const tables = [...MOVED, SITE_ROW];
  const sums = async (database: D1Database) => {
    const results = await database.batch(tables.map((table) => database.prepare(sumOf(table, siteId))));
    return results.map(({ results: [sum] }) => JSON.stringify(sum));
  };
  const [before, after] = await Promise.all([sums(from), sums(to)]);
  return tables.flatMap(({ name }, index) => (before[index] === after[index] ? [] : [name]));
}

/** The rows, the length of their values, the sum of their numbers, and one of characters at three places of each text. */
function sumOf(table: MovedTable, siteId: string): string {
  const texts = table.columns.filter((name) => !table.integers.includes(name));
  const lengths = table.columns.map((name) => `length(coalesce("${name}", ''))`);
  const numbers = table.integers.map((name) => `cast(coalesce("${name}", 0) as integer)`);
  const characters = texts.map(
    (name) =>
      `coalesce(unicode("${name}"), 0) + 3 * coalesce(unicode(substr("${name}", length("${name}") / 2)), 0) + 7 * coalesce(unicode(substr("${name}", -2)), 0)`,
  );
  // Sums of whole numbers, which neither overflow nor depend on the order.
  const total = (terms: string[]) => `sum((${["0", ...terms].join(" + ")}) % 1000003)`;
  return `select count(*) as rows, ${total(lengths)} as lengths, ${total(numbers)} as numbers, ${total(characters)} as characters
    from "${table.name}" where ${table.owned(`"${table.name}"`, siteId)}`;
}
