import { and, asc, eq, gte, lt, sql } from "drizzle-orm";
import { charges } from "#db/schema/commerce/billing.ts";
import { csvLine } from "#worker/lib/csv.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { rangeOf, type Revenue, type RevenueQuery } from "./engagement-schemas.ts";
import { DAY_MS } from "./hours.ts";

/** What was paid per day and currency. Currencies are never added up. */
export async function readRevenue(ctx: Ctx, query: RevenueQuery): Promise<Revenue> {
  const { from, to } = rangeOf(query, ctx.now);
  const { siteId, status, created, currency, itemType, amount, refunded } = charges;
  const day = sql<number>`${created} - ${created} % ${sql.raw(String(DAY_MS))}`;
  const results = await ctx.db
    .select({
      day,
      currency,
      purchases: sql<number>`sum(iif(${itemType} = 'donation', 0, 1))`,
      sold: sql<number>`sum(iif(${itemType} = 'donation', 0, ${amount}))`,
      donations: sql<number>`sum(iif(${itemType} = 'donation', 1, 0))`,
      donated: sql<number>`sum(iif(${itemType} = 'donation', ${amount}, 0))`,
      refunded: sql<number>`sum(${refunded})`,
    })
    .from(charges)
    .where(and(eq(siteId, ctx.siteId), gte(created, from - (from % DAY_MS)), lt(created, to), eq(status, "complete")))
    .groupBy(day, currency)
    .orderBy(asc(day), asc(currency));
  return { results };
}

export function revenueCsv({ results }: Revenue): string {
  const rows = results.map(({ day, ...row }) => csvLine([new Date(day).toISOString().slice(0, 10), ...Object.values(row)]));
  return [csvLine(["day", "currency", "purchases", "sold", "donations", "donated", "refunded"]), ...rows].join("");
}
