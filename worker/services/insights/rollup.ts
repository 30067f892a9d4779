import { sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { IMPRESSION_KINDS, InsightMetric } from "#db/enums.ts";
import type { Db } from "#db/client.ts";
import { siteDb } from "#db/databases.ts";
import { insightCursors, insightHours, insightReach } from "#db/schema/insights.ts";
import { broadcasts, overlays } from "#db/schema/overlays.ts";
import { pages } from "#db/schema/pages.ts";
import { panels } from "#db/schema/panels.ts";
import { polls } from "#db/schema/engagement/polls.ts";
import { quests } from "#db/schema/engagement/quests.ts";
import { sites } from "#db/schema/sites.ts";
import { videos } from "#db/schema/videos.ts";
import { HOUR_MS } from "./hours.ts";

// Adds counts to the hours, each exactly once. A source numbers what it counts; its cursor, moved in the same batch, tells what has been
// added already, so a batch that is sent again after a lost response adds nothing.

/** One occurrence, or several, at a position of its source. */
export interface Counted {
  position: number;
  /** Empty: of no channel in particular. */
  channelId: string;
  hour: number;
  metric: InsightMetric;
  value: number;
}

/** How often something was shown or used on a channel in an hour. */
export interface CountedImpressions {
  channelId: string;
  hour: number;
  kind: (typeof IMPRESSION_KINDS)[number];
  targetId: string;
  /** Empty without a broadcast. */
  broadcastId: string;
  value: number;
}

/** The start of an hour, ms. */
export function hourOf(time: number): number {
  return time - (time % HOUR_MS);
}

/** The statements that add what a source has counted beyond its cursor. A channel that the site doesn't have counts as none. */
export function addCounts(db: Db, siteId: string, source: string, counted: Counted[], now: number): BatchItem<"sqlite">[] {
  const last = Math.max(0, ...counted.map(({ position }) => position));
  const list = JSON.stringify(counted.map(({ position, channelId, hour, metric, value }) => [position, channelId, hour, metric, value]));
  return [
    db.run(sql`insert into ${insightHours} (site_id, channel_id, hour, metric, value)
      select ${siteId}, iif(${ownChannel(siteId, 1)}, item.value ->> 1, ''), item.value ->> 2, item.value ->> 3, sum(item.value ->> 4)
      from json_each(${list}) as item
      where item.value ->> 0 > ${cursorOf(source)} group by 2, 3, 4
      on conflict do update set value = value + excluded.value`),
    moveCursor(db, source, last, now),
  ];
}

/**
 * The statement that counts who has responded to a poll, by channel and day. It belongs before `addCounts` of the same source, which moves
 * the cursor.
 */
export function addVoters(
  db: Db,
  siteId: string,
  { source, pollId }: { source: string; pollId: string },
  voters: Pick<Counted, "position" | "channelId" | "hour">[],
): BatchItem<"sqlite"> {
  const list = JSON.stringify(voters.map(({ position, channelId, hour }) => [position, channelId, hour]));
  return db.run(sql`insert into ${insightReach} (site_id, channel_id, day, kind, target_id, value)
    select ${siteId}, iif(${ownChannel(siteId, 1)}, item.value ->> 1, ''), cast(item.value ->> 2 as integer) / 86400000 * 86400000, 'poll.answered',
      ${pollId}, count(*)
    from json_each(${list}) as item
    where item.value ->> 0 > ${cursorOf(source)} group by 2, 3
    on conflict do update set value = value + excluded.value`);
}

/** The statements that add what a running total has grown by since the cursor, which is the total that was added last. */
export function addGrowth(
  db: Db,
  siteId: string,
  source: string,
  { position: total, channelId, hour, metric }: Omit<Counted, "value">,
  now: number,
): BatchItem<"sqlite">[] {
  return [
    db.run(sql`insert into ${insightHours} (site_id, channel_id, hour, metric, value)
      select ${siteId}, ${channelId}, ${hour}, ${metric}, ${total} - ${cursorOf(source)} where ${total} > ${cursorOf(source)}
      on conflict do update set value = value + excluded.value`),
    moveCursor(db, source, total, now),
  ];
}

/** Sets figures that only grow within their hour, and that one source alone writes. Safe to repeat. */
export async function setFigures(env: Env, siteId: string, figures: Omit<Counted, "position">[]): Promise<void> {
  if (figures.length === 0) return;
  const list = JSON.stringify(figures.map(({ channelId, hour, metric, value }) => [channelId, hour, metric, value]));
  await siteDb(env, siteId).run(sql`insert into ${insightHours} (site_id, channel_id, hour, metric, value)
    select ${siteId}, value ->> 0, value ->> 1, value ->> 2, value ->> 3 from json_each(${list}) where true
    on conflict do update set value = max(value, excluded.value)`);
}

/**
 * Adds a flush of impressions. Drops those on channels that the site doesn't have, of things that it doesn't have, and all while the site
 * has switched collecting off: here, so that no report costs a query of its own.
 */
export async function addImpressions(env: Env, siteId: string, source: string, flush: number, rows: CountedImpressions[]): Promise<void> {
  const db = siteDb(env, siteId);
  const list = JSON.stringify(
    rows.map(({ channelId, hour, kind, targetId, broadcastId, value }) => [channelId, hour, kind, targetId, broadcastId, value]),
  );
  const own = (table: typeof overlays | typeof panels | typeof polls | typeof quests | typeof videos) =>
    sql`exists (select 1 from ${table} where ${table.id} = item.value ->> 3 and ${table.siteId} = ${siteId})`;
  const accepted = sql`json_each(${list}) as item
    where ${flush} > ${cursorOf(source)}
    and exists (select 1 from ${sites} where ${sites.id} = ${siteId} and ${collects()})
    and ${ownChannel(siteId, 0)}
    and case item.value ->> 2
      when 'overlay.shown' then ${own(overlays)} when 'overlay.cta' then ${own(overlays)}
      when 'panel.shown' then ${own(panels)} when 'panel.open' then ${own(panels)}
      when 'poll.shown' then ${own(polls)} when 'quest.shown' then ${own(quests)} when 'video.play' then ${own(videos)} end`;
  const day = sql`cast(item.value ->> 1 as integer) / 86400000 * 86400000`;
  await db.batch([
    db.run(sql`insert into ${insightHours} (site_id, channel_id, hour, metric, value)
      select ${siteId}, item.value ->> 0, item.value ->> 1, ${metricOf(sql`item.value ->> 2`)}, sum(item.value ->> 5)
      from ${accepted} group by 2, 3, 4
      on conflict do update set value = value + excluded.value`),
    db.run(sql`insert into ${insightReach} (site_id, channel_id, day, kind, target_id, value)
      select ${siteId}, item.value ->> 0, ${day}, item.value ->> 2, item.value ->> 3, sum(item.value ->> 5)
      from ${accepted} group by 2, 3, 4, 5
      on conflict do update set value = value + excluded.value`),
    db.run(sql`insert into ${insightReach} (site_id, channel_id, day, kind, target_id, value)
      select ${siteId}, item.value ->> 0, ${day}, replace(item.value ->> 2, 'overlay.', 'broadcast.'), item.value ->> 4, sum(item.value ->> 5)
      from ${accepted} and exists (select 1 from ${broadcasts} where ${broadcasts.id} = item.value ->> 4 and ${broadcasts.siteId} = ${siteId}
        and ${broadcasts.overlayId} = item.value ->> 3 and ${broadcasts.channelId} in (item.value ->> 0, ''))
      group by 2, 3, 4, 5
      on conflict do update set value = value + excluded.value`),
    moveCursor(db, source, flush, Date.now()),
  ]);
}

/** SQL: whether the channel at this place of a JSON row `item` is one of the site. */
function ownChannel(siteId: string, place: number) {
  return sql`exists (select 1 from ${pages}
    where ${pages.id} = item.value ->> ${sql.raw(String(place))} and ${pages.siteId} = ${siteId} and ${pages.type} = 'channel')`;
}

/** SQL: whether a site collects impressions, which is the default. */
export function collects() {
  return sql<number>`coalesce(json_extract(${sites.settings}, '$.insights.collect'), 1) = 1`;
}

const METRICS: Record<CountedImpressions["kind"], InsightMetric> = {
  "overlay.shown": "overlayImpressions",
  "panel.shown": "panelImpressions",
  "poll.shown": "pollImpressions",
  "quest.shown": "questImpressions",
  "overlay.cta": "callsToAction",
  "panel.open": "panelOpens",
  "video.play": "videoPlays",
};

function metricOf(kind: ReturnType<typeof sql>) {
  const cases = Object.entries(METRICS).map(([name, metric]) => sql`when ${name} then ${metric}`);
  return sql`case ${kind} ${sql.join(cases, sql` `)} end`;
}

function cursorOf(source: string) {
  return sql`coalesce((select position from ${insightCursors} where source = ${source}), 0)`;
}

function moveCursor(db: Db, source: string, position: number, modified: number): BatchItem<"sqlite"> {
  return db
    .insert(insightCursors)
    .values({ source, position, modified })
    .onConflictDoUpdate({
      target: insightCursors.source,
      set: { position: sql`max(position, excluded.position)`, modified },
    });
}
