import { z } from "@hono/zod-openapi";
import { Id } from "#worker/lib/schemas/common.ts";
import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { DAY, MONTH, SAMPLE_IDS, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { Theme } from "./schemas.ts";

export const events = eventsOf(
  {
    services: ["admin-service-v1"],
    samples: [
      [/^theme\./, { _id: SAMPLE_IDS.theme, ...theme() }],
      [
        /^theme\.applied$/,
        {
          theme: {
            _id: SAMPLE_IDS.theme,
            siteId: null,
            created: SAMPLE_MOMENT - MONTH,
            modified: SAMPLE_MOMENT - DAY,
            ...theme(),
            type: "admin",
          },
        },
      ],
    ],
  },
  {
    "theme.applied": {
      data: z.object({ siteId: Id, theme: Theme }),
      description: "An admin theme was applied to the site",
      resource: "site/siteId",
    },
    "theme.created": { data: Theme, description: "A theme was created" },
    "theme.deleted": { data: Theme, description: "A theme was deleted" },
    "theme.updated": { data: Theme, description: "A theme was updated" },
  },
);

function theme(): Record<string, unknown> {
  return {
    ...{ name: "Floodlight", type: "custom", mode: "dark", warnings: [], backgrounds: [] },
    colors: { accent: "#4B3FD1", highlight: "#FACC15", surface1: "#0B0B12", surface2: "#16161F", text100: "#FFFFFF", text200: "#C9C9D6" },
    ...{ button: { borderRadius: "pill", textCapitalization: "original" }, typography: { body: "Inter", headline: "Archivo" } },
    ...{ logo: "https://demo.example/crest.svg", icon: "https://demo.example/icon.png" },
  };
}
