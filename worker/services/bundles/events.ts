import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_IDS } from "#worker/services/event-catalogue/sample-ids.ts";
import { Bundle } from "./schemas.ts";

export const events = eventsOf(
  {
    services: ["subscription-service-v2", "shopify-service-v1"],
    samples: [
      [
        /^bundle\./,
        {
          id: SAMPLE_IDS.bundle,
          name: "Derby night",
          sku: "derby-night",
          price: 2500,
          presentmentCurrency: "gbp",
          items: [{ type: "ticket", id: "season-pass" }],
          description: "The match and the replay",
          image: "https://demo.example/derby-night.jpg",
        },
      ],
    ],
  },
  { "bundle.created": { data: Bundle, description: "A bundle was created" } },
);
