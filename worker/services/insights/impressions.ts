import { and, between, eq, lt, sql } from "drizzle-orm";
import { pages } from "#db/schema/pages.ts";
import { insightCursors, insightHours, insightReach } from "#db/schema/insights.ts";
import { insightCounterOf, orUnavailable } from "#worker/durable-objects/stubs.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "./hours.ts";
import type { ImpressionBatch } from "./impression-schemas.ts";

/** How long figures per hour and per day are kept, ms: 400 days, longer than a season. */
export const KEPT_MS = 400 * DAY_MS;
/** After this many days, a channel's day keeps its largest `TOP` targets of each kind, and the sum of the rest. */
const FOLD_AFTER_DAYS = 2;
const TOP = 50;
/** The cursors of polls are needed only while votes are written, those of chat rooms as long as their channels. */
const CURSOR_KEPT_MS = 30 * DAY_MS;

/** Who reports; `refusesTracking`: the request asks not to be tracked. */
interface Reporter {
  network: string;
  refusesTracking: boolean;
}

/** Hands a client's report to the counter of its network. Costs no query, and is never counted against the viewer's other requests. */
export async function reportImpressions(ctx: Ctx, { network, refusesTracking }: Reporter, batch: ImpressionBatch): Promise<void> {
  await ctx.caller();
  if (refusesTracking) return;
  const { channelId, deviceId, weight, entries } = batch;
  const report = { channelId, weight, entries, network, device: `${network} ${deviceId}` };
  await orUnavailable(insightCounterOf(ctx.env, ctx.siteId, network).count(report), "The report could not be counted");
}

/** Deletes figures past their retention. */
export async function pruneInsights({ db, now }: Pick<Ctx, "db" | "now">): Promise<void> {
  await db.batch([
    db.delete(insightHours).where(lt(insightHours.hour, now - KEPT_MS)),
    db.delete(insightReach).where(lt(insightReach.day, now - KEPT_MS)),
  ]);
}

/** Deletes cursors that nothing needs any more, in the first minute of each hour because it reads all of them. */
export async function pruneInsightCursors({ db, now }: Pick<Ctx, "db" | "now">): Promise<void> {
  if (now % HOUR_MS >= MINUTE_MS) return;
  const { source, modified } = insightCursors;
  const isOld = lt(modified, now - CURSOR_KEPT_MS);
  const hasNoChannel = sql`not exists (select 1 from ${pages} where ${pages.id} = substr(${source}, -24))`;
  await db.batch([
    db.delete(insightCursors).where(and(between(source, "poll:", "poll;"), isOld)),
    db.delete(insightCursors).where(and(between(source, "chat:", "chat;"), isOld, hasNoChannel)),
  ]);
}

/** Folds the many small targets of a past day into one, in the first minute of each hour. Safe to repeat. */
export async function foldReach({ db, now }: Pick<Ctx, "db" | "now">): Promise<void> {
  if (now % HOUR_MS >= MINUTE_MS) return;
  const foldable = Math.floor(now / DAY_MS - FOLD_AFTER_DAYS) * DAY_MS;
  // The days since the last run alone: older ones are folded already.
  const days = sql`${insightReach.day} > ${foldable - FOLD_AFTER_DAYS * DAY_MS} and ${insightReach.day} <= ${foldable}`;
  const small = sql`select rowid from (
    select rowid, row_number() over (partition by site_id, channel_id, day, kind order by value desc, target_id) as place
    from ${insightReach} where ${days} and ${insightReach.targetId} <> '') where place > ${TOP}`;
  await db.batch([
    db.run(sql`insert into ${insightReach} (site_id, channel_id, day, kind, target_id, value)
      select site_id, channel_id, day, kind, '', sum(value) from ${insightReach} where rowid in (${small}) group by 1, 2, 3, 4
      on conflict do update set value = value + excluded.value`),
    db.delete(insightReach).where(sql`rowid in (${small})`),
  ]);
}

/** How often a broadcast was seen; null if no viewer has reported it. */
export function seenSql(ctx: Pick<Ctx, "siteId">, broadcastId: string) {
  const { siteId, targetId, kind, value } = insightReach;
  return sql<number | null>`(select sum(${value}) from ${insightReach}
    where ${and(eq(siteId, ctx.siteId), eq(targetId, broadcastId), eq(kind, "broadcast.shown"))})`;
}
