import type { Stripe } from "stripe";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { optionalSecret } from "#worker/lib/crypto/optional-secret.ts";
import { callStripe, clientOf, library, notConfigured, required, type StripeAccount, type StripeOutcome } from "./stripe-client.ts";

// All calls to Stripe, in this project's terms.

export interface CheckoutRequest {
  /** Our charge; Stripe stores it as the session's reference and in the metadata of resulting objects. */
  chargeId: string;
  siteId: string;
  customerId: string;
  name: string;
  amount: number;
  currency: string;
  recurrence: "month" | "year" | null;
  /** A Stripe price, instead of amount and currency. */
  priceId: string | null;
  /** The platform's fee in basis points; only for connected accounts. */
  feeBasisPoints: number;
  successUrl: string;
  cancelUrl: string;
  /** Milliseconds since 1970 UTC. */
  expiresAt: number;
}

/** The state of a payment page; `processing` means a payment method that takes days. */
export interface Checkout {
  id: string;
  url: string | null;
  state: "open" | "processing" | "paid" | "failed" | "expired";
  amount: number | null;
  currency: string | null;
  paymentId: string | null;
  subscriptionId: string | null;
  invoiceId: string | null;
}

export interface StripeRefund {
  id: string;
  /** Our refund id, if we requested it. */
  refundId: string | undefined;
  amount: number;
  status: "complete" | "declined" | "pending";
  failure: string | null;
}

export interface StripeSubscription {
  id: string;
  status: "active" | "cancelled" | "cancelScheduled";
  pastDue: boolean;
  /** Given up as unpaid but not ended: Stripe still creates invoices. */
  unpaid: boolean;
  /** Milliseconds since 1970 UTC; the cancellation date if that is earlier. */
  currentPeriodEnd: number | null;
}

export interface PaidInvoice {
  id: string;
  amount: number;
  currency: string;
  /** Null if no money was moved because a credit covered it. */
  paymentId: string | null;
  /** Milliseconds since 1970 UTC. */
  paid: number;
}

/** What a Stripe event refers to: enough to find our rows, whose state is then read from Stripe. */
export interface StripeNotice {
  type: string;
  /** The connected account of the event; undefined for the platform's own. */
  account: string | undefined;
  chargeId: string | undefined;
  paymentId: string | undefined;
  subscriptionId: string | undefined;
}

// Currencies without a minor unit that Stripe still counts in hundredths for backward compatibility.
const IN_HUNDREDTHS = new Set<string | null>(["isk", "ugx"]);

/** Converts our minor units to Stripe's. */
function toStripe(amount: number, { currency }: { currency: string }): number {
  return IN_HUNDREDTHS.has(currency) ? amount * 100 : amount;
}

function fromStripe(amount: number, currency: string | null): number {
  return IN_HUNDREDTHS.has(currency) ? Math.round(amount / 100) : amount;
}

type RefundReason = "duplicate" | "fraudulent" | "requested_by_customer";

/** Creates a Stripe customer for a wallet, replacing a deleted one if `formerId` is set. Idempotent. */
export async function createCustomer(
  env: Env,
  account: StripeAccount,
  { walletId, siteId, email, formerId }: { walletId: string; siteId: string; email: string; formerId: string | null },
): Promise<string> {
  // Stripe rejects an idempotency key that is reused with other parameters.
  const key = `wallet-${walletId}-${formerId ?? "first"}-${await sha256(email)}`;
  const created = await callStripe(env, account, key, (stripe, options) =>
    stripe.customers.create({ email, metadata: { siteId, walletId } }, options),
  );
  return required(created).id;
}

/** Creates a payment page, idempotent by charge. */
export async function createCheckout(env: Env, account: StripeAccount, request: CheckoutRequest): Promise<StripeOutcome<Checkout>> {
  const metadata = { siteId: request.siteId, chargeId: request.chargeId };
  const paysFee = account !== null && request.feeBasisPoints > 0;
  const ofKind: Stripe.Checkout.SessionCreateParams =
    request.recurrence === null
      ? {
          mode: "payment",
          payment_intent_data: {
            metadata,
            ...(paysFee && {
              application_fee_amount: Math.round(((await chargedFor(env, account, request)) * request.feeBasisPoints) / 10_000),
            }),
          },
        }
      : {
          mode: "subscription",
          subscription_data: { metadata, ...(paysFee && { application_fee_percent: request.feeBasisPoints / 100 }) },
        };
  const created = await callStripe(env, account, `charge-${request.chargeId}-${request.customerId}`, (stripe, options) =>
    stripe.checkout.sessions.create(
      {
        ...ofKind,
        customer: request.customerId,
        client_reference_id: request.chargeId,
        line_items: [lineOf(request)],
        metadata,
        success_url: request.successUrl,
        cancel_url: request.cancelUrl,
        expires_at: Math.floor(request.expiresAt / 1000),
      },
      options,
    ),
  );
  return created.ok ? { ok: true, value: toCheckout(created.value) } : created;
}

