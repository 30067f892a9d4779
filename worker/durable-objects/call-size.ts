/**
 * How much text one call between objects may contain, in characters. The platform allows 32 MiB per call and needs two bytes per character
 * if one isn't Latin-1, so large lists are sent in pages.
 */
export const CALL_CHARS = 4_000_000;

interface Text {
  body: string;
}

/**
 * The first rows that fit into `chars` (at least one), and whether there are more. The others are read too, and not kept: a cursor that
 * isn't read to its end holds a lock on its tables, and SQLite's log grows until it is collected as garbage.
 */
export function pageOf<T extends Text>(rows: Iterable<T>, chars = CALL_CHARS): { page: T[]; more: boolean } {
  const page: T[] = [];
  let size = 0;
  let more = false;
  for (const row of rows) {
    size += row.body.length;
    more ||= page.length > 0 && size > chars;
    if (!more) page.push(row);
  }
  return { page, more };
}

export function charsOf(rows: Text[]): number {
  let size = 0;
  for (const { body } of rows) size += body.length;
  return size;
}
