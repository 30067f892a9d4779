import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { MINUTE, SAMPLE_IDS, SAMPLE_MOMENT } from "#worker/services/event-catalogue/sample-ids.ts";
import { ExportEvent, RefundEvent } from "./schemas.ts";

export const events = eventsOf(
  {
    services: ["community-service-v1"],
    samples: [
      [/^community\.export/, { accountId: SAMPLE_IDS.admin, fileName: "members-2026-11-21.csv", status: "pending", rows: 0 }],
      [/^community\.exportRequested$/, { created: SAMPLE_MOMENT }],
      [/^community\.export(Completed|Failed)$/, { created: SAMPLE_MOMENT - MINUTE }],
      [/^community\.exportCompleted$/, { status: "complete", rows: 1893 }],
      [/^community\.exportFailed$/, { status: "failed" }],
      [
        /^community\.refundGranted$/,
        { action: "cancel", amount: 1900, reason: "requested_by_customer", refundDetails: "The stream broke off" },
      ],
    ],
  },
  {
    "community.exportCompleted": { data: ExportEvent, description: "An export of members is ready to download", resource: "export/_id" },
    "community.exportFailed": { data: ExportEvent, description: "An export of members failed", resource: "export/_id" },
    "community.exportRequested": { data: ExportEvent, description: "An export of members was requested", resource: "export/_id" },
    "community.refundGranted": { data: RefundEvent, description: "An admin refunded a member's payment", resource: "account/accountId" },
  },
);
