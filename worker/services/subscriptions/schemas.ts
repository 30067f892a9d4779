import { z } from "@hono/zod-openapi";
import { ENTITLEMENT_STATUSES, GRANT_METHODS, RECURRENCES, SUBSCRIPTION_PROVIDERS } from "#db/enums.ts";
import type { EntitlementRow } from "#db/schema/commerce/entitlements.ts";
import type { SubscriptionRow } from "#db/schema/commerce/subscriptions.ts";
import { Id, Sku, Tags, Time, Tracked } from "#worker/lib/schemas/common.ts";
import { ENDS_IN_ZERO, isPayable } from "#worker/lib/money.ts";
import { Currency, Money } from "#worker/services/billing/schemas.ts";

const DAY_SECONDS = 86_400;

const Price = z
  .strictObject({
    currency: Currency,
    default: z.boolean().describe("The price used if the buyer's currency is unknown; exactly one of the list is the default"),
    value: Money,
    paymentPlanId: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe("The price's id at the payment provider; returned only to developer keys and site admins"),
  })
  .refine(({ value, currency }) => isPayable(value, currency), { message: ENDS_IN_ZERO, path: ["value"] })
  .openapi("SubscriptionPrice");

const Prices = z
  .array(Price)
  .max(50)
  .refine((prices) => prices.length === 0 || prices.filter((price) => price.default).length === 1, "Exactly one price is the default")
  .refine((prices) => new Set(prices.map((price) => price.currency)).size === prices.length, "Only one price per currency");

const Name = z.string().trim().min(1).max(200);
const Provider = z
  .enum(SUBSCRIPTION_PROVIDERS)
  .describe("Who handles payments: Stripe, or an external system that grants entitlements through the API");
const PlanId = z.string().min(1).max(255).nullable();
const PreviewSeconds = z
  .number()
  .int()
  .min(0)
  .max(DAY_SECONDS)
  .describe("Preview time in seconds without an entitlement, on every gate with this sku");

const SUBSCRIPTION = {
  _id: Id,
  siteId: Id,
  name: z.string(),
  sku: z.string().describe("The id used by gates, codes and entitlements"),
  subscriptionProvider: Provider,
  recurrence: z.enum(RECURRENCES).nullable().describe("How often it is charged"),
  prices: z.array(Price),
  stripePlanId: PlanId.optional().describe("Returned only to developer keys and site admins"),
  previewDurationSeconds: PreviewSeconds,
  tags: Tags,
  ...Tracked,
};

export const Subscription = z.object(SUBSCRIPTION).openapi("Subscription");

export const SubscriptionInput = z
  .strictObject({
    siteId: Id.describe("Must equal Tifo-Client-Id"),
    name: Name,
    sku: Sku,
    subscriptionProvider: Provider,
    recurrence: z.enum(RECURRENCES).nullable().default(null),
    prices: Prices.default([]),
    stripePlanId: PlanId.default(null),
    previewDurationSeconds: PreviewSeconds.default(0),
    tags: Tags.default([]),
  })
  .openapi("SubscriptionInput", {
    example: {
      siteId: "5eed00000000000000000001",
      name: "Cup pass",
      sku: "cup-pass",
      subscriptionProvider: "stripe",
      recurrence: "once",
      prices: [
        { currency: "gbp", default: true, value: 1900 },
        { currency: "eur", default: false, value: 2200 },
      ],
      previewDurationSeconds: 120,
    },
  });

export const SubscriptionPatch = z
  .strictObject({
    siteId: Id.optional().describe("Must equal Tifo-Client-Id"),
    name: Name.optional(),
    sku: Sku.optional().describe("Can only change while no account holds the old sku or has a payment page open for it"),
    subscriptionProvider: Provider.optional(),
    recurrence: z.enum(RECURRENCES).nullable().optional(),
    prices: Prices.optional(),
    stripePlanId: PlanId.optional(),
    previewDurationSeconds: PreviewSeconds.optional(),
    tags: Tags.optional(),
  })
  .openapi("SubscriptionPatch", { example: { name: "Cup pass 2026", subscriptionProvider: "external" } });

