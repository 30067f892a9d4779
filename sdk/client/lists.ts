/** The most items of a page. */
const PAGE = 200;
/** The most items that `readAll` reads: nobody looks through more. */
export const MOST_ITEMS = 2_000;

interface List {
  pagination: { next: string | null };
}

/** The cursor in the link to a list's next page; undefined on the last one. */
export function cursorOf({ pagination: { next } }: List): string | undefined {
  return next === null ? undefined : (new URLSearchParams(next.slice(next.indexOf("?"))).get("cursor") ?? undefined);
}

/** The items of a list, page by page, until there are no more or `isEnough` says so. */
export async function readAll<Item>(
  read: (page: { limit: number; cursor?: string }) => Promise<List & { results: Item[] }>,
  isEnough: (found: readonly Item[]) => boolean = () => false,
): Promise<Item[]> {
  const found: Item[] = [];
  let cursor: string | undefined;
  do {
    const list = await read({ limit: PAGE, ...(cursor !== undefined && { cursor }) });
    found.push(...list.results);
    cursor = cursorOf(list);
  } while (cursor !== undefined && found.length < MOST_ITEMS && !isEnough(found));
  return found;
}
