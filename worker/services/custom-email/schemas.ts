import { z } from "@hono/zod-openapi";
import type { SenderRow } from "#db/schema/custom-email.ts";
import { Tracked } from "#worker/lib/schemas/common.ts";
import { Email } from "#worker/services/accounts/schemas.ts";

const Domain = z
  .string()
  .max(253)
  .regex(
    /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9-]*[A-Za-z][A-Za-z0-9-]*$/,
    "Must be a domain name, such as club.example",
  )
  .toLowerCase()
  .openapi({ example: "demo.example" });

const sender = {
  domain: Domain.describe("The site's own domain, verified by a TXT record"),
  fromEmail: Email.describe("An address of the domain or a subdomain"),
  fromName: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .refine((name) => !/\p{Cc}/u.test(name), "Must be a single line"),
  replyToEmail: Email.describe("The reply-to address; can be of any domain"),
};

const SENDER_EXAMPLE = {
  domain: "demo.example",
  fromEmail: "tickets@demo.example",
  fromName: "Harbour City FC",
  replyToEmail: "help@demo.example",
};

export const SenderInput = z.strictObject(sender).openapi("SenderInput", { example: SENDER_EXAMPLE });
export const Sender = z.object({ ...sender, ...Tracked }).openapi("Sender");

const receipt = {
  subject: z.string().trim().min(1).max(500).describe("Can use the same variables as the template").openapi({ example: "Your receipt" }),
  template: z
    .string()
    .min(1)
    .max(65_536)
    .describe(
      "A Handlebars template with variables (always escaped), `#if`, `#unless`, `#each`, `#with`, `else` and comments. The variables are `siteName`, `receiptNumber`, `date`, `customer.name`, `customer.email`, `items` (each with `description` and `amount`) and `total`",
    ),
};

const RECEIPT_EXAMPLE = {
  subject: "Your receipt {{receiptNumber}}",
  template:
    "<h1>Thank you, {{customer.name}}</h1>\n{{#each items}}\n<p>{{description}}: {{amount}}</p>\n{{/each}}\n<p>Total: {{total}}</p>\n",
};

export const ReceiptInput = z.strictObject(receipt).openapi("ReceiptTemplateInput", { example: RECEIPT_EXAMPLE });
export const ReceiptTemplate = z.object(receipt).openapi("ReceiptTemplate", { example: RECEIPT_EXAMPLE });

export type SenderInput = z.output<typeof SenderInput>;

export function toSender(row: SenderRow) {
  return {
    domain: row.domain,
    fromEmail: row.fromEmail,
    fromName: row.fromName,
    replyToEmail: row.replyToEmail,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof Sender>;
}

export function toReceiptTemplate({ subject, template }: z.output<typeof ReceiptInput>) {
  return { subject, template } satisfies z.output<typeof ReceiptTemplate>;
}
