import { and, desc, eq, gte, lt, sql } from "drizzle-orm";
import type { z } from "@hono/zod-openapi";
import { insightReach } from "#db/schema/insights.ts";
import { pages } from "#db/schema/pages.ts";
import { csvLine } from "#worker/lib/csv.ts";
import { notFound } from "#worker/lib/errors.ts";
import { type Ctx, ownRow } from "#worker/services/core/context.ts";
import { requireFigures } from "./channel-admins.ts";
import { dayOf } from "./engagement.ts";
import { rangeOf, type Reach, type ReachQuery } from "./engagement-schemas.ts";

const MAX_RESULTS = 200;

/** What was shown and used most, over a range of days. */
export async function readReach(ctx: Ctx, { channelId, format: _, ...wanted }: z.output<typeof ReachQuery>): Promise<Reach> {
  const { from, to } = rangeOf(wanted, ctx.now);
  const { siteId, day, kind, targetId, value } = insightReach;
  const shown = sql<number>`sum(iif(${kind} like '%.shown', ${value}, 0))`;
  const used = sql<number>`sum(iif(${kind} like '%.shown', 0, ${value}))`;
  const what = sql<Reach["results"][number]["kind"]>`substr(${kind}, 1, instr(${kind}, '.') - 1)`;
  const ofChannel = channelId === undefined ? undefined : eq(insightReach.channelId, channelId);
  const [rows, channels] = await ctx.db.batch([
    ctx.db
      .select({ kind: what, id: targetId, shown, used })
      .from(insightReach)
      .where(and(eq(siteId, ctx.siteId), ofChannel, gte(day, dayOf(from)), lt(day, to)))
      .groupBy(what, targetId)
      .orderBy(desc(shown), desc(used), what, targetId)
      .limit(MAX_RESULTS),
    ctx.db
      .select({ id: pages.id })
      .from(pages)
      .where(ownRow(ctx, pages, channelId ?? "")),
  ]);
  if (channelId !== undefined && channels.length === 0) throw notFound("Channel not found");
  await requireFigures(ctx, channelId);
  return { results: rows.map((row) => ({ ...row, id: row.id === "" ? null : row.id })) };
}

export function reachCsv({ results }: Reach): string {
  return [
    csvLine(["kind", "id", "shown", "used"]),
    ...results.map(({ kind, id, shown, used }) => csvLine([kind, id ?? "", shown, used])),
  ].join("");
}
