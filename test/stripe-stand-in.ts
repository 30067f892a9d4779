import { Stripe } from "stripe";
import { randomHex } from "#worker/lib/ids.ts";
import { connectResponse } from "./stripe-accounts.ts";
import {
  expanded,
  type Fields,
  type Intent,
  type Invoice,
  type Json,
  metadataOf,
  type Refund,
  type Session,
  showInvoice,
  showRefund,
  showSession,
  showSubscription,
  JoinedMap,
  undocumentedFields,
  type Subscription,
} from "./stripe-objects.ts";

// A stand-in for Stripe, in any runtime. It keeps state per connected account, repeats the first response to a
// repeated idempotency key, and fails in the ways that a test asks for.

/**
 * How a call behaves. `reject`, `fail`, `expiredKey` and `forbidden` have no effect, the last two because of the key; `loseResponse`,
 * `hang` and `failLate` execute the call, but the response is lost, late, or a 500.
 */
export type Behaviour = "succeed" | "fail" | "reject" | "expiredKey" | "forbidden" | "loseResponse" | "hang" | "failLate";

const MONTH = 30 * 86_400;

interface EventOptions {
  secret?: string;
  timestamp?: number;
  /** The connected account that it is about. */
  account?: string;
}

/** The records of one account. */
class AccountRecords {
  readonly customers = new Map<string, Fields>();
  readonly sessions = new Map<string, Session>();
  readonly intents = new Map<string, Intent>();
  readonly refunds = new Map<string, Refund>();
  readonly subscriptions = new Map<string, Subscription>();
  readonly invoices = new Map<string, Invoice>();
  readonly domains = new Map<string, { id: string; active: boolean }>();
  readonly responses = new Map<string, { request: string; status: number; body: Json }>();
}

/** The accounts that the platform's key can access; "" is the platform's own. */
const accounts = new Map<string, AccountRecords>();

function recordsOf(account: string): AccountRecords {
  const records = accounts.get(account) ?? new AccountRecords();
  accounts.set(account, records);
  return records;
}

/** The records of the account that stores an object. */
function recordsWith(hasObject: (records: AccountRecords) => boolean): AccountRecords {
  return found([...accounts.values()].find(hasObject));
}

let behaviours: { path: RegExp; does: Behaviour }[] = [];

/** The status of new refunds. */
const settings: { refundsBecome: Refund["status"] } = { refundsBecome: "succeeded" };

