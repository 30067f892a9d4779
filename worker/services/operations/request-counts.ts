import { gte, lt, sql, sum } from "drizzle-orm";
import type { Db } from "#db/client.ts";
import { directoryDb } from "#db/databases.ts";
import { requestCounts } from "#db/schema/operations.ts";
import { logError } from "#worker/lib/log.ts";
import { REPORT_MS, type RequestCounts } from "./isolate-metrics.ts";

const KEPT_MS = 3_600_000;
/** The error rate is that of the interval that has ended last, and of the current one. */
const WINDOW_MS = 2 * REPORT_MS;
/** With fewer requests, a single error would be a high rate. */
const MIN_REQUESTS = 100;

/** Adds what an isolate has counted to the deployment's counts. Nobody waits for it: a failure only loses these. */
export async function addRequestCounts(env: Env, { requests, errors }: RequestCounts, now: number): Promise<void> {
  try {
    await directoryDb(env)
      .insert(requestCounts)
      .values({ since: Math.floor(now / REPORT_MS) * REPORT_MS, requests, errors })
      .onConflictDoUpdate({
        target: requestCounts.since,
        set: { requests: sql`${requestCounts.requests} + ${requests}`, errors: sql`${requestCounts.errors} + ${errors}` },
      });
  } catch (error) {
    logError("requests_not_counted", error, { requests, errors });
  }
}

/** The query of the last ten minutes' counts. */
export function recentRequests(db: Db, now: number) {
  return db
    .select({ requests: sum(requestCounts.requests), errors: sum(requestCounts.errors) })
    .from(requestCounts)
    .where(gte(requestCounts.since, now - WINDOW_MS));
}

/** The share of requests with an error; 0 if there were few. */
export function errorRate(counts: { requests: string | null; errors: string | null } | undefined): number {
  const requests = Number(counts?.requests ?? 0);
  return requests < MIN_REQUESTS ? 0 : Number(counts?.errors ?? 0) / requests;
}

export async function pruneRequestCounts({ db, now }: { db: Db; now: number }): Promise<void> {
  await db.delete(requestCounts).where(lt(requestCounts.since, now - KEPT_MS));
}