/** The amount that Stripe will charge, in its units: from its price if there is one. */
async function chargedFor(env: Env, account: StripeAccount, { priceId, amount, currency }: CheckoutRequest): Promise<number> {
  const ours = toStripe(amount, { currency });
  if (priceId === null) return ours;
  const price = await callStripe(env, account, null, (stripe, options) => stripe.prices.retrieve(priceId, {}, options));
  // An unknown price is rejected when the page is created.
  return price.ok ? (price.value.unit_amount ?? ours) : ours;
}

function lineOf({ priceId, currency, amount, name, recurrence }: CheckoutRequest): Stripe.Checkout.SessionCreateParams.LineItem {
  if (priceId !== null) return { price: priceId, quantity: 1 };
  return {
    quantity: 1,
    price_data: {
      currency,
      unit_amount: toStripe(amount, { currency }),
      product_data: { name },
      ...(recurrence !== null && { recurring: { interval: recurrence } }),
    },
  };
}

/** Finds a payment page by its id or, if that was never received, by its customer and charge. */
export async function findCheckout(
  env: Env,
  account: StripeAccount,
  { sessionId, customerId, chargeId }: { sessionId: string | null; customerId: string | null; chargeId: string },
): Promise<Checkout | undefined> {
  const expand = ["payment_intent", "subscription"];
  if (sessionId !== null) {
    const found = await callStripe(env, account, null, (stripe, options) =>
      stripe.checkout.sessions.retrieve(sessionId, { expand }, options),
    );
    return toCheckout(required(found));
  }
  if (customerId === null) return undefined;
  const listed = await callStripe(env, account, null, async (stripe, options) =>
    stripe.checkout.sessions
      .list({ customer: customerId, limit: 100, expand: expand.map((field) => `data.${field}`) }, options)
      .autoPagingToArray({ limit: 1000 }),
  );
  const session = required(listed).find((one) => one.client_reference_id === chargeId);
  return session && toCheckout(session);
}

/** Expires a payment page; rejected if it is already paid or expired. */
export async function expireCheckout(env: Env, account: StripeAccount, sessionId: string): Promise<StripeOutcome<Checkout>> {
  const closed = await callStripe(env, account, null, (stripe, options) => stripe.checkout.sessions.expire(sessionId, {}, options));
  return closed.ok ? { ok: true, value: toCheckout(closed.value) } : closed;
}

function toCheckout(session: Stripe.Checkout.Session): Checkout {
  return {
    id: session.id,
    url: session.url,
    state: stateOf(session),
    amount: session.amount_total === null ? null : fromStripe(session.amount_total, session.currency),
    currency: session.currency,
    paymentId: idOf(session.payment_intent),
    subscriptionId: idOf(session.subscription),
    invoiceId: idOf(session.invoice),
  };
}

function stateOf({ status, payment_status: payment, payment_intent: intent, subscription }: Stripe.Checkout.Session): Checkout["state"] {
  if (status === "expired") return "expired";
  if (status !== "complete") return "open";
  if (payment !== "unpaid") return "paid";
  const unpaid = [intent, subscription].map((part) => (part !== null && typeof part === "object" ? part.status : ""));
  return unpaid.some((state) => ["requires_payment_method", "canceled", "incomplete_expired", "unpaid"].includes(state))
    ? "failed"
    : "processing";
}

/** Creates a refund, idempotent by our refund id. */
export async function createRefund(
  env: Env,
  account: StripeAccount,
  {
    refundId,
    paymentId,
    reason,
    ...money
  }: { refundId: string; paymentId: string; amount: number; currency: string; reason: RefundReason },
): Promise<StripeOutcome<StripeRefund>> {
  const created = await callStripe(env, account, `refund-${refundId}`, (stripe, options) =>
    stripe.refunds.create({ payment_intent: paymentId, amount: toStripe(money.amount, money), reason, metadata: { refundId } }, options),
  );
  return created.ok ? { ok: true, value: toRefund(created.value) } : created;
}

/** All refunds of a payment, pending ones and those created at Stripe included. */
export async function listRefunds(env: Env, account: StripeAccount, paymentId: string): Promise<StripeRefund[]> {
  const listed = await callStripe(env, account, null, async (stripe, options) =>
    stripe.refunds.list({ payment_intent: paymentId, limit: 100 }, options).autoPagingToArray({ limit: 1000 }),
  );
  return required(listed).map(toRefund);
}

function toRefund({ id, metadata, amount: theirs, currency, status, failure_reason: reason }: Stripe.Refund): StripeRefund {
  const amount = fromStripe(theirs, currency);
  const states: Record<string, StripeRefund["status"]> = { succeeded: "complete", failed: "declined", canceled: "declined" };
  return { id, refundId: metadata?.refundId, amount, status: states[status ?? ""] ?? "pending", failure: reason ?? null };
}

/** The current state of a recurring payment. */
export async function readSubscription(env: Env, account: StripeAccount, id: string): Promise<StripeOutcome<StripeSubscription>> {
  return asSubscription(await callStripe(env, account, null, (stripe, options) => stripe.subscriptions.retrieve(id, {}, options)));
}

