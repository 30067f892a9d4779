import { z } from "@hono/zod-openapi";
import type { DonationRow } from "#db/schema/commerce/donations.ts";
import { Id, Time } from "#worker/lib/schemas/common.ts";
import { Currency, Money } from "#worker/lib/schemas/money.ts";
import { CheckoutInput } from "./schemas.ts";

const MAX_NAME = 80;
const MAX_MESSAGE = 200;

export const DonationInput = z
  .strictObject({
    panelId: Id.describe("A `donations` panel with amounts"),
    amount: Money.min(1).describe("One of the panel's amounts, or within its limits; in minor units of the panel's currency"),
    channelId: Id.optional().describe("The channel whose viewers see the panel's thanks; its sidebar must show the panel"),
    name: z
      .string()
      .max(MAX_NAME)
      .nullable()
      .default(null)
      .describe("Shown with the thanks; null or blank for an anonymous donor")
      .openapi({ example: "Ada" }),
    message: z
      .string()
      .max(MAX_MESSAGE)
      .nullable()
      .default(null)
      .describe("Shown with the thanks; text, never HTML")
      .openapi({ example: "For the youth team" }),
    successUrl: CheckoutInput.shape.successUrl,
    cancelUrl: CheckoutInput.shape.cancelUrl,
  })
  .openapi("DonationInput", {
    example: {
      panelId: "5eed0000000000000000d010",
      amount: 1000,
      name: "Ada",
      message: "For the youth team",
      successUrl: "https://demo.example/thanks",
      cancelUrl: "https://demo.example/",
    },
  });

export const Donation = z
  .object({
    _id: Id.describe("The id of the charge"),
    siteId: Id,
    accountId: Id,
    panelId: Id,
    channelId: Id.nullable(),
    amount: Money,
    currency: Currency,
    name: z.string().nullable(),
    message: z.string().nullable(),
    created: Time,
    paid: Time,
  })
  .openapi("Donation");

/** The event has no names and messages: only events of accounts contain personal data. */
export const PaidDonation = Donation.omit({ name: true, message: true });

export type DonationInput = z.output<typeof DonationInput>;

export function toDonation(row: DonationRow) {
  const { id: _id, siteId, accountId, panelId, channelId, amount, currency, name, message, created, paid } = row;
  return { _id, siteId, accountId, panelId, channelId, amount, currency, name, message, created, paid } satisfies z.output<typeof Donation>;
}
