import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_IDS } from "#worker/services/event-catalogue/sample-ids.ts";
import { Playlist } from "./schemas.ts";

export const events = eventsOf(
  {
    services: ["video-service-v3"],
    samples: [
      [
        /^playlist\./,
        { _id: SAMPLE_IDS.playlist, title: "Derby day", description: "Every goal", members: [{ id: SAMPLE_IDS.video, schema: "video" }] },
      ],
    ],
  },
  {
    "playlist.created": { data: Playlist, description: "A playlist was created" },
    "playlist.deleted": { data: Playlist, description: "A playlist was deleted" },
    "playlist.updated": { data: Playlist, description: "A playlist was updated" },
  },
);
