import { and, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { panels } from "#db/schema/panels.ts";
import { streams } from "#db/schema/streams/streams.ts";
import { videos } from "#db/schema/videos.ts";
import type { PageData, PanelRenderer, PlaylistMember } from "#db/types.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { channelIsRestricted, shownOnRestrictedPage, videosOfPanels } from "./gated-videos.ts";
import { idIn } from "#worker/services/core/listing.ts";
import { pickFields } from "#worker/services/core/fields.ts";
import { insertEventsForRows } from "#worker/services/core/outbox.ts";
import { VIDEO_FIELDS } from "./schemas.ts";

// Yesterday's paid match must not become free when today's replaces it: a video that leaves a restricted page stays gated until it is
// opened explicitly. Each function returns statements for the batch that makes the change, to run after the change itself.

/** For a change of a page, or its deletion (`next` is undefined). */
export async function keepGatedOfPage(ctx: Ctx, id: string, current: PageData, next?: PageData): Promise<BatchItem<"sqlite">[]> {
  if (!restricts(current)) return [];
  const left = (of: (data: PageData) => string[]): string[] => of(current).filter((each) => !(next && of(next).includes(each)));
  const [shown, beside] = [left(programmeOf), left(panelsOf)];
  const leaving = [
    ...(shown.length > 0 ? [idIn(videos.id, shown)] : []),
    ...(beside.length > 0 ? [sql`${videos.id} in (${videosOfPanels(ctx.siteId, listed(beside))})`] : []),
    ...(next
      ? []
      : [
          sql`${videos.streamId} in (select ${streams.id} from ${streams} where ${streams.siteId} = ${ctx.siteId} and ${streams.channelId} = ${id})`,
        ]),
  ];
  return leaving.length === 0 ? [] : keepGated(ctx, sql`(${sql.join(leaving, sql` or `)})`);
}

/** For the deletion of a stream: keeps its recordings gated. */
export function keepGatedOfStream(ctx: Ctx, id: string, channelId: string | null): Promise<BatchItem<"sqlite">[]> {
  return keepGated(ctx, and(eq(videos.streamId, id), channelIsRestricted(sql`${ctx.siteId}`, sql`${channelId}`)));
}

/** For a panel that switches to another playlist, or is deleted (`next` is undefined). */
export async function keepGatedOfPanel(ctx: Ctx, id: string, current: PanelRenderer, next?: PanelRenderer): Promise<BatchItem<"sqlite">[]> {
  const playlistId = playlistOf(current);
  if (playlistId === undefined || (next && playlistOf(next) === playlistId)) return [];
  const members = sql`select json_extract(json_each.value, '$.id') from playlists, json_each(playlists.members)
    where playlists.site_id = ${ctx.siteId} and playlists.id = ${playlistId}`;
  return keepGated(ctx, and(sql`${videos.id} in (${members})`, shownOnRestrictedPage(ctx.siteId, listed([id]))));
}

/** For members removed from a playlist; all of them if it is deleted. */
export async function keepGatedOfPlaylist(
  ctx: Ctx,
  id: string,
  current: PlaylistMember[],
  next: PlaylistMember[] = [],
): Promise<BatchItem<"sqlite">[]> {
  const kept = new Set(next.map((member) => member.id));
  const gone = current.filter((member) => member.schema === "video" && !kept.has(member.id)).map((member) => member.id);
  if (gone.length === 0) return [];
  const showing = sql`select ${panels.id} from ${panels} where ${panels.siteId} = ${ctx.siteId} and ${panels.panelType} = 'playlist'
    and json_extract(${panels.renderer}, '$.playlist_id') = ${id}`;
  return keepGated(ctx, and(idIn(videos.id, gone), shownOnRestrictedPage(ctx.siteId, showing)));
}

async function keepGated(ctx: Ctx, leaving: SQL | undefined): Promise<BatchItem<"sqlite">[]> {
  const where = and(eq(videos.siteId, ctx.siteId), eq(videos.access, "inherit"), leaving);
  const columns = getTableColumns(videos);
  const data = { ...pickFields(columns, VIDEO_FIELDS), gated: true, playback: columns.playback, access: "gated", modified: ctx.now };
  const eventInsert = insertEventsForRows(ctx, await ctx.caller(), { type: "video.updated", area: "video", table: videos, where, data });
  const keep = ctx.db
    .update(videos)
    .set({ access: "gated", modified: ctx.now, version: sql`${videos.version} + 1` })
    .where(where);
  return [eventInsert, keep];
}

/** The same rule as `isRestricted` in SQL. */
export function restricts({ gate, schedule, regions = [] }: PageData): boolean {
  return gate.type !== "none" || schedule !== undefined || regions.length > 0;
}

function programmeOf({ content }: PageData): string[] {
  return [content?.live?.video_id, content?.offline?.video_id].filter((id) => id !== undefined);
}

function panelsOf({ sidebar }: PageData): string[] {
  return sidebar?.panels ?? [];
}

function playlistOf(renderer: PanelRenderer): string | undefined {
  return "playlist_id" in renderer ? renderer.playlist_id : undefined;
}

function listed(ids: string[]): SQL {
  return sql`select value from json_each(${JSON.stringify(ids)})`;
}
