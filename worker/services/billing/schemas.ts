import { z } from "@hono/zod-openapi";
import { PAYMENT_STATUSES, REFUND_REASONS, SALE_TYPES } from "#db/enums.ts";
import type { ChargeRow, RefundRow } from "#db/schema/commerce/billing.ts";
import { Id, LinkUrl, Sku, Tracked } from "#worker/lib/schemas/common.ts";
import { Currency, Money } from "#worker/lib/schemas/money.ts";

export { Currency, Money };

export const CheckoutInput = z
  .strictObject({
    successUrl: LinkUrl.describe("Where Stripe sends the buyer after the payment; its origin must be one of the site's allowedOrigins"),
    cancelUrl: LinkUrl.describe("Where Stripe sends a buyer who cancels; its origin must be one of the site's allowedOrigins"),
    currency: Currency.optional().describe("The currency of one of the prices; defaults to that of the default price"),
  })
  .openapi("CheckoutInput", { example: { successUrl: "https://demo.example/thanks", cancelUrl: "https://demo.example/shop" } });

export const BundleCheckoutInput = CheckoutInput.omit({ currency: true }).openapi("BundleCheckoutInput", {
  example: { successUrl: "https://demo.example/thanks", cancelUrl: "https://demo.example/shop" },
});

export const CheckoutAnswer = z
  .object({
    chargeId: Id.describe("The charge, which is pending until the page is paid or expires"),
    url: z.string().describe("The payment page"),
    expiresAt: z.number().int().describe("Milliseconds since 1970 UTC"),
  })
  .openapi("CheckoutAnswer");

export const Charge = z
  .object({
    _id: Id,
    siteId: Id,
    accountId: Id,
    status: z.enum(PAYMENT_STATUSES),
    amount: Money,
    refunded: Money.describe("The refunded amount"),
    refundPending: Money.describe("The amount of pending refunds"),
    currency: Currency,
    description: z.string(),
    itemType: z.enum(SALE_TYPES),
    itemId: Id.describe("The subscription, the bundle or, for a donation, the panel"),
    skus: z.array(Sku).describe("The skus that the payment grants"),
    receiptNumber: z.string().nullable().describe("null unless the charge is complete"),
    recurringId: Id.nullable().describe("The recurring subscription that this charge is a period of"),
    failure: z.string().nullable().describe("Why it was declined"),
    ...Tracked,
  })
  .openapi("Charge");

export const ChargeFilters = {
  accountId: Id.optional().describe("For site admins: another account than the caller's own"),
  scope: z.enum(["account", "site"]).default("account").describe("For site admins: `site` lists the charges of all accounts"),
  status: z.enum(PAYMENT_STATUSES).optional(),
  receiptNumber: z.string().max(100).optional(),
  recurringId: Id.optional(),
};

export const RefundRequest = z
  .strictObject({
    accountId: Id.openapi({ example: "5eed0000000000000000a020" }),
    chargeId: Id.openapi({ example: "5eed00000000000000006a01" }),
    reason: z.enum(REFUND_REASONS).openapi({ example: "requested_by_customer" }),
    amount: z.number().int().min(1).max(99_999_999).optional().describe("In minor units; defaults to everything that isn't refunded yet"),
  })
  .openapi("RefundRequest");

export const ChargeResult = z
  .object({
    success: z.boolean().describe("Whether the refund is complete or accepted"),
    errorMessage: z.string().nullable(),
    refundId: Id.nullable(),
    status: z.enum(PAYMENT_STATUSES).nullable().describe("The status of the refund; a pending refund settles automatically"),
    amount: Money.nullable().describe("The amount of the refund"),
  })
  .openapi("ChargeResult");

export const Refund = z
  .object({
    _id: Id,
    siteId: Id,
    chargeId: Id,
    amount: Money,
    reason: z.enum(REFUND_REASONS).nullable().describe("null if the refund was created at Stripe itself"),
    status: z.enum(PAYMENT_STATUSES),
    failure: z.string().nullable().describe("Why it was declined"),
    ...Tracked,
  })
  .openapi("Refund");

export const ApplePayInput = z
  .strictObject({
    domain: z
      .string()
      .max(253)
      .regex(/^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/, "Must be a domain name")
      .optional()
      .describe("The host of one of the site's allowedOrigins; defaults to the first https one")
      .openapi({ example: "demo.example" }),
  })
  .openapi("ApplePayInput");

export type CheckoutInput = z.output<typeof CheckoutInput>;
export type RefundRequest = z.output<typeof RefundRequest>;
export type ChargeResult = z.output<typeof ChargeResult>;

export function toCharge(row: ChargeRow) {
  return {
    _id: row.id,
    siteId: row.siteId,
    accountId: row.accountId,
    status: row.status,
    amount: row.amount,
    refunded: row.refunded,
    refundPending: row.reserved - row.refunded,
    currency: row.currency,
    description: row.description,
    itemType: row.itemType,
    itemId: row.itemId,
    skus: row.skus,
    receiptNumber: row.receiptNumber,
    recurringId: row.recurringId,
    failure: row.failure,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof Charge>;
}

/** A refund as events show it. */
export function toRefund(row: RefundRow) {
  const { id: _id, siteId, chargeId, amount, reason, status, failure, created, modified } = row;
  return { _id, siteId, chargeId, amount, reason, status, failure, created, modified } satisfies z.output<typeof Refund>;
}
