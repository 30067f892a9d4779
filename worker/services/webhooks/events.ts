import { z } from "@hono/zod-openapi";
import { Time } from "#worker/lib/schemas/common.ts";
import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { DAY, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { WebhookEvent } from "./endpoint-schemas.ts";

const ids = { webhook: "5eed0000000000000e007301" };

export const events = eventsOf(
  {
    services: ["admin-service-v1"],
    ids,
    samples: [
      [
        /^webhook\./,
        {
          _id: ids.webhook,
          webhookUrl: "https://demo.example/webhooks/tifo",
          services: ["overlay-service-v1"],
          enabled: true,
          disabled: null,
          previousSecretExpires: null,
          sentAt: SAMPLE_MOMENT,
        },
      ],
      [/^webhook\.disabled$/, { enabled: false, disabled: { reason: "failing", at: SAMPLE_MOMENT } }],
      [/^webhook\.secretRotated$/, { previousSecretExpires: SAMPLE_MOMENT + DAY }],
    ],
  },
  {
    "webhook.created": { data: WebhookEvent, description: "A webhook was created" },
    "webhook.deleted": { data: WebhookEvent, description: "A webhook was deleted" },
    "webhook.disabled": {
      data: WebhookEvent,
      description: "A webhook was disabled: its receiver responded with 410, or no delivery succeeded for 75 hours",
    },
    "webhook.secretRotated": { data: WebhookEvent, description: "A webhook's secret was rotated" },
    "webhook.test": { data: z.object({ sentAt: Time }), description: "Sent only by the test operation, to the site's own endpoint" },
    "webhook.updated": { data: WebhookEvent, description: "A webhook's settings were updated" },
  },
);
