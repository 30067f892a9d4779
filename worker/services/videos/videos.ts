import { and, desc, eq, type SQL, sql } from "drizzle-orm";
import { streams } from "#db/schema/streams/streams.ts";
import { playlists } from "#db/schema/playlists.ts";
import { type VideoRow, videos, videoTotals } from "#db/schema/videos.ts";
import { findMetadata } from "#worker/integrations/oembed.ts";
import { youtubeVideoId } from "#worker/integrations/youtube.ts";
import { invalid, notFound } from "#worker/lib/errors.ts";
import {
  type LiveMetadata,
  type ReadVideo,
  toVideo,
  type VideoInput,
  type VideoMetadata,
  type VideoPatch,
  type VideoQuery,
  type VodInput,
} from "./schemas.ts";
import {
  commitIfUnchanged,
  type Ctx,
  deleteRow,
  type NewEvent,
  newRow,
  nextVersion,
  ownRow,
  requireMatch,
  requirePage,
  updateRow,
} from "#worker/services/core/context.ts";
import { channelIsRestricted, notGated, seesUrls, videoColumns } from "./gated-videos.ts";
import { equalTo, type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { skusAt } from "#worker/services/core/named-references.ts";
import { commitReferencing, newReferences, type Reference, referencesExist, withReferences } from "#worker/services/core/references.ts";
import { requirePlayback } from "#worker/services/sites/playback-keys.ts";
import { requireOwnSite } from "#worker/services/sites/current-site.ts";

const videoListOf = (siteId: string) =>
  tableList<ReadVideo>({
    table: videos,
    rows: (db, slice) => sliceOf(db.select(videoColumns(siteId)).from(videos).$dynamic(), slice),
    sort: {
      modified: videos.modified,
      created: videos.created,
      title: videos.title,
      durationSeconds: videos.durationSeconds,
      player: videos.player,
      type: videos.type,
      uploadStatus: videos.uploadStatus,
    },
    search: { title: videos.title, description: videos.description },
  });

const PROPERTIES = {
  _id: videos.id,
  title: videos.title,
  description: videos.description,
  durationSeconds: videos.durationSeconds,
  player: videos.player,
  type: videos.type,
  url: videos.url,
  thumbnail: videos.thumbnail,
  uploadStatus: videos.uploadStatus,
  subscriptions: videos.subscriptions,
  access: videos.access,
  tags: videos.tags,
  streamId: videos.streamId,
  liveBroadcastId: videos.liveBroadcastId,
  created: videos.created,
  modified: videos.modified,
};

export async function listVideos(ctx: Ctx, query: VideoQuery): Promise<ListPage<ReadVideo>> {
  requireOwnSite(ctx, query.siteId);
  const asksForUrl = [query.url, query.thumbnail, query.liveBroadcastId].some((value) => value !== undefined);
  const visible = asksForUrl && !(await seesUrls(ctx)) ? notGated(ctx.siteId) : undefined;
  const listed = query.playlistId === undefined ? undefined : isIn(query.playlistId, ctx.siteId);
  return listRows(ctx, videoListOf(ctx.siteId), query, eq(videos.siteId, ctx.siteId), ...equalTo(PROPERTIES, query), visible, listed);
}

/** Whether the site's playlist has the video. */
function isIn(playlistId: string, siteId: string): SQL {
  const members = sql`select member.value ->> 'id' from ${playlists}, json_each(${playlists.members}) as member`;
  return sql`${videos.id} in (${members} where ${playlists.id} = ${playlistId} and ${playlists.siteId} = ${siteId})`;
}

export function listLivestreams(ctx: Ctx, query: ListQuery & { player?: VideoRow["player"] }): Promise<ListPage<ReadVideo>> {
  return listRows(
    ctx,
    videoListOf(ctx.siteId),
    query,
    eq(videos.siteId, ctx.siteId),
    eq(videos.type, "livestream"),
    query.player && eq(videos.player, query.player),
  );
}

export async function getVideo(ctx: Ctx, id: string): Promise<ReadVideo> {
  const [video] = await ctx.db
    .select(videoColumns(ctx.siteId))
    .from(videos)
    .where(ownRow(ctx, videos, id));
  if (!video) throw notFound("Video not found");
  return video;
}

/** A video's metadata from its player. */
export async function lookUpVideo(ctx: Ctx, url: string): Promise<VideoMetadata> {
  return findMetadata(ctx.env, url);
}

export async function createVideo(ctx: Ctx, { siteId, ...input }: VideoInput): Promise<ReadVideo> {
  requireOwnSite(ctx, siteId);
  await requirePlayback(ctx, input.url, input.playback);
  const video = newVideo(ctx, input);
  await commitReferencing(ctx, skusOf(video), ctx.db.insert(videos).values(video), ...createdEvents(video));
  return video;
}

/** The row of a new video, for callers that write it with other rows. Only a recording can be gated by a page from the start. */
export function newVideo(ctx: Ctx, input: Omit<VideoInput, "siteId"> & { streamId?: string }, gatedByPages = false): ReadVideo {
  const { liveBroadcastId, streamId = null, ...columns } = input;
  const broadcastId = broadcastIdOf({ ...columns, liveBroadcastId: liveBroadcastId ?? null });
  return { ...newRow(ctx), ...columns, streamId, liveBroadcastId: broadcastId, gatedByPages };
}

/** The events of a new video. */
export function createdEvents(video: ReadVideo): [NewEvent, ...NewEvent[]] {
  const created = changeEvent("video.created", video);
  return isReady(video) ? [created, changeEvent("admin.vodReady", video)] : [created];
}

/** Adds a stream's recording as a video, with the stream's title and image by default. */
export async function createVod(ctx: Ctx, { siteId, ...input }: VodInput): Promise<ReadVideo> {
  requireOwnSite(ctx, siteId);
  const { channelId, title: ownTitle, fallbackImageUrl } = streams;
  const gated = channelIsRestricted(sql`${streams}.site_id`, sql`${streams}.channel_id`).as("gated");
  const [stream] = await ctx.db
    .select({ channelId, title: ownTitle, fallbackImageUrl, gated })
    .from(streams)
    .where(ownRow(ctx, streams, input.streamId));
  await requirePage(ctx, stream?.channelId ?? "", "write");
  if (!stream) throw invalid("streamId", "The site has no such stream");
  const { title = stream.title, thumbnail = stream.fallbackImageUrl } = input;
  await requirePlayback(ctx, input.url, input.playback);
  const video = newVideo(ctx, { ...input, title, thumbnail, type: "vod" }, stream.gated);
  await commitReferencing(ctx, skusOf(video), ctx.db.insert(videos).values(video), ...createdEvents(video));
  return video;
}

/** Changes some fields of a video. */
export async function updateVideo(ctx: Ctx, id: string, { siteId, ...patch }: VideoPatch): Promise<ReadVideo> {
  requireOwnSite(ctx, siteId);
  return changeVideo(ctx, await getVideo(ctx, id), patch);
}

/** Changes a livestream's title and thumbnail; if several have this broadcast id, the newest. */
export async function updateLiveMetadata(ctx: Ctx, liveBroadcastId: string, patch: LiveMetadata): Promise<ReadVideo> {
  const [video] = await ctx.db
    .select(videoColumns(ctx.siteId))
    .from(videos)
    .where(and(eq(videos.siteId, ctx.siteId), eq(videos.liveBroadcastId, liveBroadcastId)))
    .orderBy(desc(videos.id))
    .limit(1);
  if (!video) throw notFound("No livestream of the site has this liveBroadcastId");
  return changeVideo(ctx, video, patch);
}

export async function deleteVideo(ctx: Ctx, id: string): Promise<ReadVideo> {
  const current = await getVideo(ctx, id);
  requireMatch(ctx, current);
  const change = deleteRow(ctx, videos, current);
  const total = ctx.db.delete(videoTotals).where(eq(videoTotals.videoId, id));
  const events = current.type === "vod" ? [changeEvent("admin.vodDeleted", current)] : [];
  await commitIfUnchanged(ctx, [change, total], changeEvent("video.deleted", current), ...events);
  return current;
}

async function changeVideo(ctx: Ctx, current: ReadVideo, patch: Omit<VideoPatch, "siteId">): Promise<ReadVideo> {
  // An id that was derived from the URL changes with it.
  const ownId = current.liveBroadcastId === broadcastIdOf({ ...current, liveBroadcastId: null }) ? null : current.liveBroadcastId;
  const merged = { ...current, liveBroadcastId: ownId, ...patch };
  if (patch.playback !== undefined || patch.url !== undefined) await requirePlayback(ctx, merged.url, merged.playback);
  const next: ReadVideo = { ...merged, liveBroadcastId: broadcastIdOf(merged), ...nextVersion(ctx, current) };
  const references = newReferences(skusOf(next), skusOf(current));
  const change = updateRow(ctx, videos, current, next, referencesExist(ctx, references));
  const events = isReady(next) && !isReady(current) ? [changeEvent("admin.vodReady", next)] : [];
  await withReferences(ctx, references, () => commitIfUnchanged(ctx, change, changeEvent("video.updated", next), ...events));
  return next;
}

function skusOf({ subscriptions }: VideoRow): Reference[] {
  return skusAt("subscriptions", subscriptions);
}

/** Only livestreams have one; for YouTube it is the video's id. */
function broadcastIdOf({
  type,
  player,
  url,
  liveBroadcastId,
}: Pick<VideoRow, "type" | "player" | "url" | "liveBroadcastId">): string | null {
  if (type !== "livestream") return null;
  return liveBroadcastId ?? (player === "youtube" ? (youtubeVideoId(url) ?? null) : null);
}

function isReady({ type, uploadStatus }: VideoRow): boolean {
  return type === "vod" && uploadStatus === "complete";
}

type VideoEvent = "video.created" | "video.updated" | "video.deleted" | "admin.vodReady" | "admin.vodDeleted";

function changeEvent(type: VideoEvent, video: ReadVideo): NewEvent {
  return { type, resource: `video/${video.id}`, data: toVideo(video) };
}
