import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReferenceKind } from "#studio/api/references.ts";
import { request } from "#studio/api/request.ts";
import { useSession } from "#studio/session/context.tsx";
import { FOREVER } from "./period.ts";

/** Where the things of a kind are listed, and what one of them is called. */
export const REFERENCES: Readonly<Record<ReferenceKind, { paths: readonly string[]; one: string; query?: Record<string, number> }>> = {
  channels: { paths: ["/page/v2/channel"], one: "channel" },
  pages: { paths: ["/page/v2/channel", "/page/v2/landing"], one: "page" },
  panels: { paths: ["/panel/v3"], one: "panel" },
  navigations: { paths: ["/navigation/v1"], one: "navigation" },
  themes: { paths: ["/themes/v1/custom", "/themes/v1/default"], one: "theme" },
  channelTemplates: { paths: ["/page/v2/template"], one: "channel template" },
  videos: { paths: ["/video/v3"], one: "video" },
  playlists: { paths: ["/playlist/v1"], one: "playlist" },
  events: { paths: ["/event/v1/event-calendar"], one: "event", query: { startTimestamp: 0, endTimestamp: FOREVER } },
  overlays: { paths: ["/overlay/v1"], one: "overlay" },
  graphics: { paths: ["/overlay/v1/graphics"], one: "graphic" },
  media: { paths: ["/media/v1"], one: "file" },
  polls: { paths: ["/poll/v3"], one: "poll" },
  quests: { paths: ["/quest/v2"], one: "quest" },
  leaderboards: { paths: ["/leaderboard/v1"], one: "leaderboard" },
  subscriptions: { paths: ["/subscription/v2"], one: "subscription" },
  streams: { paths: ["/stream/v1"], one: "stream" },
};

export const MOST_OPTIONS = 100;

export interface Option {
  value: string;
  text: string;
}

/** The first things of a kind that a text finds, and whether there are more. */
export function useReferences(to: ReferenceKind, search: string) {
  const session = useSession();
  return useQuery({
    queryKey: ["references", to, search],
    queryFn: async () => {
      const pages = await Promise.all(
        REFERENCES[to].paths.map(async (path) => {
          const query = { ...REFERENCES[to].query, limit: MOST_OPTIONS, search };
          return readPage((await request(session, { method: "GET", path, parameters: [] }, { query })).data, to);
        }),
      );
      return { options: pages.flatMap(({ options }) => options), hasMore: pages.some(({ hasMore }) => hasMore) };
    },
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
}

/** The things in a page of any of the API's lists. */
export function readPage(data: unknown, to: ReferenceKind): { options: Option[]; hasMore: boolean } {
  const page = recordOf(data);
  const items: unknown[] = [page["results"], page["themes"], page["templates"]].find((found) => Array.isArray(found)) ?? [];
  const options = items.map(recordOf).flatMap((item) => {
    const value = item[to === "subscriptions" ? "sku" : "_id"];
    return typeof value === "string" ? [{ value, text: nameOf(item) ?? value }] : [];
  });
  const total = page["totalCount"] ?? recordOf(page["pagination"])["totalCount"];
  return { options, hasMore: typeof total === "number" && total > items.length };
}

function nameOf(item: Record<string, unknown>): string | undefined {
  const names = [
    recordOf(item["data"])["name"],
    recordOf(item["renderer"])["panel_name"],
    item["name"],
    item["title"],
    item["titleRaw"],
    item["fileName"],
  ];
  return [...names, item["question"], item["slug"]].find((name): name is string => typeof name === "string" && name.trim() !== "");
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.fromEntries(Object.entries(value)) : {};
}