/** Cancels recurring payments, immediately or at the end of the paid period; safe to repeat. */
export async function cancelSubscription(
  env: Env,
  account: StripeAccount,
  id: string,
  when: "immediate" | "endOfBilling",
): Promise<StripeOutcome<StripeSubscription>> {
  const outcome = asSubscription(
    await callStripe(env, account, null, (stripe, options) =>
      when === "immediate"
        ? stripe.subscriptions.cancel(id, {}, options)
        : stripe.subscriptions.update(id, { cancel_at_period_end: true }, options),
    ),
  );
  if (outcome.ok) return outcome;
  // Stripe reports an already cancelled subscription as missing, also if the response to our own call was lost.
  const found = await readSubscription(env, account, id);
  return found.ok && found.value.status === "cancelled" ? found : outcome;
}

function asSubscription(outcome: StripeOutcome<Stripe.Subscription>): StripeOutcome<StripeSubscription> {
  if (!outcome.ok) return outcome;
  const { id, status, cancel_at: day, cancel_at_period_end: withPeriod, items } = outcome.value;
  const over = ["canceled", "unpaid", "incomplete_expired"].includes(status);
  const periodEnd = items.data[0]?.current_period_end;
  // Some subscriptions only have the date. A date beyond this period doesn't matter yet: the subscription renews until then.
  const isNear = day !== null && periodEnd !== undefined && day <= periodEnd;
  const scheduled = withPeriod || isNear;
  const end = isNear ? day : periodEnd;
  return {
    ok: true,
    value: {
      id,
      status: over ? "cancelled" : scheduled ? "cancelScheduled" : "active",
      pastDue: status === "past_due",
      unpaid: status === "unpaid",
      currentPeriodEnd: end === undefined ? null : end * 1000,
    },
  };
}

/** The paid invoices of a subscription, oldest first. */
export async function listPaidInvoices(env: Env, account: StripeAccount, subscriptionId: string): Promise<PaidInvoice[]> {
  const listed = await callStripe(env, account, null, async (stripe, options) =>
    stripe.invoices
      .list({ subscription: subscriptionId, status: "paid", limit: 100, expand: ["data.payments"] }, options)
      .autoPagingToArray({ limit: 1000 }),
  );
  const paid = required(listed).map((invoice) => {
    const payment = invoice.payments?.data.find(({ status }) => status === "paid")?.payment.payment_intent;
    const paymentId = idOf(payment);
    const paidAt = (invoice.status_transitions.paid_at ?? invoice.created) * 1000;
    const amount = fromStripe(invoice.amount_paid, invoice.currency);
    return { id: invoice.id, amount, currency: invoice.currency, paymentId, paid: paidAt };
  });
  // Stripe lists the newest first.
  return paid.reverse().sort((one, other) => one.paid - other.paid);
}

/** Whether Stripe's check allows Apple Pay on a domain. */
export async function verifyApplePay(env: Env, account: StripeAccount, domain: string): Promise<boolean> {
  const checked = await callStripe(env, account, null, async (stripe, options) => {
    const { id } = await stripe.paymentMethodDomains.create({ domain_name: domain }, options);
    return stripe.paymentMethodDomains.validate(id, {}, options);
  });
  return checked.ok && checked.value.enabled && checked.value.apple_pay.status === "active";
}

/** Verifies and parses a Stripe event; undefined if the signature is invalid or too old. */
export async function readEvent(env: Env, body: string, signature: string): Promise<StripeNotice | undefined> {
  const secrets = optionalSecret(env, "TIFO_STRIPE_WEBHOOK_SECRET");
  if (secrets === undefined) throw notConfigured();
  const { Stripe } = await library();
  const { webhooks } = await clientOf(env);
  // Skips empty parts: anyone could sign with an empty secret.
  const configured = secrets.split(",").map((secret) => secret.trim());
  for (const secret of configured.filter((one) => one !== "")) {
    try {
      return noticeOf(await webhooks.constructEventAsync(body, signature, secret, undefined, Stripe.createSubtleCryptoProvider()));
    } catch (error) {
      if (!(error instanceof Stripe.errors.StripeSignatureVerificationError)) throw error;
    }
  }
  return undefined;
}

function noticeOf({ type, account, data: { object } }: Stripe.Event): StripeNotice {
  const isSubscription = object.object === "subscription";
  const metadata = "metadata" in object ? object.metadata : null;
  return {
    type,
    account,
    chargeId: metadata?.chargeId,
    paymentId: "payment_intent" in object && typeof object.payment_intent === "string" ? object.payment_intent : undefined,
    subscriptionId: isSubscription ? object.id : (idOf("parent" in object ? subscriptionOf(object.parent) : null) ?? undefined),
  };
}

function subscriptionOf(parent: unknown): string | null {
  if (typeof parent !== "object" || parent === null || !("subscription_details" in parent)) return null;
  const details = parent.subscription_details;
  if (typeof details !== "object" || details === null || !("subscription" in details)) return null;
  return typeof details.subscription === "string" ? details.subscription : null;
}

function idOf(object: string | { id: string } | null | undefined): string | null {
  return typeof object === "string" ? object : (object?.id ?? null);
}
