import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { z } from "@hono/zod-openapi";
import { like } from "drizzle-orm";
import { createDb } from "#db/client.ts";
import { insightCursors } from "#db/schema/insights.ts";
import { insightCounterName } from "#worker/durable-objects/insight-counter/insight-counter.protocol.ts";
import { newId } from "#worker/lib/ids.ts";
import { Engagement, type EngagementHour, Reach } from "#worker/services/insights/engagement-schemas.ts";
import type { ApiResponse, CallOptions, TestSite } from "./harness.ts";
import { siteStore } from "#test/site-store.ts";

type Entry = { kind: string; id: string; broadcastId?: string };

interface ReportOptions {
  channelId?: string;
  deviceId?: string;
  weight?: number;
  address?: string;
}

/** Calls for tests of insights. `site` is a function because suites create their site in `beforeAll`. */
export function insightCalls(site: () => TestSite) {
  function report(entries: Entry[], { channelId, deviceId = newId(1), weight, address }: ReportOptions = {}, on = site()) {
    const body = { channelId: channelId ?? on.channels[0], deviceId, entries, ...(weight === undefined ? {} : { weight }) };
    return on.call("reportImpressions", { body, headers: { ...(address === undefined ? {} : { "CF-Connecting-IP": address }) } });
  }

  /** Has the counter of a network write what it has counted. */
  async function flush(address = "local", on = site()): Promise<void> {
    await runDurableObjectAlarm(counterOf(address, on));
  }

  /** How many writes the site's counters have made. */
  async function writes(on = site()): Promise<number> {
    const ofSite = like(insightCursors.source, `impressions:${on.id}:%`);
    const rows = await createDb(siteStore).select({ position: insightCursors.position }).from(insightCursors).where(ofSite);
    return rows.reduce((sum, { position }) => sum + position, 0);
  }

  const counterOf = (address = "local", on = site()) => env.INSIGHT_COUNTER.getByName(insightCounterName(on.id, address));

  async function engagement(query: CallOptions["query"] = {}, on = site()): Promise<EngagementHour[]> {
    return (await on.call("getEngagement", { query: { limit: 1000, ...query } })).as(Engagement).results;
  }

  /** What a channel has counted since the start of the previous hour, added up. */
  async function sums(channelId: string | null = site().channels[0], on = site()): Promise<Record<string, number>> {
    const hours = await engagement(channelId === null ? {} : { channelId }, on);
    const total: Record<string, number> = {};
    for (const hour of hours.filter((each) => each.channelId === channelId))
      for (const [name, value] of Object.entries(hour)) if (name !== "hour") total[name] = (total[name] ?? 0) + Number(value);
    return total;
  }

  async function reach(query: CallOptions["query"] = {}, on = site()): Promise<z.output<typeof Reach>["results"]> {
    return (await on.call("getReach", { query })).as(Reach).results;
  }

  return { report, flush, writes, counterOf, engagement, sums, reach };
}

/** The lines of a CSV response. */
export function linesOf(response: ApiResponse): string[][] {
  return response.text
    .trim()
    .split("\r\n")
    .map((line) => line.split(","));
}
