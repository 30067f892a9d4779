import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { type LimitName, LIMITS, limiterName } from "#worker/lib/limits.ts";
import { rejectionCache } from "#worker/services/core/limits.ts";

/** Uses up a limit; `scope` is a site's id or "global". */
export function exhaustLimit(scope: string, name: LimitName, key: string): Promise<void> {
  return setUsed(scope, name, key, LIMITS[name].quota);
}

/** Resets a limit to its full quota. */
export function resetLimit(scope: string, name: LimitName, key: string): Promise<void> {
  return setUsed(scope, name, key, 0);
}

function setUsed(scope: string, name: LimitName, key: string, used: number): Promise<void> {
  const ends = Date.now() + LIMITS[name].window * 1000;
  rejectionCache.clear();
  return runInDurableObject(env.LIMITER.getByName(limiterName(scope, { name, key })), (_, { storage }) => {
    storage.sql.exec("INSERT OR REPLACE INTO windows VALUES (?, ?, ?, ?)", name, key, ends, used);
  });
}
