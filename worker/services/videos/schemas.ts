import { z } from "@hono/zod-openapi";
import { UPLOAD_STATUSES, VIDEO_ACCESS, VIDEO_PLAYERS, VIDEO_TYPES } from "#db/enums.ts";
import type { VideoRow } from "#db/schema/videos.ts";
import { listQuery } from "#worker/services/core/list-schemas.ts";
import { commaSeparated, fromQuery, Id, ImageUrl, LinkUrl, Sku, Tags, Time, Tracked } from "#worker/lib/schemas/common.ts";
import { PlaybackSettings } from "#worker/lib/schemas/playback-settings.ts";
import { pickFields } from "#worker/services/core/fields.ts";

const Title = z.string().trim().min(1).max(300).openapi({ example: "Harbour City v Old Dock: highlights" });
const Description = z.string().max(10_000);
const Duration = z.number().min(0).max(31_536_000).describe("Seconds; 0 if unknown, as for a livestream").openapi({ example: 312 });
const VideoUrl = LinkUrl.describe("The URL that the player loads").openapi({ example: "https://vod.demo.example/highlights.m3u8" });
const Player = z.enum(VIDEO_PLAYERS);
const Skus = z.array(Sku).max(50).describe("Skus of the subscriptions that give access");
const LiveBroadcastId = z
  .string()
  .min(1)
  .max(200)
  .describe("A livestream's id at the system that broadcasts it; derived from the URL for YouTube")
  .openapi({ example: "derby-live-1" });
const UploadStatus = z.enum(UPLOAD_STATUSES).describe("`pending` while the file is being uploaded");
const Access = z
  .enum(VIDEO_ACCESS)
  .describe(
    "`gated`: only content responses return the URL; `inherit`: gated only while a page with a gate, a schedule or regions shows it, or it has `subscriptions`",
  );
const Playback = PlaybackSettings.nullable().describe(
  "How page content signs the URL; null: unsigned. Returned to developer keys and site admins",
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
    streamId: Id.describe("The recorded stream"),
    url: VideoUrl,
    ...defaults,
    title: Title.optional().describe("Defaults to the stream's title"),
    thumbnail: ImageUrl.nullable().optional().describe("Defaults to the stream's fallback image"),
    player: Player.default("tifo"),
  })
  .openapi("VodInput", {
    example: { durationSeconds: 5580, streamId: "5eed00000000000000005a01", url: "https://vod.demo.example/derby.m3u8" },
  });

export const LiveMetadata = z
  .strictObject({ title: Title, thumbnail: ImageUrl })
  .partial()
  .refine((given) => Object.keys(given).length > 0, "Send title, thumbnail or both")
  .openapi("LiveMetadata", { example: { title: "Second half: Harbour City 2, Old Dock 1" } });

export const Video = z
  .object({
    _id: Id,
    siteId: Id,
    ...described,
    ...played,
    url: VideoUrl.nullable().describe(
      "The URL that the player loads. Null if `gated`, except for developer keys and site admins: viewers who may play get it from page content",
    ),
    gated: z.boolean().describe("Whether only content responses return the URL"),
    playback: Playback.optional(),
    streamId: Id.nullable().describe("The stream that this is a recording of"),
    liveBroadcastId: z.string().nullable().describe("A livestream's id at the system that broadcasts it; null if `url` is"),
    ...Tracked,
  })
  .openapi("Video");

export const VideoMetadata = z
  .object({
    title: z.string(),
    description: z.string(),
    durationSeconds: z.number().nullable().describe("Null if the player doesn't provide it"),
    player: Player,
    thumbnail: z.string().nullable(),
    type: z.enum(VIDEO_TYPES),
    url: z.string(),
    tags: z.array(z.string()),
    created: Time.nullable().describe("When it was published, in milliseconds since 1970 UTC; null if the player doesn't provide it"),
    modified: Time.nullable().describe("When it was last modified; like created"),
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
    .describe("Like `thumbnail` and `liveBroadcastId`, finds gated videos only for developer keys and site admins"),
  thumbnail: z.string().max(2000).optional(),
  uploadStatus: z.enum(UPLOAD_STATUSES).optional(),
  access: Access.optional(),
  subscriptions: z.string().max(100).optional().describe("A sku that gives access"),
  tags: z.string().max(100).optional().describe("A tag of the video"),
  playlistId: Id.optional().describe("Only videos that this playlist has; their order is that of its `members`, not of this list"),
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
    .describe("URL of the video at its player")
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

/** A video, and whether a page gates it. */
export type ReadVideo = VideoRow & { gatedByPages: boolean };

// Hosts whose thumbnail URLs contain the video's id, with which anyone could play it there.
const THUMBNAILS_WITH_IDS =
  /(^|\.)(ytimg\.com|youtube\.com|dmcdn\.net|dailymotion\.com|mux\.com|cloudflarestream\.com|videodelivery\.net)$/;

export function isGated({ access, playback, subscriptions, gatedByPages }: ReadVideo): boolean {
  return access === "gated" || playback !== null || subscriptions.length > 0 || gatedByPages;
}

/** The fields of a video that everybody may read and a column holds. */
export const VIDEO_FIELDS = {
  _id: "id",
  siteId: "siteId",
  title: "title",
  description: "description",
  durationSeconds: "durationSeconds",
  player: "player",
  type: "type",
  url: "url",
  thumbnail: "thumbnail",
  uploadStatus: "uploadStatus",
  subscriptions: "subscriptions",
  access: "access",
  tags: "tags",
  streamId: "streamId",
  liveBroadcastId: "liveBroadcastId",
  created: "created",
  modified: "modified",
} as const satisfies Record<string, keyof VideoRow>;

function fieldsOf(row: ReadVideo) {
  return { ...pickFields(row, VIDEO_FIELDS), gated: isGated(row) } satisfies z.output<typeof Video>;
}

/** A video for developer keys, admins and events; `toPublicVideo` is for everyone else. */
export function toVideo(row: ReadVideo) {
  return { ...fieldsOf(row), playback: row.playback } satisfies z.output<typeof Video>;
}

/** The public part of a video: gated videos without anything that could play them. */
export function toPublicVideo(row: ReadVideo): z.output<typeof Video> {
  const video = fieldsOf(row);
  return video.gated ? { ...video, url: null, liveBroadcastId: null, thumbnail: publicThumbnail(row) } : video;
}

/** The thumbnail, unless its URL reveals the video's. */
export function publicThumbnail({ thumbnail }: Pick<VideoRow, "thumbnail">): string | null {
  if (thumbnail === null || !URL.canParse(thumbnail)) return thumbnail;
  return THUMBNAILS_WITH_IDS.test(new URL(thumbnail).hostname) ? null : thumbnail;
}
