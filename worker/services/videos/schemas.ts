import { z } from "@hono/zod-openapi";
import { UPLOAD_STATUSES, VIDEO_ACCESS, VIDEO_PLAYERS, VIDEO_TYPES } from "#db/enums.ts";
import type { VideoRow } from "#db/schema/index.ts";
import { listQuery } from "#worker/services/core/list-schemas.ts";
import { commaSeparated, fromQuery, Id, ImageUrl, LinkUrl, Sku, Tags, Time, Tracked } from "#worker/lib/schemas/common.ts";
import { PlaybackSettings } from "#worker/lib/schemas/playback-settings.ts";

const Title = z.string().trim().min(1).max(300).openapi({ example: "Harbour City v Old Dock: highlights" });
const Description = z.string().max(10_000);
const Duration = z
  .number()
  .min(0)
  .max(31_536_000)
  .describe("Seconds; 0 where it isn't known, as of a livestream")
  .openapi({ example: 312 });
const VideoUrl = LinkUrl.describe("What the player loads").openapi({ example: "https://vod.demo.example/highlights.m3u8" });
const Player = z.enum(VIDEO_PLAYERS);
const Skus = z.array(Sku).max(50).describe("Skus of the subscriptions that open it");
const LiveBroadcastId = z
  .string()
  .min(1)
  .max(200)
  .describe("A livestream's id at the system that broadcasts it; of a YouTube address it is known")
  .openapi({ example: "derby-live-1" });
const UploadStatus = z.enum(UPLOAD_STATUSES).describe("pending while the file is on its way");
const Access = z
  .enum(VIDEO_ACCESS)
  .describe(
    "`gated`: only content responses give the URL; `inherit`: only while a page with a gate, a schedule or regions shows it, or it has `subscriptions`",
  );
const Playback = PlaybackSettings.nullable().describe(
  "How page content signs the URL; null: not at all. Shown to developer keys and site admins",
);
const siteId = Id.optional().describe("Must equal Tifo-Client-Id");

const described = {
  title: Title,
  description: Description,
  thumbnail: ImageUrl.nullable(),
  uploadStatus: UploadStatus,
  subscriptions: Skus,
  access: Access,
  playback: Playback,
  tags: Tags,
};

const defaults = {
  description: Description.default(""),
  thumbnail: ImageUrl.nullable().default(null),
  uploadStatus: UploadStatus.default("complete"),
  subscriptions: Skus.default([]),
  access: Access.default("inherit"),
  playback: Playback.default(null),
  tags: Tags.default([]),
};

const played = { durationSeconds: Duration, player: Player, type: z.enum(VIDEO_TYPES), url: VideoUrl };

export const VideoInput = z
  .strictObject({ siteId, title: Title, ...played, ...defaults, liveBroadcastId: LiveBroadcastId.nullish() })
  .openapi("VideoInput", {
    example: {
      title: "Harbour City v Old Dock: highlights",
      durationSeconds: 312,
      player: "file",
      type: "vod",
      url: "https://vod.demo.example/highlights.m3u8",
      thumbnail: "https://demo.example/highlights.jpg",
      tags: ["derby"],
    },
  });

export const VideoPatch = z
  .strictObject({ siteId, ...described, ...played, liveBroadcastId: LiveBroadcastId.nullable() })
  .partial()
  .openapi("VideoPatch", { example: { title: "Harbour City v Old Dock: all four goals" } });

export const VodInput = z
  .strictObject({
    siteId,
    durationSeconds: Duration,
    streamId: Id.describe("The stream that was recorded"),
    url: VideoUrl,
    ...defaults,
    title: Title.optional().describe("The stream's own unless given"),
    thumbnail: ImageUrl.nullable().optional().describe("The stream's fallback image unless given"),
    player: Player.default("tifo"),
  })
  .openapi("VodInput", {
    example: { durationSeconds: 5580, streamId: "5eed00000000000000005a01", url: "https://vod.demo.example/derby.m3u8" },
  });

export const LiveMetadata = z
  .strictObject({ title: Title, thumbnail: ImageUrl })
  .partial()
  .refine((given) => Object.keys(given).length > 0, "Give title, thumbnail or both")
  .openapi("LiveMetadata", { example: { title: "Second half: Harbour City 2, Old Dock 1" } });

export const Video = z
  .object({
    _id: Id,
    siteId: Id,
    ...described,
    ...played,
    url: VideoUrl.nullable().describe(
      "What the player loads. Null if `gated`, unless a developer key or a site admin asks: page content gives it to viewers who may play",
    ),
    gated: z.boolean().describe("Whether only content responses give the URL"),
    playback: Playback.optional(),
    streamId: Id.nullable().describe("The stream of which it is the recording"),
    liveBroadcastId: z.string().nullable().describe("A livestream's id at the system that broadcasts it; null wherever `url` is"),
    ...Tracked,
  })
  .openapi("Video");

