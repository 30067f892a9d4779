import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { Panel } from "./schemas.ts";

const ids = { panel: "5eed0000000000000e00d001" };

export const events = eventsOf(
  {
    services: ["admin-service-v1"],
    ids,
    samples: [
      [
        /^panel\./,
        {
          _id: ids.panel,
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
