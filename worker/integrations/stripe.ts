import type { Stripe } from "stripe";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import { optionalSecret } from "#worker/lib/crypto/optional-secret.ts";
import { ask, clientOf, library, notConfigured, required, type StripeAccount, type StripeOutcome } from "./stripe-client.ts";

// What is asked of Stripe, in our terms; nothing else speaks to it.

export interface CheckoutRequest {
  /** Our charge, which Stripe keeps as the session's reference and as metadata of all that follows from it. */
  chargeId: string;
  siteId: string;
  customerId: string;
  name: string;
  amount: number;
  currency: string;
  recurrence: "month" | "year" | null;
  /** A price of Stripe's own, in place of amount and currency. */
  priceId: string | null;
  /** Basis points of the sale that the platform keeps; of a connected account's alone. */
  feeBasisPoints: number;
  successUrl: string;
  cancelUrl: string;
  /** Milliseconds since 1970 UTC. */
  expiresAt: number;
}

/** A payment page as it stands; `processing` is paid by means that take days. */
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
  /** Ours, where we asked for it. */
  refundId: string | undefined;
  amount: number;
  status: "complete" | "declined" | "pending";
  failure: string | null;
}

export interface StripeSubscription {
  id: string;
  status: "active" | "cancelled" | "cancelScheduled";
  pastDue: boolean;
  /** Given up as never paid, though not ended: Stripe goes on writing invoices. */
  unpaid: boolean;
  /** Milliseconds since 1970 UTC; the day of its end where that comes first. */
  currentPeriodEnd: number | null;
}

export interface PaidInvoice {
  id: string;
  amount: number;
  currency: string;
  /** Null where no money was moved: a credit has paid it. */
  paymentId: string | null;
  /** Milliseconds since 1970 UTC. */
  paid: number;
}

/** What an event of Stripe's is about: enough to find our rows, whose truth is then asked for. */
export interface StripeNotice {
  type: string;
  /** The connected account that it happened at; undefined at the platform's own. */
  account: string | undefined;
  chargeId: string | undefined;
  paymentId: string | undefined;
  subscriptionId: string | undefined;
}

// Currencies without a minor unit that Stripe, for the sake of what was built long ago, counts in hundredths all the same.
const IN_HUNDREDTHS = new Set<string | null>(["isk", "ugx"]);

/** Our minor units as Stripe counts them. */
function toStripe(amount: number, { currency }: { currency: string }): number {
  return IN_HUNDREDTHS.has(currency) ? amount * 100 : amount;
}

function fromStripe(amount: number, currency: string | null): number {
  return IN_HUNDREDTHS.has(currency) ? Math.round(amount / 100) : amount;
}

type RefundReason = "duplicate" | "fraudulent" | "requested_by_customer";

/** Makes Stripe know an owner of a wallet, in place of a customer that is no more; repeated, it answers the same customer. */
export async function createCustomer(
  env: Env,
  account: StripeAccount,
  { walletId, siteId, email, formerId }: { walletId: string; siteId: string; email: string; formerId: string | null },
): Promise<string> {
  // Stripe refuses a key that comes again with something else.
  const key = `wallet-${walletId}-${formerId ?? "first"}-${await sha256(email)}`;
  const made = await ask(env, account, key, (stripe, options) =>
    stripe.customers.create({ email, metadata: { siteId, walletId } }, options),
  );
  return required(made).id;
}

/** Opens a payment page; repeated for a charge, it answers the same page. */
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
  const made = await ask(env, account, `charge-${request.chargeId}-${request.customerId}`, (stripe, options) =>
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
  return made.ok ? { ok: true, value: toCheckout(made.value) } : made;
}

