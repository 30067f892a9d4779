import { STRIPE_KEYS } from "./stripe-keys.ts";

// The objects that the Stripe stand-in stores, and how its responses show them: a reference is an id unless it was expanded.

export type Fields = Record<string, string>;
export type Json = Record<string, unknown>;

export interface Intent {
  id: string;
  amount: number;
  currency: string;
  refunded: number;
  status: "succeeded" | "processing" | "requires_payment_method";
}

export interface Session {
  id: string;
  customer: string;
  reference: string;
  mode: string;
  amount: number;
  currency: string;
  status: "open" | "complete" | "expired";
  paid: boolean;
  intent: string | null;
  subscription: string | null;
  invoice: string | null;
  metadata: Fields;
  fields: Fields;
  expires: number;
}

export interface Refund {
  id: string;
  intent: string;
  amount: number;
  currency: string;
  status: "pending" | "succeeded" | "failed";
  metadata: Fields;
  reason: string | null;
}

export interface Subscription {
  id: string;
  status: string;
  /** Ends with its period; `cancelAt` is a date of its own. */
  scheduled: boolean;
  cancelAt: number | null;
  periodEnd: number;
  amount: number;
  currency: string;
  metadata: Fields;
}

export interface Invoice {
  id: string;
  subscription: string;
  /** Empty if a credit paid it. */
  intent: string;
  amount: number;
  currency: string;
  created: number;
}

/** The fields that a call expands from ids to objects; in a list they are named `data.<field>`. */
export function expanded(fields: Fields): Set<string> {
  const names = Object.entries(fields).flatMap(([name, value]) => (name.startsWith("expand[") ? [value.replace(/^data\./, "")] : []));
  return new Set(names);
}

interface StoredObjects {
  intents: Map<string, Intent>;
  subscriptions: Map<string, Subscription>;
}

export function showSession({ intents, subscriptions }: StoredObjects, session: Session, expand = new Set<string>()): Json {
  const intent = expand.has("payment_intent") ? intents.get(session.intent ?? "") : undefined;
  const subscription = expand.has("subscription") ? subscriptions.get(session.subscription ?? "") : undefined;
  return {
    id: session.id,
    object: "checkout.session",
    amount_total: session.amount,
    currency: session.currency,
    client_reference_id: session.reference,
    customer: session.customer,
    expires_at: session.expires,
    invoice: session.invoice,
    livemode: false,
    metadata: metadataOf(session.fields),
    mode: session.mode,
    payment_intent: intent ? showIntent(intent) : session.intent,
    payment_status: session.paid ? "paid" : "unpaid",
    status: session.status,
    subscription: subscription ? showSubscription(subscription) : session.subscription,
    url: session.status === "open" ? `https://checkout.stripe.com/c/pay/${session.id}` : null,
  };
}

function showIntent({ id, amount, currency, status }: Intent): Json {
  return { id, object: "payment_intent", amount, currency, livemode: false, metadata: {}, status };
}

export function showSubscription({ id, status, scheduled, cancelAt, periodEnd, metadata }: Subscription): Json {
  const items = { object: "list", has_more: false, data: [{ id: `si_${id}`, object: "subscription_item", current_period_end: periodEnd }] };
  return { id, object: "subscription", status, cancel_at: cancelAt, cancel_at_period_end: scheduled, items, metadata, livemode: false };
}

export function showRefund({ id, intent, amount, currency, status, metadata, reason }: Refund): Json {
  return { id, object: "refund", amount, currency, payment_intent: intent, status, metadata, reason };
}

export function showInvoice({ id, subscription, intent, amount, currency, created }: Invoice, expand = new Set<string>()): Json {
  const payment = {
    id: `inpay_${id}`,
    object: "invoice_payment",
    status: "paid",
    payment: { type: "payment_intent", payment_intent: intent },
  };
  return {
    id,
    object: "invoice",
    amount_paid: amount,
    created,
    currency,
    parent: { type: "subscription_details", subscription_details: { subscription, metadata: {} }, quote_details: null },
    ...(expand.has("payments") && { payments: { object: "list", has_more: false, data: intent === "" ? [] : [payment] } }),
    status: "paid",
    status_transitions: { paid_at: created },
  };
}

export function metadataOf(fields: Fields, under = ""): Fields {
  const name = under === "" ? /^metadata\[(\w+)\]$/ : new RegExp(`^${under}\\[metadata\\]\\[(\\w+)\\]$`);
  const entries = Object.entries(fields).map(([key, value]): [string, string] => [name.exec(key)?.[1] ?? "", value]);
  return Object.fromEntries(entries.filter(([key]) => key !== ""));
}

/** Fields of a response, as "<object>.<field>", that Stripe doesn't document; adds the kinds of its objects to `kinds`. */
export function undocumentedFields(value: unknown, kinds: Set<string>): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => undocumentedFields(item, kinds));
  if (typeof value !== "object" || value === null) return [];
  const kind = "object" in value && typeof value.object === "string" ? value.object : undefined;
  const known = kind === undefined ? undefined : STRIPE_KEYS.get(kind);
  if (kind !== undefined) kinds.add(kind);
  const unknown = known === undefined ? [] : Object.keys(value).filter((field) => !known.has(field));
  return [...unknown.map((field) => `${kind}.${field}`), ...Object.values(value).flatMap((inner) => undocumentedFields(inner, kinds))];
}

/** Several maps read as one, without a copy; `delete` deletes from each of them. */
export class JoinedMap<V> extends Map<string, V> {
  readonly #parts: Map<string, V>[];

  constructor(parts: Map<string, V>[]) {
    super();
    this.#parts = parts;
  }

  override get(key: string): V | undefined {
    return this.#parts.find((part) => part.has(key))?.get(key);
  }

  override has(key: string): boolean {
    return this.#parts.some((part) => part.has(key));
  }

  override get size(): number {
    return this.#parts.reduce((sum, part) => sum + part.size, 0);
  }

  override *values(): MapIterator<V> {
    for (const part of this.#parts) yield* part.values();
  }

  override delete(key: string): boolean {
    return this.#parts.map((part) => part.delete(key)).includes(true);
  }
}