export const stripe = {
  /** The calls received so far, and the account of each. */
  calls: new Array<{ method: string; path: string; account: string; fields: Fields }>(),
  ...settings,
  /** Fields of responses that Stripe doesn't document, and the kinds of objects in all responses. */
  undocumentedFields: new Array<string>(),
  objectKinds: new Set<string>(),
  /** Domains that serve Apple's verification file. */
  appleDomains: new Set<string>(["demo.example"]),
  /** Sets how the next calls of a path behave, in turn. */
  behaveNext(path: RegExp, ...does: Behaviour[]): void {
    behaviours.push(...does.map((one) => ({ path, does: one })));
  },
  /** Resets all behaviour. */
  recover(): void {
    behaviours = [];
    stripe.refundsBecome = "succeeded";
  },
  /** The records of one account or, by default, of all of them. */
  records(account?: string): AccountRecords {
    if (account !== undefined) return recordsOf(account);
    const all = [...accounts.values()];
    return {
      customers: new JoinedMap(all.map(({ customers }) => customers)),
      sessions: new JoinedMap(all.map(({ sessions }) => sessions)),
      intents: new JoinedMap(all.map(({ intents }) => intents)),
      refunds: new JoinedMap(all.map(({ refunds }) => refunds)),
      subscriptions: new JoinedMap(all.map(({ subscriptions }) => subscriptions)),
      invoices: new JoinedMap(all.map(({ invoices }) => invoices)),
      domains: new JoinedMap(all.map(({ domains }) => domains)),
      responses: new JoinedMap(all.map(({ responses }) => responses)),
    };
  },
  /** The checkout session of a charge. */
  checkoutSessionOf(chargeId: string, account?: string): Session | undefined {
    return [...stripe.records(account).sessions.values()].find(({ reference }) => reference === chargeId);
  },
  /** A buyer pays a charge's checkout session, by card or with a method that takes days. */
  pay(chargeId: string, { later = false } = {}): Session {
    const session = found(stripe.checkoutSessionOf(chargeId));
    const records = recordsWith(({ sessions }) => sessions.has(session.id));
    session.status = "complete";
    session.paid = !later;
    const intent = newIntent(records, session, later ? "processing" : "succeeded");
    if (session.mode === "payment") session.intent = intent.id;
    else startSubscription(records, session, intent);
    return session;
  },
  /** A payment that takes days succeeds or fails. */
  settlePayment(chargeId: string, succeeds = true): Session {
    const session = found(stripe.checkoutSessionOf(chargeId));
    session.paid = succeeds;
    const intent = stripe.records().intents.get(session.intent ?? "");
    if (intent) intent.status = succeeds ? "succeeded" : "requires_payment_method";
    return session;
  },
  expire(chargeId: string): Session {
    const session = found(stripe.checkoutSessionOf(chargeId));
    session.status = "expired";
    return session;
  },
  /** Applies what is due for a site: sessions expire, scheduled subscriptions end, and all others are renewed. */
  processDue(siteId: string): void {
    const now = Math.floor(Date.now() / 1000);
    const { sessions, subscriptions } = stripe.records();
    for (const session of sessions.values()) {
      if (session.metadata.siteId === siteId && session.status === "open" && session.expires <= now) session.status = "expired";
    }
    for (const one of subscriptions.values()) {
      while (one.metadata.siteId === siteId && one.status === "active" && one.periodEnd <= now) {
        if (one.scheduled) one.status = "canceled";
        else stripe.renew(one.id);
      }
    }
  },
  /** Pays the next period of a subscription. */
  renew(subscriptionId: string): Invoice {
    const records = recordsWith(({ subscriptions }) => subscriptions.has(subscriptionId));
    const subscription = found(records.subscriptions.get(subscriptionId));
    const periodStart = subscription.periodEnd;
    subscription.periodEnd += MONTH;
    return newInvoice(records, subscription, newIntent(records, subscription, "succeeded"), periodStart);
  },
  /** A refund that was created in Stripe's dashboard. */
  refundAtStripe(intentId: string, amount: number): Refund {
    const records = recordsWith(({ intents }) => intents.has(intentId));
    return newRefund(records, found(records.intents.get(intentId)), amount, {}, null);
  },
  /** Sets the outcome of a pending refund. */
  settleRefund(refundId: string, status: Refund["status"]): void {
    const refund = found(stripe.records().refunds.get(refundId));
    const intent = found(stripe.records().intents.get(refund.intent));
    if (status === "failed" && refund.status !== "failed") intent.refunded -= refund.amount;
    refund.status = status;
  },
  refundsOf(intentId: string): Refund[] {
    return [...stripe.records().refunds.values()].filter(({ intent }) => intent === intentId);
  },
  /** An event as Stripe sends it, signed by Stripe's own library. */
  async event(
    type: string,
    object: Json,
    { secret = "whsec_tifo", timestamp = Math.floor(Date.now() / 1000), account }: EventOptions = {},
  ) {
    const body = JSON.stringify({
      id: `evt_${randomHex(8)}`,
      ...(account !== undefined && { account }),
      object: "event",
      api_version: null,
      created: timestamp,
      data: { object },
      livemode: false,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      type,
    });
    const cryptoProvider = Stripe.createSubtleCryptoProvider();
    const signature = await new Stripe("sk_test").webhooks.generateTestHeaderStringAsync({
      payload: body,
      secret,
      timestamp,
      cryptoProvider,
    });
    return { body: new Blob([body], { type: "application/json; charset=utf-8" }), headers: { "Stripe-Signature": signature } };
  },
};

