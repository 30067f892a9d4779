import { and, asc, eq, gte, lt, sql } from "drizzle-orm";
import type { InsightMetric } from "#db/enums.ts";
import { insightHours } from "#db/schema/insights.ts";
import { pages } from "#db/schema/pages.ts";
import { presenceOf } from "#worker/durable-objects/stubs.ts";
import { csvLine } from "#worker/lib/csv.ts";
import { invalid, notFound } from "#worker/lib/errors.ts";
import { logError } from "#worker/lib/log.ts";
import { keyAllows } from "#worker/lib/roles.ts";
import { requireStillAllowed } from "#worker/services/auth/current-caller.ts";
import type { Actor, Ctx } from "#worker/services/core/context.ts";
import { mayReadFigures, requireFigures } from "./channel-admins.ts";
import { EngagementHour, type EngagementQuery, LONGEST_MS, rangeOf } from "./engagement-schemas.ts";
import { DAY_MS, HOUR_MS } from "./hours.ts";
import { hourOf } from "./rollup.ts";

/** The series of what belongs to no channel; sorts before all channels. */
const NO_CHANNEL = "";
const CURSOR = /^([0-9a-f]{24})?\.(\d{1,16})$/;
const CSV_PAGE = 1000;

type Figures = Partial<Record<InsightMetric, number>>;

/** One row per hour of each series, in order: computed, so that hours in which nothing happened are there and a page reads only its own. */
interface Slots {
  channelIds: string[];
  from: number;
  to: number;
}

interface EngagementPage {
  results: EngagementHour[];
  /** Null on the last page. */
  cursor: string | null;
}

/** Reads a page of a site's figures per channel and hour. */
export async function readEngagement(ctx: Ctx, query: EngagementQuery): Promise<EngagementPage> {
  const slots = await slotsOf(ctx, query);
  return readPage(ctx, query.by, slots, firstSlot(slots, query.cursor), query.limit);
}

/** The whole range as CSV, read page by page. */
export async function exportEngagement(ctx: Ctx, query: EngagementQuery): Promise<AsyncGenerator<string, void>> {
  const slots = await slotsOf(ctx, query);
  return csvOf(ctx, query, slots, firstSlot(slots, query.cursor));
}

async function* csvOf(ctx: Ctx, { by, channelId: wanted }: EngagementQuery, slots: Slots, first: number): AsyncGenerator<string, void> {
  yield csvLine(Object.keys(EngagementHour.shape));
  for (let at = first; at < countOf(slots); at += CSV_PAGE) {
    // A caller who loses the role meanwhile gets no further page.
    if (at > first) await requireStillAllowed(ctx, (actor) => mayStillExport(actor, wanted));
    const { results } = await readPage(ctx, by, slots, at, CSV_PAGE);
    yield results
      .map(({ channelId, hour, ...figures }) => csvLine([channelId ?? "", new Date(hour).toISOString(), ...Object.values(figures)]))
      .join("");
  }
}

function mayStillExport(actor: Actor, channelId: string | undefined): boolean {
  if (actor.kind === "account") return mayReadFigures(actor, channelId);
  return actor.kind === "developer" && keyAllows(actor.roles, "insights", "read");
}

async function slotsOf(ctx: Ctx, { by, channelId, ...wanted }: EngagementQuery): Promise<Slots> {
  const { from, to } = rangeOf(wanted, ctx.now);
  if (Math.min(to, ctx.now) - from > LONGEST_MS) throw invalid("from", "At most 92 days before to");
  const range = { from: hourOf(from), to: Math.min(to, ctx.now) };
  const channelIds = by === "site" ? [NO_CHANNEL] : await channelsOf(ctx, channelId);
  await requireFigures(ctx, channelId);
  await flushViewers(ctx, range);
  return { channelIds, ...range };
}

async function channelsOf(ctx: Ctx, channelId: string | undefined): Promise<string[]> {
  const rows = await ctx.db
    .select({ id: pages.id })
    .from(pages)
    .where(and(eq(pages.siteId, ctx.siteId), eq(pages.type, "channel"), channelId === undefined ? undefined : eq(pages.id, channelId)))
    .orderBy(asc(pages.id));
  if (channelId === undefined) return [NO_CHANNEL, ...rows.map(({ id }) => id)];
  if (rows.length === 0) throw notFound("Channel not found");
  return [channelId];
}

/** Has the current viewers written, if they belong to the range. Without it, figures are up to five minutes old. */
export async function flushViewers(ctx: Ctx, { to }: { to: number }): Promise<void> {
  if (to < hourOf(ctx.now) - HOUR_MS) return;
  try {
    await presenceOf(ctx.env, ctx.siteId).flushViewers();
  } catch (error) {
    logError("viewers_flush_failed", error, { siteId: ctx.siteId });
  }
}

function hoursOf({ from, to }: Slots): number {
  return Math.max(0, Math.ceil((to - from) / HOUR_MS));
}

