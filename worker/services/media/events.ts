import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_IDS } from "#worker/services/event-catalogue/sample-ids.ts";
import { Media } from "./schemas.ts";

export const events = eventsOf(
  {
    services: ["admin-service-v1"],
    samples: [
      [
        /^media\./,
        {
          _id: SAMPLE_IDS.media,
          fileName: "crest.png",
          kind: "image",
          contentType: "image/png",
          size: 18_432,
          url: `/media/v1/${SAMPLE_IDS.media}`,
        },
      ],
    ],
  },
  {
    "media.created": { data: Media, description: "A file was uploaded" },
    "media.deleted": { data: Media, description: "A file was deleted" },
  },
);
