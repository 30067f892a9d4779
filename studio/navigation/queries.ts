import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ok, type Schemas } from "#sdk/client/index.ts";
import { useSession } from "#studio/session/context.tsx";
import type { EntryType } from "./tree.ts";

export type Navigation = Schemas["Navigation"];
export type PageType = Exclude<EntryType, "folder">;

interface PageOption {
  id: string;
  name: string;
}

const PAGE = 100;
const AT_ONCE = 200;
const PATHS = { channel: "/page/v2/channel", landing: "/page/v2/landing" } as const;

/** The site's pages of a type, by name; `search` finds those that aren't among the first. */
export function usePages(type: PageType, search: string) {
  const { client } = useSession();
  return useQuery({
    queryKey: ["pages", type, search],
    queryFn: async () => {
      const query = { limit: PAGE, ...(search !== "" && { search }) };
      const { results, pagination } = await ok(client.api.GET(PATHS[type], { params: { query } }));
      return { pages: results.map(({ _id, data }): PageOption => ({ id: _id, name: data.name })), total: pagination.totalCount };
    },
    placeholderData: keepPreviousData,
  });
}

/** What these pages are called. One that doesn't exist any more has no name. */
export function usePageNames(ids: readonly string[]): ReadonlyMap<string, string> {
  const { client } = useSession();
  const wanted = [...new Set(ids)].sort();
  const names = useQuery({
    queryKey: ["page-names", wanted],
    queryFn: async () => {
      const asked = Array.from({ length: Math.ceil(wanted.length / AT_ONCE) }, (_, at) => wanted.slice(at * AT_ONCE, (at + 1) * AT_ONCE));
      const found = await Promise.all(
        asked.map((part) => ok(client.api.GET("/page/v2", { params: { query: { ids: JSON.stringify(part), limit: AT_ONCE } } }))),
      );
      return found.flatMap(({ results }) => results.map(({ _id, data }) => [_id, data?.name ?? _id] as const));
    },
    placeholderData: keepPreviousData,
  });
  return new Map(names.data);
}
