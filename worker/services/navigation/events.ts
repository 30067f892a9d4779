import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_IDS } from "#worker/services/event-catalogue/sample-ids.ts";
import { Navigation } from "./schemas.ts";

const ids = { navigation: "5eed0000000000000e007001" };

export const events = eventsOf(
  {
    services: ["admin-service-v1"],
    ids,
    samples: [
      [
        /^navigation\./,
        {
          _id: ids.navigation,
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
