import { and, eq, gt, isNull, sql } from "drizzle-orm";
import { siteDb } from "#db/databases.ts";
import { broadcasts } from "#db/schema/overlays.ts";
import { pages } from "#db/schema/pages.ts";
import { panels } from "#db/schema/panels.ts";
import { channelOf, presenceOf } from "#worker/durable-objects/stubs.ts";
import type { StateChange } from "#worker/durable-objects/channel/channel.protocol.ts";

/** The channel id in the rows of site-wide broadcasts. */
const SITE_WIDE = "";
/** How long the channels of a poll are cached. */
const CACHE_MS = 10_000;

/** The channels that show a poll; empty means the whole site. `at` is when they were looked up (ms). */
export interface Audience {
  at: number;
  channelIds: string[];
}

/** The channels whose sidebar has a panel with this poll, and those on which an active overlay shows it, looked up at most every 10 s. */
export async function findAudience(env: Env, siteId: string, pollId: string, known: Audience | undefined): Promise<Audience> {
  const now = Date.now();
  if (known && known.at > now - CACHE_MS) return known;
  const db = siteDb(env, siteId);
  const [withPanel, withOverlay] = await db.batch([
    db
      .selectDistinct({ id: pages.id })
      .from(panels)
      .innerJoin(
        pages,
        sql`${pages.siteId} = ${panels.siteId} and exists (select 1 from json_each(${pages.data}, '$.sidebar.panels') where value = ${panels.id})`,
      )
      .where(and(eq(panels.siteId, siteId), eq(pages.type, "channel"), includesPoll(pollId))),
    db
      .selectDistinct({ id: broadcasts.channelId })
      .from(broadcasts)
      .where(and(eq(broadcasts.siteId, siteId), gt(broadcasts.endsAt, now), isNull(broadcasts.clearedAt), showsPoll(pollId))),
  ]);
  const ids = [...new Set([...withPanel, ...withOverlay].map(({ id }) => id))];
  const isSiteWide = withPanel.length === 0 || ids.includes(SITE_WIDE);
  return { at: now, channelIds: isSiteWide ? [] : ids };
}

/** Matches broadcasts that show this poll. */
function showsPoll(pollId: string) {
  return sql`exists (select 1 from json_each(${broadcasts.polls}) where value = ${pollId})`;
}

/** Matches panels that include this poll. */
export function includesPoll(pollId: string) {
  return sql`exists (select 1 from json_each(${panels.renderer}, '$.questions') where json_extract(value, '$.poll_id') = ${pollId})`;
}

/** Sends a state to the viewers of these channels, or of the whole site. */
export async function notifyViewers(env: Env, siteId: string, { channelIds }: Audience, change: StateChange): Promise<void> {
  if (channelIds.length === 0) return presenceOf(env, siteId).state(change);
  await Promise.all(channelIds.map((channelId) => channelOf(env, siteId, channelId).state(change)));
}

/** Removes the tally of a deleted poll, so that viewers who connect later don't receive it. */
export async function withdrawTally(env: Env, siteId: string, pollId: string, at: number): Promise<void> {
  const { channelIds } = await findAudience(env, siteId, pollId, undefined);
  const change: StateChange = { key: pollId, type: "poll.updated", at, data: null };
  await Promise.all([
    presenceOf(env, siteId).state(change),
    ...channelIds.map((channelId) => channelOf(env, siteId, channelId).state(change)),
  ]);
}
