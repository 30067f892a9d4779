import { z } from "@hono/zod-openapi";
import { CAN_I_PLAY_ERRORS, PLAY_ACCESS } from "#db/enums.ts";
import type { Content, PlayableVideo } from "./content.ts";
import { Id, Time } from "#worker/lib/schemas/common.ts";
import { Video } from "#worker/services/videos/schemas.ts";
import { Page, toPage } from "./schemas.ts";

const CanIPlay = z
  .object({
    access: z.enum(PLAY_ACCESS).describe("`preview_over` if there is an error, in which case nothing may be played"),
    live: z.boolean().describe("Whether the channel's stream is live or, without a stream, its schedule is running"),
    offset: z.number().int().describe("Seconds since the live programme started; 0 if nothing is live"),
    previewTimeRemainingSeconds: z.number().int().nullable().describe("Null with full access"),
    userHasChannelGateEntitlement: z.boolean(),
    userHasVideoEntitlement: z.boolean(),
    video: Video.pick({ _id: true, title: true, player: true, type: true, thumbnail: true })
      .extend({
        url: z
          .string()
          .nullable()
          .describe("The URL that the player loads, signed if the video has `playback`; null if the site has no key to sign it"),
        urlExpires: Time.nullable().describe("When the signed URL stops working, in milliseconds since 1970 UTC; null if it isn't signed"),
      })
      .nullable()
      .describe("The video to play: the programme's, or the stream with its own id; null if there is none or playback is denied"),
  })
  .openapi("CanIPlay");

const AccountDeviceCheck = z
  .object({
    accountDevices: z.record(z.string(), z.string()).describe("The account's devices: the description of each, by device id"),
    accountOverDeviceLimit: z.boolean().describe("Whether the account has no slot left for this device"),
    siteDeviceLimit: z.number().int(),
  })
  .openapi("AccountDeviceCheck", {
    example: { accountDevices: { "living-room-tv": "TV" }, accountOverDeviceLimit: false, siteDeviceLimit: 3 },
  });

export const PageContent = z
  .object({
    canIPlayResponse: z
      .object({
        contentCheck: CanIPlay,
        deviceCheck: AccountDeviceCheck,
        error: z
          .object({ type: z.enum(CAN_I_PLAY_ERRORS), message: z.string() })
          .nullable()
          .describe("The rule that denies playback, and what would unlock it; null if the viewer may play"),
      })
      .openapi("CanIPlayResponse"),
    channel: Page,
  })
  .openapi("PageContent");

export const ContentQuery = z.strictObject({
  videoId: Id.optional().describe(
    "A video to play instead of the programme's: one from the page's playlist panels, or one that no other page gates; otherwise 404",
  ),
});

/** Any string is accepted as a slug; an unknown one is a 404, not a 400. */
export const PageSlugParam = z.object({ pageSlug: z.string().min(1).max(100).openapi({ example: "main-stage" }) });

export function toPageContent({ page, verdict, video, devices, deviceLimit }: Content) {
  const { error, accountOverDeviceLimit, ...check } = verdict;
  return {
    canIPlayResponse: {
      contentCheck: { ...check, video: video && toPlayableVideo(video) },
      deviceCheck: {
        accountDevices: Object.fromEntries(devices.map(({ deviceId, description }) => [deviceId, description])),
        accountOverDeviceLimit,
        siteDeviceLimit: deviceLimit,
      },
      error,
    },
    channel: toPage(page),
  } satisfies z.output<typeof PageContent>;
}

function toPlayableVideo({ id, ...video }: PlayableVideo) {
  return { _id: id, ...video };
}
