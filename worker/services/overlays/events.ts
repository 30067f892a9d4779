import { z } from "@hono/zod-openapi";
import { Broadcast, ClearTarget } from "#worker/durable-objects/channel/channel.protocol.ts";
import { Id } from "#worker/lib/schemas/common.ts";
import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_IDS, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { Overlay } from "./schemas.ts";

const ids = { broadcast: "5eed0000000000000e00b001", clear: "5eed0000000000000e00b002", retraction: "5eed0000000000000e00b003" };

const Channels = Id.array().nullable().describe("Null for every channel of the site");
const goal = "<p>Goal! {{scorer}} makes it {{home}}:{{away}}.</p>";

export const events = eventsOf(
  {
    services: ["overlay-service-v1"],
    ids,
    samples: [
      [
        /^overlay\./,
        {
          _id: SAMPLE_IDS.overlay,
          name: "Goal",
          description: "Who scored",
          type: "template",
          duration: 8,
          cta: null,
          contents: [{ kind: "html", html: goal, position: "bottomCenter" }],
          channelIds: [SAMPLE_IDS.page],
        },
      ],
      [/^overlay\.cleared$/, { clearId: ids.clear, target: { overlayId: SAMPLE_IDS.overlay } }],
      [/^overlay\.retracted$/, { retractionId: ids.retraction, channelId: SAMPLE_IDS.page, broadcastId: ids.broadcast }],
      [
        /^overlay\.broadcast$/,
        {
          broadcast: {
            broadcastId: ids.broadcast,
            overlayId: SAMPLE_IDS.overlay,
            startsAt: SAMPLE_MOMENT,
            endsAt: SAMPLE_MOMENT + 8_000,
            position: "bottomCenter",
            contents: [{ kind: "html", html: "<p>Goal! Ada Moreno makes it 1:0.</p>", position: "bottomCenter" }],
            cta: null,
            variables: { scorer: "Ada Moreno", home: 1, away: 0 },
            priority: 10,
          },
        },
      ],
    ],
  },
  {
    "overlay.broadcast": {
      data: z.object({ channelIds: Channels, broadcast: Broadcast }),
      description: "An overlay was broadcast",
      resource: "overlay/broadcast.overlayId",
    },
    "overlay.cleared": {
      data: z.object({ clearId: Id, channelIds: Channels, target: ClearTarget }),
      description: "Active broadcasts were cleared",
      resource: ["page/channelIds.0", "site/-"],
    },
    "overlay.created": { data: Overlay, description: "An overlay was created" },
    "overlay.deleted": { data: Overlay, description: "An overlay was deleted" },
    "overlay.retracted": {
      data: z.object({ retractionId: Id, channelId: Id, broadcastId: Id }),
      description: "A broadcast was removed from a channel's screens and its recording",
      resource: "page/channelId",
    },
    "overlay.updated": { data: Overlay, description: "An overlay was updated" },
  },
);
