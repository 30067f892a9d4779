import { ok, type Schemas } from "../client/index.ts";
import { cursorOf } from "../client/cursor.ts";
import type { Session } from "./session.ts";

const PAGE = 200;
/** Nobody looks through more than these. */
const MOST_PAGES = 10;

type Channel = Schemas["Page"];

interface Sorting {
  sortBy?: "data.name";
  sortDirection?: 1 | -1;
}

/** The wanted channels, in their order and without those that the site doesn't have; null for all of the site's. */
export async function listChannels(
  { client: { api } }: Pick<Session, "client">,
  wanted: readonly string[] | null,
  sorting: Sorting = {},
): Promise<Channel[]> {
  const found: Channel[] = [];
  const missing = new Set(wanted);
  let cursor: string | undefined;
  for (let page = 1; page <= MOST_PAGES; page++) {
    const query = { limit: PAGE, ...sorting, ...(cursor !== undefined && { cursor }) };
    const list = await ok(api.GET("/page/v2/channel", { params: { query } }));
    found.push(...list.results);
    for (const { _id } of list.results) missing.delete(_id);
    cursor = cursorOf(list);
    if (cursor === undefined || (wanted !== null && missing.size === 0)) break;
  }
  return wanted === null ? found : wanted.flatMap((id) => found.find(({ _id }) => _id === id) ?? []);
}
