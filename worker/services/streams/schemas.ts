import { z } from "@hono/zod-openapi";
import type { StreamRow } from "#db/schema/streams/streams.ts";
import { fromQuery, Id, ImageUrl, QueryBoolean, Tags, Time, Tracked } from "#worker/lib/schemas/common.ts";
import { PlaybackSettings } from "#worker/lib/schemas/playback-settings.ts";
import { pickFields } from "#worker/services/core/fields.ts";

const editable = {
  title: z.string().trim().min(1).max(200).openapi({ example: "Harbour City v Old Dock" }),
  tags: Tags.default([]),
};

export const StreamInput = z
  .strictObject({
    ...editable,
    siteId: Id.optional().describe("Must equal Tifo-Client-Id"),
    channelId: Id.optional().describe(
      "The channel that shows it, whose viewers are notified when it starts and stops; required for channel admins",
    ),
    provider: z
      .string()
      .min(1)
      .max(50)
      .optional()
      .describe("The name of a registered provider; defaults to the site's settings.streamProvider or the provider registered first")
      .openapi({ example: "wowza" }),
    fallbackImageUrl: ImageUrl.optional().describe("Shown while there is no video"),
  })
  .openapi("StreamInput", {
    example: {
      title: "Harbour City v Old Dock",
      channelId: "5eed0000000000000000c001",
      provider: "wowza",
      fallbackImageUrl: "https://demo.example/kick-off-soon.png",
      tags: ["derby"],
    },
  });

export const Stream = z
  .object({
    _id: Id,
    siteId: Id,
    ...editable,
    channelId: Id.nullable(),
    provider: z.string().describe("The provider that runs it"),
    providerStreamId: z.string().describe("The provider's id of the stream"),
    ingestUrl: z.string().describe("Where the encoder sends the video"),
    playbackUrl: z.string().describe("The URL for players"),
    playback: PlaybackSettings.nullable().describe("How page content signs `playbackUrl`, as specified by the provider; null: unsigned"),
    streamKey: z.string().nullable().describe("The encoder's key; null in lists and for callers who may only read"),
    fallbackImageUrl: z.string().nullable(),
    isLive: z.boolean(),
    liveSince: Time.nullable().describe("When it went live, in milliseconds since 1970 UTC; null while it isn't live"),
    ...Tracked,
  })
  .openapi("Stream");

export const StreamFilters = {
  channelId: Id.optional().describe("Only streams of this channel; required for channel admins, who must manage it"),
  isLive: QueryBoolean.optional(),
};

export const ForceQuery = z.strictObject({
  force: QueryBoolean.optional().describe("Whether to do it here even if the provider fails or doesn't respond"),
});

export const GameQuery = z.strictObject({
  gameName: z.string().trim().min(1).max(100).openapi({ example: "football" }),
  limit: fromQuery(z.number().int().min(1).max(200)).default(50),
  offset: fromQuery(z.number().int().min(0).max(10_000)).default(0),
});

export const GameList = z
  .object({
    results: z.array(z.object({ id: z.number().int().describe("The id in the games database (IGDB)"), name: z.string() })),
    pagination: z.object({
      limit: z.number().int(),
      offset: z.number().int(),
      pageResults: z.number().int(),
      totalCount: z.number().int(),
    }),
  })
  .openapi("GameList");

export type StreamInput = z.output<typeof StreamInput>;

/** The fields of a stream that a column holds. */
export const STREAM_FIELDS = {
  _id: "id",
  siteId: "siteId",
  title: "title",
  channelId: "channelId",
  provider: "provider",
  providerStreamId: "providerStreamId",
  ingestUrl: "ingestUrl",
  playbackUrl: "playbackUrl",
  playback: "playback",
  fallbackImageUrl: "fallbackImageUrl",
  tags: "tags",
  isLive: "isLive",
  liveSince: "liveSince",
  created: "created",
  modified: "modified",
} as const satisfies Record<string, keyof StreamRow>;

/** Without the key unless it is given; the verb decides who may see it. */
export function toStream(row: StreamRow, streamKey: string | null = null) {
  return { ...pickFields(row, STREAM_FIELDS), streamKey } satisfies z.output<typeof Stream>;
}

/** The stream as events show it: without its key. */
export function toStreamEvent(row: StreamRow) {
  return { ...toStream(row), streamKey: null };
}
