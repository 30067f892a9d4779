import { z } from "@hono/zod-openapi";
import { createDb } from "#db/client.ts";
import type { InsightMetric } from "#db/enums.ts";
import type { LogEntry } from "#worker/durable-objects/site-log/site-log.protocol.ts";
import { batchAll } from "#worker/services/core/context.ts";
import { addCounts, type Counted, hourOf } from "./rollup.ts";

const Sale = z.object({ itemType: z.string() }).partial().catch({});

/** What an event counts as. Only events of these types are read. */
const METRICS: Record<string, (data: unknown) => InsightMetric> = {
  "quest.claimed": () => "claims",
  "billing.chargeCompleted": (data) => (Sale.parse(data).itemType === "donation" ? "donations" : "purchases"),
};

export const COUNTED_EVENTS = Object.keys(METRICS);

/** Adds events of a site's log to its figures; each counts once, however often it is passed. */
export async function countEvents(env: Env, siteId: string, entries: LogEntry[], now: number): Promise<void> {
  const counted = entries.flatMap(({ type, sequence, created, data }): Counted[] => {
    const metric = METRICS[type]?.(JSON.parse(data));
    return metric ? [{ position: sequence, channelId: "", hour: hourOf(created), metric, value: 1 }] : [];
  });
  const db = createDb(env.DB);
  if (counted.length > 0) await batchAll(db, addCounts(db, siteId, `log:${siteId}`, counted, now));
}
