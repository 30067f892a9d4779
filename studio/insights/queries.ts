import { useQuery } from "@tanstack/react-query";
import { ok, type Schemas } from "#sdk/client/index.ts";
import type { Session } from "#studio/session/session.ts";
import { useSession } from "#studio/session/context.tsx";
import type { Range } from "./range.ts";

type Hour = Schemas["EngagementHour"];
type Reach = Schemas["Reach"]["results"][number];

const PAGE = 1000;
const REFRESH_MS = 60_000;
const NAMES = 200;

export function useHistory({ from, to, step }: Range, channelId: string, enabled: boolean) {
  const { client } = useSession();
  const query = { from, to, step, ...(channelId !== "" && { channelId }) };
  return useQuery({
    queryKey: ["insights", "history", query],
    enabled,
    queryFn: async () => {
      const history = await ok(client.api.GET("/insights/v1/concurrents/history", { params: { query } }));
      // The type is that of the CSV too.
      return typeof history === "string" ? null : history;
    },
    refetchInterval: REFRESH_MS,
  });
}

/** Every hour of the range: of one channel, or of the site. */
export function useEngagement({ from, to }: Range, channelId: string, enabled: boolean) {
  const { client } = useSession();
  const of = channelId === "" ? { by: "site" as const } : { by: "channel" as const, channelId };
  return useQuery({
    queryKey: ["insights", "engagement", from, to, channelId],
    enabled,
    queryFn: async () => {
      const hours: Hour[] = [];
      let cursor: string | undefined;
      do {
        const query = { from, to, ...of, limit: PAGE, ...(cursor !== undefined && { cursor }) };
        const page = await ok(client.api.GET("/insights/v1/engagement", { params: { query } }));
        if (typeof page === "string") break;
        hours.push(...page.results);
        cursor = cursorOf(page.pagination.next);
      } while (cursor !== undefined);
      return hours;
    },
    refetchInterval: REFRESH_MS,
  });
}

function cursorOf(next: string | null): string | undefined {
  return next === null ? undefined : (new URL(next, location.origin).searchParams.get("cursor") ?? undefined);
}

export function useRevenue({ from, to }: Range, enabled: boolean) {
  const { client } = useSession();
  return useQuery({
    queryKey: ["insights", "revenue", from, to],
    enabled,
    queryFn: async () => {
      const revenue = await ok(client.api.GET("/insights/v1/revenue", { params: { query: { from, to } } }));
      return typeof revenue === "string" ? [] : revenue.results;
    },
  });
}

export interface NamedReach extends Reach {
  name: string | null;
}

/** What was shown most, with the names of what still exists. */
export function useReach({ from, to }: Range, channelId: string, enabled: boolean) {
  const session = useSession();
  const query = { from, to, ...(channelId !== "" && { channelId }) };
  return useQuery({
    queryKey: ["insights", "reach", query],
    enabled,
    queryFn: async (): Promise<NamedReach[]> => {
      const reach = await ok(session.client.api.GET("/insights/v1/reach", { params: { query } }));
      if (typeof reach === "string") return [];
      const kinds = new Set(reach.results.map(({ kind }) => kind));
      const names = new Map((await Promise.all([...kinds].map((kind) => namesOf(session, kind)))).flat());
      return reach.results.map((row) => ({ ...row, name: row.id === null ? null : (names.get(row.id) ?? null) }));
    },
  });
}

async function namesOf({ client: { api } }: Session, kind: Reach["kind"]): Promise<[string, string][]> {
  const params = { query: { limit: NAMES } };
  switch (kind) {
    case "overlay":
      return (await ok(api.GET("/overlay/v1", { params }))).results.map(({ _id, name }) => [_id, name]);
    case "panel":
      return (await ok(api.GET("/panel/v3", { params }))).results.map(({ _id, renderer }) => [_id, renderer.panel_name]);
    case "poll":
      return (await ok(api.GET("/poll/v3", { params }))).results.map(({ _id, name }) => [_id, name]);
    case "quest":
      return (await ok(api.GET("/quest/v2", { params }))).results.map(({ _id, title }) => [_id, title]);
    case "video":
      return (await ok(api.GET("/video/v3", { params }))).results.map(({ _id, title }) => [_id, title]);
    // A broadcast has no name of its own.
    case "broadcast":
      return [];
  }
}
