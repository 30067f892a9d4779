import { z } from "@hono/zod-openapi";
import { CAN_I_PLAY_ERRORS, PLAY_ACCESS } from "#db/enums.ts";
import type { Content, PlayableVideo } from "./content.ts";
import { Id, Time } from "#worker/lib/schemas/common.ts";
import { Video } from "#worker/services/videos/schemas.ts";
import { Page, toPage } from "./schemas.ts";

const CanIPlay = z
  .object({
    access: z.enum(PLAY_ACCESS).describe("`preview_over` wherever there is an error: nothing may be played"),
    live: z.boolean().describe("Whether the channel's stream is on or, without one, its schedule"),
    offset: z.number().int().describe("Seconds since the beginning of what is on; 0 while nothing is"),
    previewTimeRemainingSeconds: z.number().int().nullable().describe("Null with full access, which doesn't run out"),
    userHasChannelGateEntitlement: z.boolean(),
    userHasVideoEntitlement: z.boolean(),
    video: Video.pick({ _id: true, title: true, player: true, type: true, thumbnail: true })
      .extend({
        url: z
          .string()
          .nullable()
          .describe("What the player loads, signed if the video has `playback`; null if the site has no key to sign it with"),
        urlExpires: Time.nullable().describe("When the signed URL stops working, in milliseconds since 1970 UTC; null if it isn't signed"),
      })
      .nullable()
      .describe("What plays: the programme's video, or the stream by its own id; null while nothing is on or nothing may be played"),
  })
  .openapi("CanIPlay");

const AccountDeviceCheck = z
  .object({
    accountDevices: z.record(z.string(), z.string()).describe("The account's devices: what each calls itself, by its id"),
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
          .describe("The rule that refuses, and what would unlock it; null where the viewer may play"),
      })
      .openapi("CanIPlayResponse"),
    channel: Page,
  })
  .openapi("PageContent");

export const ContentQuery = z.strictObject({
  videoId: Id.optional().describe(
    "A video to play in place of the programme's: one of the page's playlist panels, or one that no other page gates. 404 if it is neither",
  ),
});

/** A slug is no id: whatever isn't there is not found. */
export const PageSlugParam = z.object({ pageSlug: z.string().min(1).max(100).openapi({ example: "main-stage" }) });

export function toPageContent({ page, verdict, video, devices, deviceLimit }: Content) {
  const { error, accountOverDeviceLimit, ...check } = verdict;
  return {
    canIPlayResponse: {
      contentCheck: { ...check, video: video && toPlayed(video) },
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

function toPlayed({ id, ...video }: PlayableVideo) {
  return { _id: id, ...video };
}
