import { and, eq, gte, lt, sql } from "drizzle-orm";
import { insightHours } from "#db/schema/insights.ts";
import { pages } from "#db/schema/pages.ts";
import { sites } from "#db/schema/sites.ts";
import { orUnavailable, presenceOf } from "#worker/durable-objects/stubs.ts";
import { csvLine } from "#worker/lib/csv.ts";
import { invalid, notFound } from "#worker/lib/errors.ts";
import { type Ctx, ownRow } from "#worker/services/core/context.ts";
import { ctxOf } from "#worker/services/core/databases.ts";
import { requireFigures } from "./channel-admins.ts";
import { flushViewers } from "./engagement.ts";
import { type HistoryQuery, rangeOf, STEPS, type ViewerHistory } from "./engagement-schemas.ts";
import { HOUR_MS } from "./hours.ts";

/** The most points of one response. */
const MAX_POINTS = 2_500;

/** What is known of a step: the most viewers at one moment, and the time that all viewers spent, ms. */
interface Known {
  at: number;
  peak: number;
  viewerMs: number;
}

/** The viewers of a channel or site over time, with a point for every step. */
export async function readHistory(ctx: Ctx, query: HistoryQuery): Promise<ViewerHistory> {
  const site = await siteOf(ctx, query);
  const { step, channelId = null } = query;
  const { ms, keptMs } = STEPS[step];
  const wanted = rangeOf(query, ctx.now);
  const from = wanted.from - (wanted.from % ms);
  const to = Math.min(wanted.to, ctx.now);
  if (from < ctx.now - keptMs - ms) throw invalid("from", `With this step, at most ${keptMs / HOUR_MS} hours ago`);
  const count = Math.max(0, Math.ceil((to - from) / ms));
  if (count > MAX_POINTS) throw invalid("to", `At most ${MAX_POINTS} steps after from`);
  if (channelId !== null) await requireChannel(site, channelId);
  const range = { from, to: from + count * ms, step: ms };
  const known = step === "hour" ? await readHours(site, channelId, range) : await readMinutes(site, channelId, range);
  return { siteId: site.siteId, channelId, step, peak: peakOf(known), points: fill(range, known, ctx.now) };
}

export function historyCsv({ points }: ViewerHistory): string {
  const rows = points.map(({ at, peak, average }) => csvLine([new Date(at).toISOString(), peak, average]));
  return [csvLine(["at", "peak", "average"]), ...rows].join("");
}

/** The context of the site that is asked for: a developer key's own, or any for the operator. */
async function siteOf(ctx: Ctx, { siteId, channelId }: HistoryQuery): Promise<Ctx> {
  const caller = await ctx.caller();
  if (caller.kind !== "super") {
    if (siteId !== undefined && siteId !== ctx.siteId) throw notFound("Site not found");
    await requireFigures(ctx, channelId);
    return ctx;
  }
  if (siteId === undefined) throw invalid("siteId", "Required with the operator's key");
  const own = ctxOf(ctx, siteId);
  const [site] = await own.db.select({ id: sites.id }).from(sites).where(eq(sites.id, siteId));
  if (!site) throw notFound("Site not found");
  return own;
}

async function requireChannel(ctx: Ctx, channelId: string): Promise<void> {
  const own = and(ownRow(ctx, pages, channelId), eq(pages.type, "channel"));
  const [page] = await ctx.db.select({ id: pages.id }).from(pages).where(own);
  if (!page) throw notFound("Channel not found");
}

async function readMinutes(ctx: Ctx, channelId: string | null, range: { from: number; to: number; step: number }): Promise<Known[]> {
  return orUnavailable(presenceOf(ctx.env, ctx.siteId).viewerHistory(channelId, range), "The viewers' history could not be read");
}

async function readHours(ctx: Ctx, channelId: string | null, { from, to }: { from: number; to: number }): Promise<Known[]> {
  await flushViewers(ctx, { to });
  const { siteId, hour, metric, value } = insightHours;
  const rows = await ctx.db
    .select({
      at: hour,
      peak: sql<number>`coalesce(max(iif(${metric} = ${channelId === null ? "sitePeakViewers" : "peakViewers"}, ${value}, 0)), 0)`,
      viewerMs: sql<number>`1000 * coalesce(sum(iif(${metric} = 'viewerSeconds', ${value}, 0)), 0)`,
    })
    .from(insightHours)
    .where(
      and(eq(siteId, ctx.siteId), channelId === null ? undefined : eq(insightHours.channelId, channelId), gte(hour, from), lt(hour, to)),
    )
    .groupBy(hour);
  return rows.filter(({ peak }) => peak > 0);
}

/** The highest peak, and the first step that reached it. */
function peakOf(known: Known[]): ViewerHistory["peak"] {
  const viewers = Math.max(0, ...known.map(({ peak }) => peak));
  const first = known.find(({ peak }) => peak === viewers);
  return first && viewers > 0 ? { viewers, at: first.at } : null;
}

/** A point for each step. The average of the current one is over the part of it that has passed. */
function fill({ from, to, step }: { from: number; to: number; step: number }, known: Known[], now: number): ViewerHistory["points"] {
  const byTime = new Map(known.map((span) => [span.at, span]));
  return Array.from({ length: (to - from) / step }, (_, index) => {
    const at = from + index * step;
    const { peak, viewerMs } = byTime.get(at) ?? { peak: 0, viewerMs: 0 };
    const passed = Math.max(1, Math.min(step, now - at));
    // What is known may end a moment after `now`, which is the start of the request.
    return { at, peak, average: Math.min(peak, Math.round((viewerMs / passed) * 10) / 10) };
  });
}
