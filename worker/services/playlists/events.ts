import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_IDS } from "#worker/services/event-catalogue/sample-ids.ts";
import { Playlist } from "./schemas.ts";

const ids = { playlist: "5eed0000000000000e004801" };

export const events = eventsOf(
  {
    services: ["video-service-v3"],
    ids,
    samples: [
      [
        /^playlist\./,
        { _id: ids.playlist, title: "Derby day", description: "Every goal", members: [{ id: SAMPLE_IDS.video, schema: "video" }] },
      ],
    ],
  },
  {
    "playlist.created": { data: Playlist, description: "A playlist was created" },
    "playlist.deleted": { data: Playlist, description: "A playlist was deleted" },
    "playlist.updated": { data: Playlist, description: "A playlist was updated" },
  },
);