/** What Stripe will charge, as it counts it: by its own price where that is named. */
async function chargedFor(env: Env, account: StripeAccount, { priceId, amount, currency }: CheckoutRequest): Promise<number> {
  const ours = toStripe(amount, { currency });
  if (priceId === null) return ours;
  const price = await ask(env, account, null, (stripe, options) => stripe.prices.retrieve(priceId, {}, options));
  // One that isn't known is refused with the page.
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

/** A payment page by its id or, where that never arrived, by the customer and charge that it was opened for. */
export async function findCheckout(
  env: Env,
  account: StripeAccount,
  { sessionId, customerId, chargeId }: { sessionId: string | null; customerId: string | null; chargeId: string },
): Promise<Checkout | undefined> {
  const expand = ["payment_intent", "subscription"];
  if (sessionId !== null) {
    const found = await ask(env, account, null, (stripe, options) => stripe.checkout.sessions.retrieve(sessionId, { expand }, options));
    return toCheckout(required(found));
  }
  if (customerId === null) return undefined;
  const listed = await ask(env, account, null, async (stripe, options) =>
    stripe.checkout.sessions
      .list({ customer: customerId, limit: 100, expand: expand.map((field) => `data.${field}`) }, options)
      .autoPagingToArray({ limit: 1000 }),
  );
  const session = required(listed).find((one) => one.client_reference_id === chargeId);
  return session && toCheckout(session);
}

/** Closes a payment page; one that is paid or over stays as it is, and is refused. */
export async function expireCheckout(env: Env, account: StripeAccount, sessionId: string): Promise<StripeOutcome<Checkout>> {
  const closed = await ask(env, account, null, (stripe, options) => stripe.checkout.sessions.expire(sessionId, {}, options));
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

/** Asks for money to go back; repeated for a refund of ours, it answers the same. */
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
  const made = await ask(env, account, `refund-${refundId}`, (stripe, options) =>
    stripe.refunds.create({ payment_intent: paymentId, amount: toStripe(money.amount, money), reason, metadata: { refundId } }, options),
  );
  return made.ok ? { ok: true, value: toRefund(made.value) } : made;
}

/** Everything of a payment that has gone or is going back, whoever asked for it. */
export async function listRefunds(env: Env, account: StripeAccount, paymentId: string): Promise<StripeRefund[]> {
  const listed = await ask(env, account, null, async (stripe, options) =>
    stripe.refunds.list({ payment_intent: paymentId, limit: 100 }, options).autoPagingToArray({ limit: 1000 }),
  );
  return required(listed).map(toRefund);
}

function toRefund({ id, metadata, amount: theirs, currency, status, failure_reason: reason }: Stripe.Refund): StripeRefund {
  const amount = fromStripe(theirs, currency);
  const states: Record<string, StripeRefund["status"]> = { succeeded: "complete", failed: "declined", canceled: "declined" };
  return { id, refundId: metadata?.refundId, amount, status: states[status ?? ""] ?? "pending", failure: reason ?? null };
}

/** What is paid regularly, as it stands. */
export async function readSubscription(env: Env, account: StripeAccount, id: string): Promise<StripeOutcome<StripeSubscription>> {
  return asSubscription(await ask(env, account, null, (stripe, options) => stripe.subscriptions.retrieve(id, {}, options)));
}

/** Ends regular payments, at once or with the period that is paid for; safe to repeat. */
export async function cancelSubscription(
  env: Env,
  account: StripeAccount,
  id: string,
  when: "immediate" | "endOfBilling",
): Promise<StripeOutcome<StripeSubscription>> {
  const asked = asSubscription(
    await ask(env, account, null, (stripe, options) =>
      when === "immediate"
        ? stripe.subscriptions.cancel(id, {}, options)
        : stripe.subscriptions.update(id, { cancel_at_period_end: true }, options),
    ),
  );
  if (asked.ok) return asked;
  // Stripe ends nothing twice: of what has ended, perhaps by a call whose answer was lost, it says that there is no such thing.
  const found = await readSubscription(env, account, id);
  return found.ok && found.value.status === "cancelled" ? found : asked;
}

function asSubscription(outcome: StripeOutcome<Stripe.Subscription>): StripeOutcome<StripeSubscription> {
  if (!outcome.ok) return outcome;
  const { id, status, cancel_at: day, cancel_at_period_end: withPeriod, items } = outcome.value;
  const over = ["canceled", "unpaid", "incomplete_expired"].includes(status);
  const periodEnd = items.data[0]?.current_period_end;
  // Some subscriptions have but the day. One that lies beyond this period is none of it yet: until then it is paid for.
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

/** What was paid for a subscription, period by period, the first one first. */
export async function listPaidInvoices(env: Env, account: StripeAccount, subscriptionId: string): Promise<PaidInvoice[]> {
  const listed = await ask(env, account, null, async (stripe, options) =>
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

/** Whether Apple Pay may be offered on a domain, after Stripe has looked at it. */
export async function verifyApplePay(env: Env, account: StripeAccount, domain: string): Promise<boolean> {
  const checked = await ask(env, account, null, async (stripe, options) => {
    const { id } = await stripe.paymentMethodDomains.create({ domain_name: domain }, options);
    return stripe.paymentMethodDomains.validate(id, {}, options);
  });
  return checked.ok && checked.value.enabled && checked.value.apple_pay.status === "active";
}

/** An event as Stripe signed it, for one of the deployment's endpoints; undefined when it didn't, or too long ago. */
export async function readEvent(env: Env, body: string, signature: string): Promise<StripeNotice | undefined> {
  const secrets = optionalSecret(env, "TIFO_STRIPE_WEBHOOK_SECRET");
  if (secrets === undefined) throw notConfigured();
  const { Stripe } = await library();
  const { webhooks } = await clientOf(env);
  // What stands beside a comma too many isn't one: anybody could sign with it.
  const named = secrets.split(",").map((secret) => secret.trim());
  for (const secret of named.filter((one) => one !== "")) {
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
