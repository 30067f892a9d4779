import { z } from "@hono/zod-openapi";
import { BILLING_PERIODS, CANCEL_SCHEDULES, ENTITLEMENT_STATUSES, WALLET_OWNERS } from "#db/enums.ts";
import type { RecurringRow } from "#db/schema/commerce/billing.ts";
import type { WalletRow, WalletTransactionRow } from "#db/schema/commerce/wallets.ts";
import { Id, Sku, Time, Tracked } from "#worker/lib/schemas/common.ts";
import { Currency, Money } from "#worker/services/billing/schemas.ts";
import { listQuery } from "#worker/services/core/list-schemas.ts";
import { pickFields } from "#worker/services/core/fields.ts";

/** The largest balance and the largest amount, in minor units. */
export const MAX_BALANCE = 99_999_999;

const Balance = z.number().int().min(-MAX_BALANCE).max(MAX_BALANCE).describe("In minor units; the sum of the wallet's transactions");
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

/** Without anything that must be erased. */
export const DeletedWallet = Wallet.pick({ _id: true, siteId: true, ownerId: true, ownerType: true });

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

const transaction = {
  transactionId: z
    .string()
    .regex(/^[\w.:-]{1,100}$/, "1 to 100 letters, digits or characters of _.:-")
    .describe("Your id of the transaction, unique in the wallet: a repeated one isn't applied again")
    .openapi({ example: "order-1093" }),
  amount: z
    .number()
    .int()
    .min(-MAX_BALANCE)
    .max(MAX_BALANCE)
    .refine((amount) => amount !== 0, "Must not be 0")
    .describe("In minor units: positive for a credit, negative for a debit")
    .openapi({ example: 500 }),
  reason: z.string().trim().min(1).max(200).describe("What it is for, as the owner sees it").openapi({ example: "Goal of the month" }),
  reference: z.string().trim().min(1).max(200).nullable().describe("Your reference, such as an order number").openapi({ example: "#1093" }),
};

export const WalletTransactionInput = z
  .strictObject({ ...transaction, reference: transaction.reference.default(null) })
  .openapi("WalletTransactionInput", {
    example: { transactionId: "goal-of-the-month-11", amount: 500, reason: "Goal of the month", reference: "vote 11" },
  });

export const WalletTransaction = z
  .object({
    _id: Id,
    siteId: Id,
    walletId: Id,
    ...transaction,
    transactionId: z.string().describe("Unique in the wallet; those of Tifo's own transactions start with `tifo/`"),
    balance: Balance.describe("The wallet's balance after the transaction"),
    createdBy: z.string().nullable().describe("Who created it, such as `developer:<key id>`; null for callers who don't manage the site"),
    created: Time,
  })
  .openapi("WalletTransaction");

export const TransactionQuery = listQuery(["created"], {});

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

export type WalletTransactionInput = z.output<typeof WalletTransactionInput>;
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

/** The fields of a transaction, each with its column. */
export const TRANSACTION_FIELDS = {
  _id: "id",
  siteId: "siteId",
  walletId: "walletId",
  transactionId: "transactionId",
  amount: "amount",
  balance: "balance",
  reason: "reason",
  reference: "reference",
  createdBy: "createdBy",
  created: "created",
} as const satisfies Record<string, keyof WalletTransactionRow>;

/** The wire form; only callers who manage the site see who created it. */
export function toTransaction(row: WalletTransactionRow, manages: boolean) {
  const fields = pickFields(row, TRANSACTION_FIELDS);
  return { ...fields, createdBy: manages ? row.createdBy : null } satisfies z.output<typeof WalletTransaction>;
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
