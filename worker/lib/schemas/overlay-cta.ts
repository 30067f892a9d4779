import { z } from "@hono/zod-openapi";
import { Id, LinkUrl } from "./common.ts";

// What a viewer's app does when somebody presses the overlay. Docs and SDK read this file too.

const Label = z.string().min(1).max(100).optional().describe("What the button says");
const External = z.string().min(1).max(100);

/** One kind of call to action with the data that it needs. */
function cta<Type extends string, Data extends z.core.$ZodLooseShape>(type: Type, data: Data) {
  return z.strictObject({ type: z.literal(type), data: z.strictObject({ ...data, label: Label }) });
}

export const OverlayCta = z
  .discriminatedUnion("type", [
    cta("facebook_share", { url: LinkUrl.describe("What is shared"), quote: z.string().max(500).optional() }),
    cta("go_to_channel", { channelId: Id }),
    cta("login", { message: z.string().max(200).optional().describe("Why to sign in") }),
    cta("open_link", { url: LinkUrl }),
    cta("play_video", { videoId: Id, startTime: z.number().min(0).optional().describe("Seconds of media time") }),
    cta("show_player_stats", { playerId: External.describe("As the site's data provider names the player") }),
    cta("show_group", { groupId: External.describe("As the site's data provider names the group") }),
    cta("show_panel", { panelId: Id }),
    cta("show_stored_panel", { panelId: Id.describe("A panel that the app has kept back until now") }),
    cta("show_person", { personId: External.describe("As the site's data provider names the person") }),
    cta("tweet", { text: z.string().min(1).max(280), url: LinkUrl.optional() }),
  ])
  .openapi("OverlayCta");
export type OverlayCta = z.output<typeof OverlayCta>;
