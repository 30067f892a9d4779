import { z } from "@hono/zod-openapi";
import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { MINUTE, SAMPLE_IDS, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { ClaimStatus } from "./schemas.ts";

const claim = { resource: "claimstatus/_id" };

export const events = eventsOf(
  {
    services: ["quest-service-v2"],
    samples: [
      [
        /^(claim\.updated|quest\.claimed)$/,
        { _id: SAMPLE_IDS.claimstatus, productId: "derby-scarf", rewardType: "webhook", message: null },
      ],
      [/^claim\.updated$/, { status: "SUCCESS", created: SAMPLE_MOMENT - MINUTE }],
      [/^quest\./, { webhookId: "rewards", webhookType: "scarf", webhookValue: "derby" }],
      [/^quest\.claimed$/, { status: "PENDING", created: SAMPLE_MOMENT }],
    ],
  },
  {
    "claim.updated": { data: ClaimStatus, description: "A claim's status changed", ...claim },
    "quest.claimed": {
      data: ClaimStatus.extend({
        webhookId: z.string().nullable(),
        webhookType: z.string().nullable(),
        webhookValue: z.string().nullable(),
      }),
      description: "A viewer claimed the reward of a quest",
      ...claim,
    },
  },
);
