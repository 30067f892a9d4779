import type { BatchItem } from "drizzle-orm/batch";
import { accounts } from "#db/schema/accounts.ts";
import { type ChargeRow, charges } from "#db/schema/commerce/billing.ts";
import { subscriptions } from "#db/schema/commerce/subscriptions.ts";
import { type WalletRow, wallets } from "#db/schema/commerce/wallets.ts";
import { requireStripe } from "#worker/integrations/stripe-client.ts";
import { createCheckout, createCustomer } from "#worker/integrations/stripe.ts";
import { wonRace, conflict, invalid, notFound } from "#worker/lib/errors.ts";
import { toCharge, type CheckoutInput } from "./schemas.ts";
import { toWallet } from "#worker/services/wallets/schemas.ts";
import { getBundle } from "#worker/services/bundles/bundles.ts";
import { closePages, decline } from "./charges.ts";
import {
  callerAccount,
  commit,
  commitIfUnchanged,
  type Ctx,
  type NewEvent,
  newRow,
  ownRow,
  updateRow,
} from "#worker/services/core/context.ts";
import { heldSkus } from "#worker/services/subscriptions/entitlements.ts";
import { newId } from "#worker/lib/ids.ts";
import { getSite, requireAllowedUrl } from "#worker/services/sites/current-site.ts";
import { requireChargeableAccount } from "./stripe-connect.ts";
import { walletOf } from "#worker/services/wallets/wallets.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const MAX_ATTEMPTS = 5;
// How long a payment page can be paid; Stripe allows 30 minutes to 24 hours.
const OPEN_FOR = HOUR;

/** A payment page and its pending charge. */
export interface OpenedCheckout {
  chargeId: string;
  url: string;
  expiresAt: number;
}

type Sale = Pick<ChargeRow, "itemType" | "itemId" | "description" | "skus" | "amount" | "currency" | "recurrence"> & {
  priceId: string | null;
};

/** Opens a payment page for a subscription, at its price in the given currency or its default price. */
export async function checkoutSubscription(ctx: Ctx, id: string, { currency, ...urls }: CheckoutInput): Promise<OpenedCheckout> {
  const [found] = await ctx.db
    .select()
    .from(subscriptions)
    .where(ownRow(ctx, subscriptions, id));
  if (!found) throw notFound("Subscription not found");
  if (found.subscriptionProvider !== "stripe") throw conflict("This subscription isn't sold through Stripe");
  const price =
    found.prices.find((one) => (currency === undefined ? one.default : one.currency === currency)) ??
    (currency === undefined ? found.prices[0] : undefined);
  if (!price) throw currency === undefined ? conflict("This subscription has no price") : invalid("currency", "No price in this currency");
  return openCheckout(
    ctx,
    {
      itemType: "subscription",
      itemId: id,
      description: found.name,
      skus: [found.sku],
      amount: price.value,
      currency: price.currency,
      recurrence: found.recurrence === "once" ? null : found.recurrence,
      priceId: price.paymentPlanId ?? (price.default ? found.stripePlanId : null),
    },
    urls,
  );
}

/** Opens a payment page for a bundle, which grants the bundle's own sku and each ticket's. */
export async function checkoutBundle(ctx: Ctx, id: string, urls: Omit<CheckoutInput, "currency">): Promise<OpenedCheckout> {
  const bundle = await getBundle(ctx, id);
  const tickets = bundle.items.filter(({ type }) => type === "ticket").map((item) => item.id);
  return openCheckout(
    ctx,
    {
      itemType: "bundle",
      itemId: id,
      description: bundle.name,
      skus: [...new Set([bundle.sku, ...tickets])],
      amount: bundle.price,
      currency: bundle.presentmentCurrency,
      recurrence: null,
      priceId: null,
    },
    urls,
  );
}

/**
 * Stores the charge before calling Stripe, so that a payment is always found again. Only the commit of the page's id marks the
 * Idempotency-Key as used; until then the same key can be retried.
 */
