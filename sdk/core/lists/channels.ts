import { ok, type Schemas } from "../../client/index.ts";
import { readAll } from "../../client/lists.ts";
import type { Session } from "../session.ts";

interface Sorting {
  sortBy?: "data.name";
  sortDirection?: 1 | -1;
}

/** The wanted channels, in their order and without those that the site doesn't have; null for all of the site's. */
export async function listChannels(
  { client: { api } }: Pick<Session, "client">,
  wanted: readonly string[] | null,
  sorting: Sorting = {},
): Promise<Schemas["Page"][]> {
  const read = (page: object) => ok(api.GET("/page/v2/channel", { params: { query: { ...page, ...sorting } } }));
  if (wanted === null) return readAll(read);
  const found = await readAll(read, (some) => wanted.every((id) => some.some(({ _id }) => _id === id)));
  return wanted.flatMap((id) => found.find(({ _id }) => _id === id) ?? []);
}