export const VideoMetadata = z
  .object({
    title: z.string(),
    description: z.string(),
    durationSeconds: z.number().nullable().describe("Null where the player doesn't say"),
    player: Player,
    thumbnail: z.string().nullable(),
    type: z.enum(VIDEO_TYPES),
    url: z.string(),
    tags: z.array(z.string()),
    created: Time.nullable().describe("When it was published, in milliseconds since 1970 UTC; null where the player doesn't say"),
    modified: Time.nullable().describe("As for created"),
  })
  .openapi("VideoMetadata");

const Moment = fromQuery(z.number().int());

/** Any property of a video, as `?property=value`. */
export const VideoQuery = listQuery(["modified", "created", "title", "durationSeconds", "player", "type", "uploadStatus"], {
  _id: Id.optional(),
  siteId,
  title: z.string().max(300).optional(),
  description: Description.optional(),
  durationSeconds: fromQuery(z.number()).optional(),
  player: Player.optional(),
  type: z.enum(VIDEO_TYPES).optional(),
  url: z
    .string()
    .max(2000)
    .optional()
    .describe("Finds gated videos for a developer key or a site admin only, as `thumbnail` and `liveBroadcastId` do"),
  thumbnail: z.string().max(2000).optional(),
  uploadStatus: z.enum(UPLOAD_STATUSES).optional(),
  access: Access.optional(),
  subscriptions: z.string().max(100).optional().describe("A sku that opens it"),
  tags: z.string().max(100).optional().describe("A tag that it has"),
  streamId: Id.optional(),
  liveBroadcastId: z.string().max(200).optional(),
  created: Moment.optional().describe("Milliseconds since 1970 UTC"),
  modified: Moment.optional().describe("Milliseconds since 1970 UTC"),
});

export const LivestreamQuery = listQuery(["modified"], { player: Player.optional() });
export const MetadataQuery = z.strictObject({
  url: z
    .url({ protocol: /^https?$/ })
    .max(2000)
    .describe("Address of a video at its player")
    .openapi({ example: "https://www.youtube.com/watch?v=dQw4w9WgXcQ" }),
});
export const LiveBroadcastParam = z.object({ liveBroadcastId: LiveBroadcastId });
export const VideoIdsParam = z.object({
  ids: commaSeparated(Id, 100, "5eed00000000000000004001,5eed00000000000000004002").describe("At most 100, separated by commas"),
});

export const TotalViews = z.number().int().openapi("TotalViews", { example: 1893 });
export const VideoTotalViews = z.object({ id: Id, views: z.number().int() }).openapi("VideoTotalViews");

export type VideoInput = z.output<typeof VideoInput>;
export type VideoPatch = z.output<typeof VideoPatch>;
export type VodInput = z.output<typeof VodInput>;
export type LiveMetadata = z.output<typeof LiveMetadata>;
export type VideoMetadata = z.output<typeof VideoMetadata>;
export type VideoQuery = z.output<typeof VideoQuery>;

/** A video with whether a page gates it. */
export type ReadVideo = VideoRow & { gatedByPages: boolean };

// Hosts whose thumbnails name the video: with its id, anybody could play it there.
const THUMBNAILS_WITH_IDS =
  /(^|\.)(ytimg\.com|youtube\.com|dmcdn\.net|dailymotion\.com|mux\.com|cloudflarestream\.com|videodelivery\.net)$/;

export function isGated({ access, playback, subscriptions, gatedByPages }: ReadVideo): boolean {
  return access === "gated" || playback !== null || subscriptions.length > 0 || gatedByPages;
}

function fieldsOf(row: ReadVideo) {
  return {
    _id: row.id,
    siteId: row.siteId,
    title: row.title,
    description: row.description,
    durationSeconds: row.durationSeconds,
    player: row.player,
    type: row.type,
    url: row.url,
    thumbnail: row.thumbnail,
    uploadStatus: row.uploadStatus,
    subscriptions: row.subscriptions,
    access: row.access,
    gated: isGated(row),
    tags: row.tags,
    streamId: row.streamId,
    liveBroadcastId: row.liveBroadcastId,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof Video>;
}

/** A video as developer keys, admins and events have it; `toPublicVideo` is for everybody else. */
export function toVideo(row: ReadVideo) {
  return { ...fieldsOf(row), playback: row.playback } satisfies z.output<typeof Video>;
}

/** A gated video without anything that plays it. */
export function toPublicVideo(row: ReadVideo): z.output<typeof Video> {
  const video = fieldsOf(row);
  return video.gated ? { ...video, url: null, liveBroadcastId: null, thumbnail: publicThumbnail(row) } : video;
}

/** The thumbnail, unless its address is one from which the video's own follows. */
export function publicThumbnail({ thumbnail }: Pick<VideoRow, "thumbnail">): string | null {
  if (thumbnail === null || !URL.canParse(thumbnail)) return thumbnail;
  return THUMBNAILS_WITH_IDS.test(new URL(thumbnail).hostname) ? null : thumbnail;
}