function countOf(slots: Slots): number {
  return slots.channelIds.length * hoursOf(slots);
}

/** The slot after the cursor, which names the last one. A channel that has been deleted since is skipped. */
function firstSlot(slots: Slots, cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const match = CURSOR.exec(cursor);
  if (!match) throw invalid("cursor", "Must be the unchanged cursor from `pagination.next`");
  const [, channelId = NO_CHANNEL, hour] = match;
  const place = slots.channelIds.findIndex((id) => id >= channelId);
  if (place === -1) return countOf(slots);
  if (slots.channelIds[place] !== channelId) return place * hoursOf(slots);
  const passed = Math.floor((Number(hour) - slots.from) / HOUR_MS) + 1;
  return place * hoursOf(slots) + Math.min(Math.max(passed, 0), hoursOf(slots));
}

async function readPage(ctx: Ctx, by: EngagementQuery["by"], slots: Slots, first: number, limit: number): Promise<EngagementPage> {
  const perChannel = hoursOf(slots);
  const last = Math.min(first + limit, countOf(slots));
  const page = Array.from({ length: Math.max(0, last - first) }, (_, index) => {
    const at = first + index;
    return { channelId: slots.channelIds[Math.floor(at / perChannel)] ?? NO_CHANNEL, hour: slots.from + (at % perChannel) * HOUR_MS };
  });
  const figures = page.length === 0 ? new Map<string, Figures>() : await (by === "site" ? readSite(ctx, page) : readChannels(ctx, page));
  const end = page.at(-1);
  return {
    results: page.map((slot) => toEngagementHour(slot, figures.get(keyOf(slot)) ?? {}, by)),
    cursor: end && last < countOf(slots) ? `${end.channelId}.${end.hour}` : null,
  };
}

interface Slot {
  channelId: string;
  hour: number;
}

function keyOf({ channelId, hour }: Slot): string {
  return `${channelId} ${hour}`;
}

/** Reads each channel's part of the page by the primary key. */
async function readChannels(ctx: Ctx, page: Slot[]): Promise<Map<string, Figures>> {
  const segments = [...Map.groupBy(page, ({ channelId }) => channelId)].map(([channelId, slots]) => {
    return [channelId, slots[0]?.hour ?? 0, slots.at(-1)?.hour ?? 0];
  });
  const { channelId, hour, metric, value } = insightHours;
  const rows = await ctx.db
    .select({ channelId, hour, metric, value })
    .from(insightHours)
    .innerJoin(
      sql`json_each(${JSON.stringify(segments)}) as segment`,
      sql`${channelId} = segment.value ->> 0 and ${hour} between segment.value ->> 1 and segment.value ->> 2`,
    )
    .where(eq(insightHours.siteId, ctx.siteId));
  return gather(rows);
}

async function readSite(ctx: Ctx, page: Slot[]): Promise<Map<string, Figures>> {
  const { hour, metric } = insightHours;
  const rows = await ctx.db
    .select({ channelId: sql<string>`''`, hour, metric, value: sql<number>`sum(${insightHours.value})` })
    .from(insightHours)
    .where(and(eq(insightHours.siteId, ctx.siteId), gte(hour, page[0]?.hour ?? 0), lt(hour, (page.at(-1)?.hour ?? 0) + HOUR_MS)))
    .groupBy(hour, metric);
  return gather(rows);
}

function gather(rows: (Slot & { metric: InsightMetric; value: number })[]): Map<string, Figures> {
  const figures = new Map<string, Figures>();
  for (const row of rows) figures.set(keyOf(row), { ...figures.get(keyOf(row)), [row.metric]: row.value });
  return figures;
}

function toEngagementHour({ channelId, hour }: Slot, figures: Figures, by: EngagementQuery["by"]) {
  const of = (metric: InsightMetric) => figures[metric] ?? 0;
  const impressions = {
    overlayImpressions: of("overlayImpressions"),
    panelImpressions: of("panelImpressions"),
    pollImpressions: of("pollImpressions"),
    questImpressions: of("questImpressions"),
  };
  const actions = { callsToAction: of("callsToAction"), panelOpens: of("panelOpens"), videoPlays: of("videoPlays") };
  return {
    channelId: channelId === NO_CHANNEL ? null : channelId,
    hour,
    peakViewers: of(by === "site" ? "sitePeakViewers" : "peakViewers"),
    watchMinutes: Math.round(of("viewerSeconds") / 6) / 10,
    newViewers: of(by === "site" ? "siteNewViewers" : "newViewers"),
    impressions: sumOf(impressions),
    ...impressions,
    actions: sumOf(actions),
    ...actions,
    votes: of("votes"),
    claims: of("claims"),
    messages: of("messages"),
    purchases: of("purchases"),
    donations: of("donations"),
  } satisfies EngagementHour;
}

function sumOf(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** The start of a day (UTC), ms. */
export function dayOf(time: number): number {
  return time - (time % DAY_MS);
}