export const SubscriptionFilters = {
  sku: Sku.optional(),
  subscriptionProvider: z.enum(SUBSCRIPTION_PROVIDERS).optional(),
  recurrence: z.enum(RECURRENCES).optional(),
};

export const SkuParam = z.object({ sku: Sku });
export const AccountParam = z.object({ accountId: Id.openapi({ example: "5eed0000000000000000a003" }) });

export const GrantInput = z
  .strictObject({ accountId: Id, sku: Sku })
  .openapi("GrantInput", { example: { accountId: "5eed0000000000000000a003", sku: "season-pass" } });

export const Granted = z
  .object({ success: z.literal(true), accountEntitlementId: Id.describe("The new entitlement, or the one that the account already held") })
  .openapi("EntitlementGranted");

export const RevokeQuery = z.strictObject({ sku: Sku, accountId: Id.openapi({ example: "5eed0000000000000000a003" }) });

/** A current or past entitlement of an account. */
export const Entitlement = z.object({
  _id: Id,
  accountId: Id,
  entitlement: z.string().describe("The sku"),
  grantedMethod: z.enum(GRANT_METHODS),
  presentmentCurrency: z.string().nullable().describe("The currency of the payment"),
  price: Money.describe(
    "The price of the current period, in minor units of presentmentCurrency; 0 if it was granted for free or as part of a bundle, whose own sku has the price",
  ),
  refunded: Money.describe("The refunded amount"),
  siteId: Id,
  status: z.enum(ENTITLEMENT_STATUSES).describe("One with a scheduled cancellation is held until dateEnds"),
  dateGranted: Time,
  dateCancelled: Time.nullable().describe("When it was revoked or expired"),
  dateRefunded: Time.nullable(),
  dateEnds: Time.nullable().describe("The end of the paid period; null if it isn't recurring"),
});

export const AccountEntitlement = Entitlement.extend({
  subscription: z.object(SUBSCRIPTION).nullable().describe("The subscription with this sku; null if it no longer exists"),
}).openapi("AccountEntitlement");

export const EntitlementFilters = {
  status: z.enum(ENTITLEMENT_STATUSES).optional(),
  sku: Sku.optional(),
};

export type SubscriptionInput = z.output<typeof SubscriptionInput>;
export type SubscriptionPatch = z.output<typeof SubscriptionPatch>;
export type EntitlementWithSubscription = EntitlementRow & { subscription: SubscriptionRow | null };

export function toSubscription(row: SubscriptionRow) {
  return {
    _id: row.id,
    siteId: row.siteId,
    name: row.name,
    sku: row.sku,
    subscriptionProvider: row.subscriptionProvider,
    recurrence: row.recurrence,
    prices: row.prices,
    stripePlanId: row.stripePlanId,
    previewDurationSeconds: row.previewDurationSeconds,
    tags: row.tags,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof Subscription>;
}

/** Without the ids at the payment provider. */
export function toPublicSubscription(row: SubscriptionRow) {
  const prices = row.prices.map(({ currency, value, ...price }) => ({ currency, default: price.default, value }));
  return {
    _id: row.id,
    siteId: row.siteId,
    name: row.name,
    sku: row.sku,
    subscriptionProvider: row.subscriptionProvider,
    recurrence: row.recurrence,
    prices,
    previewDurationSeconds: row.previewDurationSeconds,
    tags: row.tags,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof Subscription>;
}

/** An entitlement as its owner and the site's systems see it. */
export function toEntitlement(row: EntitlementRow) {
  return {
    _id: row.id,
    accountId: row.accountId,
    entitlement: row.sku,
    grantedMethod: row.grantedMethod,
    presentmentCurrency: row.presentmentCurrency,
    price: row.price,
    refunded: row.refunded,
    siteId: row.siteId,
    status: row.status,
    dateGranted: row.dateGranted,
    dateCancelled: row.dateCancelled,
    dateRefunded: row.dateRefunded,
    dateEnds: row.dateEnds,
  };
}

export function toAccountEntitlement({ subscription, ...row }: EntitlementWithSubscription) {
  return { ...toEntitlement(row), subscription: subscription && toPublicSubscription(subscription) } satisfies z.output<
    typeof AccountEntitlement
  >;
}
