import { z } from "@hono/zod-openapi";
import { logError } from "#worker/lib/log.ts";

/** The platform accepts this many data points per invocation. */
const MAX_POINTS = 25;

interface Count {
  labels: string[];
  value: number;
}

/** The dataset that a deployment may bind as `INSIGHTS` (see wrangler.toml). */
interface Dataset {
  writeDataPoint(point: { indexes: string[]; blobs: string[]; doubles: number[] }): void;
}

const Binding = z.custom<Dataset>((value) => typeof value === "object" && value !== null && "writeDataPoint" in value);

/** Writes the deployment's figures, one point each, to the dataset that may be bound as `OPERATIONS`. Never throws. */
export function writeOperationPoints(env: Env, figures: Record<string, number>): void {
  const { data: dataset } = Binding.safeParse(Reflect.get(env, "OPERATIONS"));
  if (!dataset) return;
  try {
    for (const [name, value] of Object.entries(figures)) dataset.writeDataPoint({ indexes: [name], blobs: [name], doubles: [value] });
  } catch (error) {
    logError("data_points_failed", error, {});
  }
}

/** Writes the largest counts of a site to Workers Analytics Engine, if the deployment has a dataset. Never throws. */
export function writeDataPoints(env: Env, siteId: string, counts: Count[]): void {
  const { data: dataset } = Binding.safeParse(Reflect.get(env, "INSIGHTS"));
  if (!dataset) return;
  const largest = [...counts].sort((one, other) => other.value - one.value).slice(0, MAX_POINTS);
  try {
    for (const { labels, value } of largest) dataset.writeDataPoint({ indexes: [siteId], blobs: labels, doubles: [value] });
  } catch (error) {
    // The figures are in the database too.
    logError("data_points_failed", error, { siteId });
  }
}
