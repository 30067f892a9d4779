import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { Bundle } from "./schemas.ts";

const ids = { bundle: "5eed0000000000000e006d01" };

export const events = eventsOf(
  {
    services: ["subscription-service-v2", "shopify-service-v1"],
    ids,
    samples: [
      [
        /^bundle\./,
        {
          id: ids.bundle,
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