/** Responds to a call as Stripe does, and throws where the connection is lost. */
export async function receive(url: URL, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  const account = headers.get("Stripe-Account") ?? "";
  const method = init.method ?? "GET";
  const text = typeof init.body === "string" ? init.body : "";
  const fields = Object.fromEntries(new URLSearchParams(method === "POST" ? text : url.search));
  stripe.calls.push({ method, path: url.pathname, account, fields });
  if (headers.get("Authorization") !== "Bearer sk_test_tifo") return errorResponse(401, "Invalid API Key provided");
  const index = behaviours.findIndex(({ path }) => path.test(`${method} ${url.pathname}`));
  const [behaviour] = index === -1 ? [] : behaviours.splice(index, 1);
  if (behaviour?.does === "fail") return errorResponse(500, "Something went wrong");
  if (behaviour?.does === "expiredKey") return errorResponse(401, "Expired API Key provided: sk_test_******tifo");
  if (behaviour?.does === "forbidden")
    return errorResponse(403, "The provided key 'sk_test_******tifo' does not have access to this account");
  if (behaviour?.does === "reject") return errorResponse(400, "This can't be done");
  const response = once(recordsOf(account), headers.get("Idempotency-Key"), `${url.pathname} ${text}`, () =>
    execute(account, method, url, fields),
  );
  if (behaviour?.does === "loseResponse") throw new TypeError("Network connection lost.");
  if (behaviour?.does === "failLate") return errorResponse(500, "Something went wrong");
  if (behaviour?.does === "hang") throw abortError(init.signal);
  return response;
}

/** How a hanging call ends, without the wait: the library aborts it through its signal after a timeout. */
function abortError(signal: AbortSignal | null | undefined): DOMException {
  if (!signal) throw new Error("A call without a signal would hang forever");
  return new DOMException("Aborted", "AbortError");
}

/** Repeats the first response to a repeated key, and rejects the key with other parameters. */
function once(records: AccountRecords, key: string | null, request: string, work: () => { status: number; body: Json }): Response {
  const before = key === null ? undefined : records.responses.get(key);
  if (before && before.request !== request)
    return errorResponse(400, "Keys for idempotent requests can only be used with the same parameters");
  const { status, body } = before ?? work();
  stripe.undocumentedFields.push(...undocumentedFields(body, stripe.objectKinds));
  if (key !== null && status < 500) records.responses.set(key, { request, status, body });
  return Response.json(body, { status });
}

function errorResponse(status: number, message: string, code?: string): Response {
  const headers = { "Stripe-Should-Retry": "false" };
  return Response.json({ error: { type: status < 500 ? "invalid_request_error" : "api_error", message, code } }, { status, headers });
}

function execute(account: string, method: string, { pathname }: URL, fields: Fields): { status: number; body: Json } {
  const records = recordsOf(account);
  const [, , kind = "", ...rest] = pathname.split("/");
  const ok = (body: Json) => ({ status: 200, body });
  const list = (data: Json[]) => ok({ object: "list", url: pathname, has_more: false, data });
  const missing = { status: 404, body: { error: { type: "invalid_request_error", code: "resource_missing", message: "No such object" } } };
  const missingField = (param: string) => ({ status: 400, body: { error: { ...missing.body.error, param } } });
  const bad = (message: string) => ({ status: 400, body: { error: { type: "invalid_request_error", message } } });
  switch (`${method} ${kind}`) {
    case "POST customers": {
      const id = `cus_${randomHex(7)}`;
      records.customers.set(id, fields);
      return ok({ id, object: "customer", email: fields.email ?? null, balance: 0, livemode: false, metadata: metadataOf(fields) });
    }
    case "POST checkout": {
      if (rest[1] === undefined && !records.customers.has(fields.customer ?? "")) return missingField("customer");
      if (fields["line_items[0][price]"] === "price_missing") return missingField("line_items[0][price]");
      if (rest[1] === undefined) return ok(showSession(records, newSession(records, fields)));
      const session = records.sessions.get(rest[1]);
      if (session?.status !== "open") return session ? bad("Only open sessions can be expired") : missing;
      session.status = "expired";
      return ok(showSession(records, session));
    }
    case "GET checkout": {
      const sessions = [...records.sessions.values()].filter(({ customer }) => customer === fields.customer);
      if (rest[1] === undefined) return list(sessions.map((one) => showSession(records, one, expanded(fields))));
      const session = records.sessions.get(rest[1]);
      return session ? ok(showSession(records, session, expanded(fields))) : missing;
    }
    case "GET prices":
      return ok({ id: rest[0], object: "price", currency: "gbp", unit_amount: 4200, livemode: false, metadata: {} });
    case "POST refunds": {
      const intent = records.intents.get(fields.payment_intent ?? "");
      const amount = Number(fields.amount);
      if (!intent) return missing;
      if (amount > intent.amount - intent.refunded) return bad("Refund amount is greater than unrefunded amount on charge");
      return ok(showRefund(newRefund(records, intent, amount, metadataOf(fields), fields.reason ?? null)));
    }
    case "GET refunds":
      return list([...records.refunds.values()].filter(({ intent }) => intent === fields.payment_intent).map((one) => showRefund(one)));
    case "GET invoices":
      return list(
        // Newest first.
        [...records.invoices.values()]
          .reverse()
          .flatMap((one) => (one.subscription === fields.subscription ? [showInvoice(one, expanded(fields))] : [])),
      );
    case "GET subscriptions":
    case "POST subscriptions":
    case "DELETE subscriptions": {
      const subscription = records.subscriptions.get(rest[0] ?? "");
      if (!subscription || (method === "DELETE" && subscription.status === "canceled")) return missing;
      if (method === "POST" && subscription.status === "canceled") return bad("A canceled subscription can't be changed");
      if (method === "DELETE") subscription.status = "canceled";
      if (method === "POST") subscription.scheduled = fields.cancel_at_period_end === "true";
      return ok(showSubscription(subscription));
    }
    case "POST payment_method_domains": {
      const name = fields.domain_name ?? [...records.domains].find(([, { id }]) => id === rest[0])?.[0] ?? "";
      const domain = records.domains.get(name) ?? { id: `pmd_${randomHex(7)}`, active: false };
      records.domains.set(name, domain);
      if (rest[1] === "validate") domain.active = stripe.appleDomains.has(name);
      const apple = { status: domain.active ? "active" : "inactive" };
      return ok({ id: domain.id, object: "payment_method_domain", domain_name: name, enabled: true, apple_pay: apple, livemode: false });
    }
    case "POST accounts":
    case "GET accounts":
    case "POST account_links":
      return connectResponse(`${method} ${kind}`, rest[0], fields);
    default:
      return missing;
  }
}

