import type { IMPRESSION_KINDS } from "#db/enums.ts";
import { shardOf } from "#worker/lib/shard.ts";

// Messages between the Worker and a site's insight counters. No platform import.

/** How many counters share a site's impressions. */
export const INSIGHT_COUNTERS = 16;

/** One impression or action as a client reported it. Nothing in it has been checked but its shape. */
export interface ReportedImpression {
  kind: (typeof IMPRESSION_KINDS)[number];
  id: string;
  broadcastId?: string | undefined;
}

export interface ImpressionReport {
  channelId: string;
  /** Each entry stands for this many: the client reports for one of `weight` viewers. */
  weight: number;
  entries: ReportedImpression[];
  /** Who reports. Budgets are counted per each, in memory only. */
  network: string;
  device: string;
}

/** The name of a counter: `getByName(insightCounterName(…))`. A network always has the same one, which therefore counts its budget. */
export function insightCounterName(siteId: string, network: string): string {
  return `${siteId}:${shardOf(network, INSIGHT_COUNTERS)}`;
}
