import { z } from "@hono/zod-openapi";
import { Id, LinkUrl } from "./common.ts";

// What a viewer's app does when the overlay is pressed. The docs and the SDK read this file too.

const Label = z.string().min(1).max(100).optional().describe("The label of the button");
const External = z.string().min(1).max(100);

/** One kind of call to action with its data. */
function cta<Type extends string, Data extends z.core.$ZodLooseShape>(type: Type, data: Data) {
  return z.strictObject({ type: z.literal(type), data: z.strictObject({ ...data, label: Label }) });
}

export const OverlayCta = z
  .discriminatedUnion("type", [
    cta("facebook_share", { url: LinkUrl.describe("The URL to share"), quote: z.string().max(500).optional() }),
    cta("go_to_channel", { channelId: Id }),
    cta("login", { message: z.string().max(200).optional().describe("Why the viewer should sign in") }),
    cta("open_link", { url: LinkUrl }),
    cta("play_video", { videoId: Id, startTime: z.number().min(0).optional().describe("Media time in seconds") }),
    cta("show_player_stats", { playerId: External.describe("The player's id at the site's data provider") }),
    cta("show_group", { groupId: External.describe("The group's id at the site's data provider") }),
    cta("show_panel", { panelId: Id }),
    cta("show_stored_panel", { panelId: Id.describe("A panel that the app has stored but not shown yet") }),
    cta("show_person", { personId: External.describe("The person's id at the site's data provider") }),
    cta("tweet", { text: z.string().min(1).max(280), url: LinkUrl.optional() }),
  ])
  .openapi("OverlayCta");
export type OverlayCta = z.output<typeof OverlayCta>;
