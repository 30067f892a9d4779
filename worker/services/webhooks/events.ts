import { z } from "@hono/zod-openapi";
import { Time } from "#worker/lib/schemas/common.ts";
import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { DAY, SAMPLE_IDS, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { WebhookEvent } from "./endpoint-schemas.ts";

export const events = eventsOf(
  {
    services: ["admin-service-v1"],
    samples: [
      [
        /^webhook\./,
        {
          _id: SAMPLE_IDS.webhook,
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
    "webhook.created": { data: WebhookEvent, description: "A webhook was set up" },
    "webhook.deleted": { data: WebhookEvent, description: "A webhook was removed" },
    "webhook.disabled": {
      data: WebhookEvent,
      description: "A webhook was switched off: its receiver answered 410, or nothing got through for 75 hours",
    },
    "webhook.secretRotated": { data: WebhookEvent, description: "A webhook has a new secret" },
    "webhook.test": { data: z.object({ sentAt: Time }), description: "Sent by the test operation alone, to the site's own endpoint" },
    "webhook.updated": { data: WebhookEvent, description: "A webhook's settings changed" },
  },
);
