import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { Media } from "./schemas.ts";

const ids = { media: "5eed0000000000000e00f001" };

export const events = eventsOf(
  {
    services: ["admin-service-v1"],
    ids,
    samples: [
      [
        /^media\./,
        {
          _id: ids.media,
          fileName: "crest.png",
          kind: "image",
          contentType: "image/png",
          size: 18_432,
          url: `/media/v1/${ids.media}`,
        },
      ],
    ],
  },
  {
    "media.created": { data: Media, description: "A file was uploaded" },
    "media.deleted": { data: Media, description: "A file was deleted" },
  },
);