function newSession(records: AccountRecords, fields: Fields): Session {
  const recurring = fields.mode === "subscription";
  const session: Session = {
    id: `cs_test_${randomHex(10)}`,
    customer: fields.customer ?? "",
    reference: fields.client_reference_id ?? "",
    mode: fields.mode ?? "",
    amount: Number(fields["line_items[0][price_data][unit_amount]"] ?? 4200),
    currency: fields["line_items[0][price_data][currency]"] ?? "gbp",
    status: "open",
    paid: false,
    intent: null,
    subscription: null,
    invoice: null,
    metadata: metadataOf(fields, recurring ? "subscription_data" : "payment_intent_data"),
    fields,
    expires: Number(fields.expires_at),
  };
  records.sessions.set(session.id, session);
  return session;
}

function startSubscription(records: AccountRecords, session: Session, intent: Intent): void {
  const subscription: Subscription = {
    id: `sub_${randomHex(7)}`,
    status: "active",
    scheduled: false,
    cancelAt: null,
    periodEnd: Math.floor(Date.now() / 1000) + MONTH,
    amount: session.amount,
    currency: session.currency,
    metadata: session.metadata,
  };
  records.subscriptions.set(subscription.id, subscription);
  session.subscription = subscription.id;
  session.invoice = newInvoice(records, subscription, intent).id;
}

function newInvoice(
  records: AccountRecords,
  { id: subscription, amount, currency }: Subscription,
  intent: Intent,
  created = Math.floor(Date.now() / 1000),
): Invoice {
  const invoice = { id: `in_${randomHex(7)}`, subscription, intent: intent.id, amount, currency, created };
  records.invoices.set(invoice.id, invoice);
  return invoice;
}

function newIntent(records: AccountRecords, { amount, currency }: Pick<Intent, "amount" | "currency">, status: Intent["status"]): Intent {
  const intent: Intent = { id: `pi_${randomHex(7)}`, amount, currency, refunded: 0, status };
  records.intents.set(intent.id, intent);
  return intent;
}

function newRefund(records: AccountRecords, intent: Intent, amount: number, metadata: Fields, reason: string | null): Refund {
  const { id, currency } = intent;
  const refund: Refund = { id: `re_${randomHex(7)}`, intent: id, amount, currency, status: stripe.refundsBecome, metadata, reason };
  records.refunds.set(refund.id, refund);
  if (refund.status !== "failed") intent.refunded += amount;
  return refund;
}

function found<T>(object: T | undefined): T {
  if (object === undefined) throw new Error("Stripe has no such object");
  return object;
}
