import { getTableColumns, type Placeholder, type SQL, sql } from "drizzle-orm";
import { isRestricted, pages, programmeVideo } from "#db/schema/pages.ts";
import { panels } from "#db/schema/panels.ts";
import { playlists } from "#db/schema/playlists.ts";
import { streams } from "#db/schema/streams/streams.ts";
import { videos } from "#db/schema/videos.ts";
import { isSiteAdmin } from "#worker/lib/roles.ts";
import type { Ctx } from "#worker/services/core/context.ts";

// Which videos' URLs only content responses may return. Read together with the video, so that a gate takes effect immediately.

type SiteId = string | Placeholder;

const RESTRICTED = isRestricted(`"pages"."data"`);

/** Whether a channel is restricted; `siteId` and `channelId` are SQL of the outer query. */
export function channelIsRestricted(siteId: SQL, channelId: SQL): SQL<boolean> {
  return sql`exists (select 1 from ${pages} where ${pages.siteId} = ${siteId} and ${pages.id} = ${channelId} and ${RESTRICTED})`.mapWith(
    Boolean,
  );
}

// Spelled out, because Drizzle omits the table name of a selected column, which would then refer to the inner table.
const VIDEO = { id: sql`${videos}.id`, siteId: sql`${videos}.site_id`, streamId: sql`${videos}.stream_id` };

const isProgramme = (programme: "live" | "offline"): SQL =>
  sql`exists (select 1 from ${pages} where ${pages.siteId} = ${VIDEO.siteId} and ${programmeVideo(`"pages"."data"`, programme)} = ${VIDEO.id} and ${RESTRICTED})`;

const isRecording = sql`exists (select 1 from ${streams} where ${streams.id} = ${VIDEO.streamId} and ${streams.siteId} = ${VIDEO.siteId}
  and ${channelIsRestricted(sql`${streams.siteId}`, sql`${streams.channelId}`)})`;

/** The videos of the playlists in these panels. The pluses as in `ownRows`. */
export function videosOfPanels(siteId: SiteId, panelIds: SQL): SQL {
  const playlistIds = sql`select json_extract(${panels.renderer}, '$.playlist_id') from ${panels}
    where +${panels.siteId} = ${siteId} and ${panels.panelType} = 'playlist' and ${panels.id} in (${panelIds})`;
  return sql`select json_extract(json_each.value, '$.id') from ${playlists}, json_each(${playlists.members})
    where +${playlists.siteId} = ${siteId} and ${playlists.id} in (${playlistIds})`;
}

/** The videos in playlist panels of the matching pages. */
function videosBeside(siteId: SiteId, which: SQL): SQL {
  return videosOfPanels(
    siteId,
    sql`select json_each.value from ${pages}, json_each(${pages.data}, '$.sidebar.panels') where ${pages.siteId} = ${siteId} and ${which}`,
  );
}

/** Whether a restricted page shows the video: as its programme, as its stream's recording, or in a playlist panel. */
function gatedByPages(siteId: SiteId): SQL<boolean> {
  return sql`(${isProgramme("live")} or ${isProgramme("offline")} or ${isRecording} or ${VIDEO.id} in (${videosBeside(siteId, RESTRICTED)}))`.mapWith(
    Boolean,
  );
}

/** A video's columns with whether its pages gate it: `db.select(videoColumns(siteId)).from(videos)`. */
export function videoColumns(siteId: string) {
  return { ...getTableColumns(videos), gatedByPages: gatedByPages(siteId).as("gated_by_pages") };
}

/** Whether a restricted page shows one of these panels. */
export function shownOnRestrictedPage(siteId: string, panelIds: SQL): SQL {
  return sql`exists (select 1 from ${pages}, json_each(${pages.data}, '$.sidebar.panels')
    where ${pages.siteId} = ${siteId} and ${RESTRICTED} and json_each.value in (${panelIds}))`;
}

/** Whether the caller may read URLs without a content response: a developer key, or an account that administers the site. */
export async function seesUrls(ctx: Ctx): Promise<boolean> {
  const actor = await ctx.caller();
  return actor.kind === "developer" || (actor.kind === "account" && isSiteAdmin(actor.roles, "read"));
}

/** Rows that callers without `seesUrls` may filter by URL: otherwise a filter could confirm a guessed URL. */
export function notGated(siteId: string): SQL {
  return sql`not (${videos.access} = 'gated' or ${videos.playback} is not null or json_array_length(${videos.subscriptions}) > 0 or ${gatedByPages(siteId)})`;
}

/** The videos that a page may play on request: those that it shows, and those that aren't gated by another page or setting. */
export function mayPlayOn(siteId: SiteId, pageId: SQL, named: SQL): SQL<boolean> {
  const beside = videosBeside(siteId, sql`${pages.id} = ${pageId}`);
  return sql`(${VIDEO.id} in (${named}) or ${VIDEO.id} in (${beside}) or not (${videos}.access = 'gated' or ${gatedByPages(siteId)}))`.mapWith(
    Boolean,
  );
}
