import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_IDS } from "#worker/services/event-catalogue/sample-ids.ts";
import { Output } from "./schemas.ts";

const ids = { output: "5eed0000000000000e00a201" };

export const events = eventsOf(
  {
    services: ["overlay-service-v1"],
    ids,
    samples: [
      [
        /^overlay\.output/,
        { _id: ids.output, channelId: SAMPLE_IDS.page, name: "OBS in the studio", expirationTime: null, createdBy: SAMPLE_IDS.admin },
      ],
    ],
  },
  {
    "overlay.outputCreated": {
      data: Output,
      description: "A link to a channel's output page was created",
      resource: "output/_id",
    },
    "overlay.outputRevoked": {
      data: Output,
      description: "A link to a channel's output page was revoked, and its connections are closed",
      resource: "output/_id",
    },
  },
);
