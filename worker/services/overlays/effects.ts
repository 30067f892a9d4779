import { z } from "@hono/zod-openapi";
import { Broadcast, ClearTarget } from "#worker/durable-objects/channel/channel.protocol.ts";
import type { Effects } from "#worker/services/event-catalogue/effect.ts";
import { sendClear, sendUncleared } from "./broadcasts.ts";

const BroadcastEvent = z.object({ channelIds: z.array(z.string()).nullable(), broadcast: Broadcast });
const ClearEvent = z.object({ clearId: z.string(), channelIds: z.array(z.string()).nullable(), target: ClearTarget });

// Requests send broadcasts themselves, so that viewers don't wait for the log; these effects only guarantee delivery.
export const effects: Effects = {
  "overlay.broadcast": (env, siteId, event) => sendUncleared(env, siteId, BroadcastEvent.parse(JSON.parse(event.data))),
  "overlay.cleared": (env, siteId, event) => sendClear(env, siteId, ClearEvent.parse(JSON.parse(event.data))),
};
