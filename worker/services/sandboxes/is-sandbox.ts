import { eq } from "drizzle-orm";
import { siteDb } from "#db/databases.ts";
import { sandboxes } from "#db/schema/sandboxes.ts";
import { mayBeSandbox } from "#worker/lib/ids.ts";

/** How long an isolate relies on a site's still being a sandbox; claimed ones then get the limits of any site. */
const CACHED_MS = 10_000;
const MAX_CACHED = 1_000;

/** Until when sites are known to be sandboxes, or not to be. */
const known = new Map<string, { isSandbox: boolean; until: number }>();

/** Whether a site is a sandbox that nobody has claimed. Costs nothing for the id of any other site. */
export async function isSandbox(env: Env, siteId: string): Promise<boolean> {
  if (!mayBeSandbox(siteId)) return false;
  const now = Date.now();
  const cached = known.get(siteId);
  if (cached && cached.until > now) return cached.isSandbox;
  const [row] = await siteDb(env, siteId).select({ id: sandboxes.siteId }).from(sandboxes).where(eq(sandboxes.siteId, siteId));
  if (known.size >= MAX_CACHED) known.clear();
  known.set(siteId, { isSandbox: row !== undefined, until: now + CACHED_MS });
  return row !== undefined;
}

/** What the isolate knows of a site has changed. */
export function refreshSandbox(siteId: string): void {
  known.delete(siteId);
}
