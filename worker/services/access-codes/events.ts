import { z } from "@hono/zod-openapi";
import { Id, Sku, Tags } from "#worker/lib/schemas/common.ts";
import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { AccessCode } from "./schemas.ts";

const ids = { accesscode: "5eed0000000000000e004d01", batch: "5eed0000000000000e004d90", tv: "5eed0000000000000e007401" };

const OnTv = z.object({ siteId: Id, accountId: Id });
const Code = AccessCode.omit({ accessCode: true });

export const events = eventsOf(
  {
    services: ["accesscode-service-v1"],
    ids,
    samples: [
      [/^accesscode\./, { _id: ids.accesscode, sku: "season-pass", type: "subscription", tags: ["press"], consumedAt: null }],
      [/^accesscode\.(created|deleted)$/, { accountId: null }],
      [/^accesscode\.bulkCreated$/, { batchId: ids.batch, qty: 500 }],
      [/^accesscode\.consumed$/, { consumedAt: SAMPLE_MOMENT }],
    ],
  },
  {
    "accesscode.bulkCreated": {
      data: z.object({ batchId: z.string(), siteId: Id, qty: z.number().int().min(1), sku: Sku, tags: Tags }),
      description: "Access codes were generated in bulk",
      resource: "accesscode/batchId",
    },
    "accesscode.consumed": { data: Code.extend({ accountId: Id }), description: "An account redeemed an access code" },
    "accesscode.created": { data: Code, description: "An access code was added" },
    "accesscode.deleted": { data: Code, description: "An access code was deleted" },
    "accesscode.tvActivated": { data: OnTv, description: "An account activated a TV code", resource: "tv/-" },
    "accesscode.tvSignedIn": { data: OnTv, description: "A TV signed in with an activated code", resource: "tv/-" },
  },
);
