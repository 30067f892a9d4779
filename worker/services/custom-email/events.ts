import { eventsOf } from "#worker/services/event-catalogue/event-kind.ts";
import { ReceiptTemplate, Sender } from "./schemas.ts";

export const events = eventsOf(
  {
    services: ["admin-service-v1"],
    samples: [
      [/^customemail\.receipt/, { subject: "Your receipt {{receiptNumber}}", template: "<p>Thank you, {{name}}.</p>" }],
      [
        /^customemail\.sender/,
        { domain: "demo.example", fromEmail: "tickets@demo.example", fromName: "Harbour City FC", replyToEmail: "help@demo.example" },
      ],
    ],
  },
  {
    "customemail.receiptReset": {
      data: ReceiptTemplate,
      description: "The receipt template was reset to the default",
      resource: "customemail/-",
    },
    "customemail.receiptUpdated": { data: ReceiptTemplate, description: "The receipt template changed", resource: "customemail/-" },
    "customemail.senderUpdated": { data: Sender, description: "The sender of the site's email changed", resource: "customemail/-" },
  },
);
