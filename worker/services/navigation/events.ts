import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_IDS } from "#worker/services/event-catalogue/sample-ids.ts";
import { Navigation } from "./schemas.ts";

export const events = eventsOf(
  {
    services: ["admin-service-v1"],
    samples: [
      [
        /^navigation\./,
        {
          _id: SAMPLE_IDS.navigation,
          name: "Match day",
          parents: [{ type: "channel", pageId: SAMPLE_IDS.page, private: false }],
          externalLinks: [{ name: "Tickets", url: "https://demo.example/tickets" }],
        },
      ],
    ],
  },
  {
    "navigation.created": { data: Navigation, description: "A menu was created" },
    "navigation.deleted": { data: Navigation, description: "A menu was deleted" },
    "navigation.updated": { data: Navigation, description: "A menu was updated" },
  },
);
