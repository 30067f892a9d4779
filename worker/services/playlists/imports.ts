import { and, eq, sql } from "drizzle-orm";
import { type PlaylistRow, playlists } from "#db/schema/playlists.ts";
import { videos } from "#db/schema/videos.ts";
import { fetchYoutubePlaylist, type YoutubeVideo } from "#worker/integrations/youtube.ts";
import type { ReadVideo } from "#worker/services/videos/schemas.ts";
import { commit, type Ctx, newRow } from "#worker/services/core/context.ts";
import { playlistEvent } from "./playlists.ts";
import { requireOwnSite } from "#worker/services/sites/current-site.ts";
import { createdEvents, newVideo } from "#worker/services/videos/videos.ts";
import { clip } from "#worker/lib/well-formed.ts";

/** Imports a YouTube playlist, creating the videos that the site doesn't have yet, in one atomic commit. */
export async function importYoutubePlaylist(ctx: Ctx, { siteId, url }: { siteId?: string; url: string }): Promise<PlaylistRow> {
  requireOwnSite(ctx, siteId);
  await ctx.caller();
  const found = await fetchYoutubePlaylist(ctx.env, url);
  const existing = await videosByUrl(ctx, found.videos);
  const newVideos = new Map(found.videos.filter((video) => !existing.has(video.url)).map((video) => [video.url, toVideoRow(ctx, video)]));
  const members = found.videos.flatMap((video) => {
    const id = existing.get(video.url) ?? newVideos.get(video.url)?.id;
    return id === undefined ? [] : [{ id, schema: "video" as const }];
  });
  const playlist: PlaylistRow = { ...newRow(ctx), title: found.title, description: found.description, members, tags: [] };
  const rows = [...newVideos.values()];
  await commit(
    ctx,
    [ctx.db.insert(playlists).values(playlist), ...rows.map((row) => ctx.db.insert(videos).values(row))],
    playlistEvent("created", playlist),
    ...rows.flatMap((row) => createdEvents(row)),
  );
  return playlist;
}

/** The ids of the videos that the site already has, by URL. */
async function videosByUrl(ctx: Ctx, found: YoutubeVideo[]): Promise<Map<string, string>> {
  const urls = JSON.stringify(found.map(({ url }) => url));
  const rows = await ctx.db
    .select({ id: videos.id, url: videos.url })
    .from(videos)
    .where(and(eq(videos.siteId, ctx.siteId), sql`${videos.url} in (select value from json_each(${urls}))`));
  return new Map(rows.map(({ id, url }) => [url, id]));
}

function toVideoRow(ctx: Ctx, { published: _, tags, ...video }: YoutubeVideo): ReadVideo {
  // YouTube's only looser limit: it has none for the length of a tag.
  const trimmed = tags.map((tag) => clip(tag, 100)).filter((tag) => tag !== "");
  return newVideo(ctx, {
    ...video,
    tags: trimmed.slice(0, 200),
    player: "youtube",
    uploadStatus: "complete",
    subscriptions: [],
    access: "inherit",
    playback: null,
  });
}