export async function openCheckout(
  keyed: Ctx,
  { priceId, ...sale }: Sale,
  urls: Omit<CheckoutInput, "currency">,
  /** What else is stored with the charge. */
  alongside: (charge: ChargeRow) => BatchItem<"sqlite">[] = () => [],
): Promise<OpenedCheckout> {
  const ctx: Ctx = { ...keyed, idempotencyId: undefined };
  requireStripe(ctx.env);
  const { id: accountId } = await callerAccount(ctx);
  const site = await getSite(ctx);
  await requireAllowedUrl(ctx, "successUrl", urls.successUrl, site);
  await requireAllowedUrl(ctx, "cancelUrl", urls.cancelUrl, site);
  const stripeAccount = await requireChargeableAccount(ctx);
  // A person may donate as often as they like.
  if (sale.itemType !== "donation") await requireUnpaid(ctx, accountId, sale);
  const charge = newCharge(ctx, sale, accountId, stripeAccount);
  await commit(ctx, [ctx.db.insert(charges).values(charge), ...alongside(charge)], {
    type: "billing.checkoutStarted",
    resource: `charge/${charge.id}`,
    data: toCharge(charge),
  });
  const expiresAt = ctx.now + OPEN_FOR;
  const openFor = (customerId: string) =>
    createCheckout(ctx.env, charge.stripeAccount, {
      ...sale,
      ...urls,
      chargeId: charge.id,
      siteId: ctx.siteId,
      customerId,
      name: sale.description,
      priceId,
      feeBasisPoints: site.serviceChargeRate ?? 0,
      expiresAt,
    });
  const customerId = await customerOf(ctx, accountId, charge.stripeAccount);
  let opened = await openFor(customerId);
  // The customer was deleted at Stripe.
  if (!opened.ok && opened.missing && opened.field === "customer")
    opened = await openFor(await customerOf(ctx, accountId, charge.stripeAccount, customerId));
  if (!opened.ok) {
    await decline(ctx, charge, opened.message);
    throw conflict(`Stripe rejected this sale: ${opened.message}`);
  }
  const found = { stripeSessionId: opened.value.id, due: expiresAt + MINUTE };
  await commit(
    keyed,
    ctx.db
      .update(charges)
      .set(found)
      .where(ownRow(ctx, charges, charge.id)),
  );
  return { chargeId: charge.id, url: opened.value.url ?? "", expiresAt };
}

/** A 409 if the account holds all of it already, or is paying for it. */
async function requireUnpaid(ctx: Ctx, accountId: string, { itemId, skus }: Pick<Sale, "itemId" | "skus">): Promise<void> {
  await closePages(ctx, accountId, itemId);
  const held = await heldSkus(ctx, accountId);
  if (skus.every((sku) => held.includes(sku))) throw conflict("The account already holds this");
}

function newCharge(ctx: Ctx, sale: Omit<Sale, "priceId">, accountId: string, stripeAccount: string | null): ChargeRow {
  return {
    ...newRow(ctx),
    ...sale,
    accountId,
    stripeAccount,
    status: "pending",
    reserved: 0,
    refunded: 0,
    receiptNumber: null,
    failure: null,
    recurringId: sale.recurrence === null ? null : newId(ctx.now),
    stripeSessionId: null,
    stripePaymentId: null,
    stripeInvoiceId: null,
    due: ctx.now + 2 * MINUTE,
  };
}

/** The buyer's customer id at the Stripe account that is paid; created at the first purchase, or again if it was deleted (`deletedId`). */
async function customerOf(ctx: Ctx, accountId: string, stripeAccount: string | null, deletedId?: string): Promise<string> {
  const wallet = await walletOf(ctx, accountId);
  const { paymentCustomerId: known } = wallet;
  if (known !== null && known !== deletedId && wallet.stripeAccount === stripeAccount) return known;
  const [account] = await ctx.db
    .select({ email: accounts.email })
    .from(accounts)
    .where(ownRow(ctx, accounts, accountId));
  if (!account) throw notFound("Account not found");
  const customer = { walletId: wallet.id, siteId: ctx.siteId, email: account.email, formerId: known };
  const paymentCustomerId = await createCustomer(ctx.env, stripeAccount, customer);
  await storeCustomer(ctx, wallet, { paymentCustomerId, stripeAccount }, known);
  return paymentCustomerId;
}

/** Stores the customer id instead of the `former` one; without it, a page whose response was lost can't be found again. */
async function storeCustomer(
  ctx: Ctx,
  wallet: WalletRow,
  customer: Pick<WalletRow, "paymentCustomerId" | "stripeAccount">,
  former: string | null,
): Promise<void> {
  let current: WalletRow | undefined = wallet;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const next: WalletRow = { ...current, ...customer, modified: ctx.now, version: current.version + 1 };
    const change = updateRow(ctx, wallets, current, next);
    const event: NewEvent<"wallet.updated"> = { type: "wallet.updated", resource: `wallet/${wallet.id}`, data: toWallet(next) };
    if (await wonRace(() => commitIfUnchanged(ctx, change, event))) return;
    [current] = await ctx.db
      .select()
      .from(wallets)
      .where(ownRow(ctx, wallets, wallet.id));
    if (!current) throw notFound("Account not found");
    // The winner of the race stored the same id: Stripe creates one customer per wallet.
    if (current.paymentCustomerId !== former && current.stripeAccount === customer.stripeAccount) return;
  }
  throw conflict("The wallet is changing too often; try again");
}
