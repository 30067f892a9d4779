import { eq, type SQL, sql } from "drizzle-orm";
import { sites } from "#db/schema/sites.ts";
import { hasMessage, LostRace } from "#worker/lib/errors.ts";
import type { Ctx } from "#worker/services/core/context.ts";

// The consent to marketing of accounts that are created without saying: a setting of the site.

const MAX_CACHED = 1_000;
const CHANGED = "NOT NULL constraint failed: accounts.marketing_optin";

/** The setting of each site when this isolate last read it. What it is used for is only committed if it is still the same. */
const cache = new Map<string, boolean>();

/** The consent of a new account. `guard`: its column, which is null if the site's default isn't that of the cache anymore. */
export async function consentOf(
  ctx: Ctx,
  { marketingOptin }: { marketingOptin?: boolean | undefined },
): Promise<{ marketingOptin: boolean; guard?: SQL<boolean> }> {
  if (marketingOptin !== undefined) return { marketingOptin };
  const known = cache.get(ctx.siteId) ?? (await readDefault(ctx));
  return { marketingOptin: known, guard: sql<boolean>`case when ${currentDefault(ctx)} = ${Number(known)} then ${Number(known)} end` };
}

/** Runs the write of a new account again if the site's default has changed. */
export async function checkConsent<T>(ctx: Ctx, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!hasMessage(error, CHANGED)) throw error;
    cache.delete(ctx.siteId);
    throw new LostRace();
  }
}

async function readDefault(ctx: Ctx): Promise<boolean> {
  const [site] = await ctx.db
    .select({ checked: currentDefault(ctx).as("checked") })
    .from(sites)
    .where(eq(sites.id, ctx.siteId));
  const checked = site?.checked === 1;
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(ctx.siteId, checked);
  return checked;
}

function currentDefault(ctx: Ctx): SQL<number> {
  return sql<number>`coalesce((select json_extract(${sites.settings}, '$.loginMarketingOptIn.default') from ${sites}
    where ${sites.id} = ${ctx.siteId}), 0)`;
}
