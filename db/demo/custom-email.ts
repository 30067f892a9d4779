import type { mailSenders, receiptTemplates } from "#db/schema/custom-email.ts";
import type { apiKeys } from "#db/schema/sites.ts";
import { SITE_A, SITE_B, stamps } from "./match-day.ts";

/** The sender of site A's email; site B uses the default. */
export const DEMO_SENDER: typeof mailSenders.$inferInsert = {
  ...stamps,
  siteId: SITE_A,
  domain: "demo.example",
  fromEmail: "tickets@demo.example",
  fromName: "Harbour City FC",
  replyToEmail: "help@demo.example",
};

export const DEMO_RECEIPTS: (typeof receiptTemplates.$inferInsert)[] = [
  {
    ...stamps,
    siteId: SITE_A,
    subject: "Your order {{receiptNumber}} at {{siteName}}",
    template: `<h1>Thank you, {{customer.name}}, and see you at the Quayside</h1>
<ul>
{{#each items}}
  <li>{{description}}: {{amount}}</li>
{{else}}
  <li>Nothing to pay</li>
{{/each}}
</ul>
<p>{{date}}, total {{total}}</p>
`,
  },
  { ...stamps, siteId: SITE_B, subject: "Old Dock: {{total}}", template: "<p>Paid: {{total}}</p>\n" },
];

/** A key with a single role; the other demo key has all of them. */
export const SCOREBOARD: Omit<typeof apiKeys.$inferInsert, "hash"> = {
  ...stamps,
  id: "5eed0000000000000000e002",
  siteId: SITE_A,
  name: "Scoreboard",
  clientName: "Quayside Park",
  roles: ["overlay:write"],
  expires: stamps.created + 365 * 86_400_000,
};
