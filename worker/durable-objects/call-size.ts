/**
 * How much text one call between objects may contain, in characters. The platform allows 32 MiB per call and needs two bytes per character
 * if one isn't Latin-1, so large lists are sent in pages.
 */
export const CALL_CHARS = 4_000_000;

interface Text {
  body: string;
}

/** The first rows that fit into `chars` (at least one), and whether there are more. Reads no further than that. */
export function pageOf<T extends Text>(rows: Iterable<T>, chars = CALL_CHARS): { page: T[]; more: boolean } {
  const page: T[] = [];
  let size = 0;
  for (const row of rows) {
    size += row.body.length;
    if (page.length > 0 && size > chars) return { page, more: true };
    page.push(row);
  }
  return { page, more: false };
}

export function charsOf(rows: Text[]): number {
  let size = 0;
  for (const { body } of rows) size += body.length;
  return size;
}
