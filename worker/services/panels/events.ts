import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_IDS, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { Panel } from "./schemas.ts";

export const events = eventsOf(
  {
    services: ["admin-service-v1"],
    samples: [
      [
        /^panel\./,
        {
          _id: SAMPLE_IDS.panel,
          slug: "match-chat-00d001",
          last_modified: SAMPLE_MOMENT,
          renderer: {
            ...{ panel_type: "chat", panel_name: "Match chat", disable_on_mobile_embedded: false },
            ...{ allow_non_admin_links: false, filtered_words: "offside ref" },
          },
        },
      ],
    ],
  },
  {
    "panel.created": { data: Panel, description: "A panel was created" },
    "panel.deleted": { data: Panel, description: "A panel was deleted" },
    "panel.updated": { data: Panel, description: "A panel was updated" },
  },
);
