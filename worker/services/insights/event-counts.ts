import { z } from "@hono/zod-openapi";
import { siteDb } from "#db/databases.ts";
import type { InsightMetric } from "#db/enums.ts";
import type { LogEntry } from "#worker/durable-objects/site-log/site-log.protocol.ts";
import { batchAll } from "#worker/services/core/context.ts";
import { addCounts, type Counted, hourOf } from "./rollup.ts";

const Sale = z.object({ itemType: z.string() }).partial().catch({});
const Donation = z.object({ channelId: z.string().nullable() }).partial().catch({});

/** What an event counts as, and on which channel (empty: none). */
interface Count {
  metric: InsightMetric;
  channelId: string;
}

/** What events count as; null: nothing. Only events of these types are read. */
const COUNTS: Record<string, (data: unknown) => Count | null> = {
  "quest.claimed": () => ({ metric: "claims", channelId: "" }),
  // A donation is an event of its own, which has the channel.
  "billing.chargeCompleted": (data) => (Sale.parse(data).itemType === "donation" ? null : { metric: "purchases", channelId: "" }),
  "donation.paid": (data) => ({ metric: "donations", channelId: Donation.parse(data).channelId ?? "" }),
};

export const COUNTED_EVENTS = Object.keys(COUNTS);

/** Adds events of a site's log to its figures; each counts once, however often it is passed. */
export async function countEvents(env: Env, siteId: string, entries: LogEntry[], now: number): Promise<void> {
  const counted = entries.flatMap(({ type, sequence, created, data }): Counted[] => {
    const count = COUNTS[type]?.(JSON.parse(data));
    return count ? [{ position: sequence, hour: hourOf(created), value: 1, ...count }] : [];
  });
  const db = siteDb(env, siteId);
  if (counted.length > 0) await batchAll(db, addCounts(db, siteId, `log:${siteId}`, counted, now));
}
