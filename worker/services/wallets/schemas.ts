import { z } from "@hono/zod-openapi";
import { BILLING_PERIODS, CANCEL_SCHEDULES, ENTITLEMENT_STATUSES, WALLET_OWNERS } from "#db/enums.ts";
import type { RecurringRow, WalletRow } from "#db/schema/index.ts";
import { Id, Sku, Time, Tracked } from "#worker/lib/schemas/common.ts";
import { Currency, Money } from "#worker/services/billing/schemas.ts";

const Balance = z.number().int().min(-99_999_999).max(99_999_999).describe("In minor units; managed by the operator");
const CustomerId = z.string().regex(/^cus_\w{1,60}$/, "The id of a Stripe customer");

export const Wallet = z
  .object({
    _id: Id,
    siteId: Id,
    ownerId: Id,
    ownerType: z.enum(WALLET_OWNERS),
    balance: Balance,
    paymentCustomerId: z.string().nullable().describe("The owner's Stripe customer; null until the first purchase"),
    ...Tracked,
  })
  .openapi("Wallet");

export const WalletInput = z
  .strictObject({
    siteId: Id.openapi({ example: "5eed00000000000000000001" }),
    ownerId: Id.describe("The account, or the site itself").openapi({ example: "5eed00000000000000000001" }),
    ownerType: z.enum(WALLET_OWNERS).openapi({ example: "site" }),
    balance: Balance.default(0),
    paymentCustomerId: CustomerId.optional(),
  })
  .openapi("WalletInput", {
    example: { siteId: "5eed00000000000000000001", ownerId: "5eed00000000000000000001", ownerType: "site", balance: 0 },
  });

/** A failure that the wallet operations return with 200. */
export const WalletFailure = z.object({ success: z.literal(false), message: z.string() }).openapi("WalletFailure");

export const RecurringSubscription = z
  .object({
    _id: Id,
    siteId: Id,
    accountId: Id,
    itemId: Id.describe("The purchased subscription"),
    name: z.string(),
    skus: z.array(Sku),
    status: z.enum(ENTITLEMENT_STATUSES),
    pastDue: z.boolean().describe("The last payment failed and is being retried"),
    amount: Money.describe("The price of the last period, in minor units"),
    currency: Currency,
    recurrence: z.enum(BILLING_PERIODS),
    currentPeriodEnd: Time.nullable(),
    dateCancelled: Time.nullable(),
    dateDetached: Time.nullable().describe(
      "When the site's Stripe account was disconnected; null otherwise. Tifo has since neither seen nor been able to end the payments: end them at Stripe",
    ),
    ...Tracked,
  })
  .openapi("RecurringSubscription");

export const RecurringList = z.array(RecurringSubscription).openapi("RecurringSubscriptionList");

export const WalletParam = z.object({ walletId: Id });
export const RecurringParams = z.object({ walletId: Id, subscriptionId: Id.describe("The `_id` of a recurring subscription") });

export const CancelRecurring = z
  .strictObject({
    refund: z.boolean().describe("Refunds the current period; only for site admins"),
    scheduled: z
      .union([z.enum(CANCEL_SCHEDULES), z.boolean().transform((scheduled) => (scheduled ? "endOfBilling" : "immediate"))])
      .describe("When it ends: `immediate` (or `false`), or `endOfBilling` (or `true`) for the end of the paid period")
      .openapi({ example: "endOfBilling" }),
  })
  .openapi("CancelRecurring", { example: { refund: false, scheduled: "endOfBilling" } });

export const CancelledRecurring = z
  .object({ success: z.boolean(), message: z.string().optional().describe("Why it failed, or what of the refund is still pending") })
  .openapi("CancelledRecurring");

export type WalletInput = z.output<typeof WalletInput>;
export type CancelRecurring = z.output<typeof CancelRecurring>;

export function toWallet(row: WalletRow) {
  return {
    _id: row.id,
    siteId: row.siteId,
    ownerId: row.ownerId,
    ownerType: row.ownerType,
    balance: row.balance,
    paymentCustomerId: row.paymentCustomerId,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof Wallet>;
}

export function toRecurring(row: RecurringRow) {
  return {
    _id: row.id,
    siteId: row.siteId,
    accountId: row.accountId,
    itemId: row.itemId,
    name: row.description,
    skus: row.skus,
    status: row.status,
    pastDue: row.pastDue,
    amount: row.amount,
    currency: row.currency,
    recurrence: row.recurrence ?? "month",
    currentPeriodEnd: row.currentPeriodEnd,
    dateCancelled: row.dateCancelled,
    dateDetached: row.dateDetached,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof RecurringSubscription>;
}
