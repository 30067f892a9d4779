import { env } from "cloudflare:workers";
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

// A small Stripe: the calls that the Worker makes, at the address where it makes them. It keeps state for each connected account, answers
// a repeated idempotency key with its first answer, and does as it is told when it is told to misbehave.

/**
 * What a call meets. `refuse`, `fail`, `locked` and `forbidden` do nothing, the last two for the key's sake; `lose`, `hang` and `stumble`
 * do it, and the answer is lost, late, or a 500.
 */
export type Behaviour = "work" | "fail" | "refuse" | "locked" | "forbidden" | "lose" | "hang" | "stumble";

const MONTH = 30 * 86_400;

interface EventOptions {
  secret?: string;
  timestamp?: number;
  /** The connected account that it happened at. */
  account?: string;
}

/** One account's books. */
class Books {
  readonly customers = new Map<string, Fields>();
  readonly sessions = new Map<string, Session>();
  readonly intents = new Map<string, Intent>();
  readonly refunds = new Map<string, Refund>();
  readonly subscriptions = new Map<string, Subscription>();
  readonly invoices = new Map<string, Invoice>();
  readonly domains = new Map<string, { id: string; active: boolean }>();
  readonly answers = new Map<string, { request: string; status: number; body: Json }>();
}

/** What the platform's key reaches, by connected account; "" is its own. */
const accounts = new Map<string, Books>();

function booksOf(account: string): Books {
  const books = accounts.get(account) ?? new Books();
  accounts.set(account, books);
  return books;
}

/** The books of the account at which something is kept. */
function booksWith(isKept: (books: Books) => boolean): Books {
  return found([...accounts.values()].find(isKept));
}
let behaviours: { path: RegExp; does: Behaviour }[] = [];
const outside = globalThis.fetch;

/** Whether refunds go through at once, later, or never. */
const told: { refundsBecome: Refund["status"] } = { refundsBecome: "succeeded" };

export const stripe = {
  /** Calls that came in, with the account that they were for. */
  calls: new Array<{ method: string; path: string; account: string; fields: Fields }>(),
  ...told,
  /** Fields of answers that Stripe's objects don't have, and the kinds of object that were answered with. */
  strange: new Array<string>(),
  seen: new Set<string>(),
  /** Domains that Apple finds its file on. */
  appleDomains: new Set<string>(["demo.example"]),
  /** Tells the next call of a path how to behave; several are met in turn. */
  next(path: RegExp, ...does: Behaviour[]): void {
    behaviours.push(...does.map((one) => ({ path, does: one })));
  },
  /** Works from now on, whatever was told before. */
  recover(): void {
    behaviours = [];
    stripe.refundsBecome = "succeeded";
  },
  /** What is kept at one account or, without its name, at all of them. */
  books(account?: string): Books {
    if (account !== undefined) return booksOf(account);
    const all = [...accounts.values()];
    return {
      customers: new JoinedMap(all.map(({ customers }) => customers)),
      sessions: new JoinedMap(all.map(({ sessions }) => sessions)),
      intents: new JoinedMap(all.map(({ intents }) => intents)),
      refunds: new JoinedMap(all.map(({ refunds }) => refunds)),
      subscriptions: new JoinedMap(all.map(({ subscriptions }) => subscriptions)),
      invoices: new JoinedMap(all.map(({ invoices }) => invoices)),
      domains: new JoinedMap(all.map(({ domains }) => domains)),
      answers: new JoinedMap(all.map(({ answers }) => answers)),
    };
  },
  /** The page that was opened for a charge. */
  pageOf(chargeId: string, account?: string): Session | undefined {
    return [...stripe.books(account).sessions.values()].find(({ reference }) => reference === chargeId);
  },
  /** A buyer pays the page of a charge, by card or by means that take days. */
  pay(chargeId: string, { later = false } = {}): Session {
    const session = found(stripe.pageOf(chargeId));
    const books = booksWith(({ sessions }) => sessions.has(session.id));
    session.status = "complete";
    session.paid = !later;
    const intent = newIntent(books, session, later ? "processing" : "succeeded");
    if (session.mode === "payment") session.intent = intent.id;
    else begin(books, session, intent);
    return session;
  },
  /** What takes days arrives, or doesn't. */
  arrive(chargeId: string, arrives = true): Session {
    const session = found(stripe.pageOf(chargeId));
    session.paid = arrives;
    const intent = stripe.books().intents.get(session.intent ?? "");
    if (intent) intent.status = arrives ? "succeeded" : "requires_payment_method";
    return session;
  },
  expire(chargeId: string): Session {
    const session = found(stripe.pageOf(chargeId));
    session.status = "expired";
    return session;
  },
  /** What comes by itself until now, for a site: pages expire, what is to end ends, and other periods are paid. */
  tick(siteId: string): void {
    const now = Math.floor(Date.now() / 1000);
    const { sessions, subscriptions } = stripe.books();
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
  /** The next period of a subscription is paid. */
  renew(subscriptionId: string): Invoice {
    const books = booksWith(({ subscriptions }) => subscriptions.has(subscriptionId));
    const subscription = found(books.subscriptions.get(subscriptionId));
    const begun = subscription.periodEnd;
    subscription.periodEnd += MONTH;
    return newInvoice(books, subscription, newIntent(books, subscription, "succeeded"), begun);
  },
  /** Somebody refunds at Stripe itself. */
  refundThere(intentId: string, amount: number): Refund {
    const books = booksWith(({ intents }) => intents.has(intentId));
    return newRefund(books, found(books.intents.get(intentId)), amount, {}, null);
  },
  /** What becomes of a refund that was on its way. */
  settle(refundId: string, status: Refund["status"]): void {
    const refund = found(stripe.books().refunds.get(refundId));
    const intent = found(stripe.books().intents.get(refund.intent));
    if (status === "failed" && refund.status !== "failed") intent.refunded -= refund.amount;
    refund.status = status;
  },
  refundsOf(intentId: string): Refund[] {
    return [...stripe.books().refunds.values()].filter(({ intent }) => intent === intentId);
  },
  /** An event as Stripe sends it: its bytes and their signature, made by its own library. */
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

Object.assign(globalThis, {
  fetch: async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input);
    return url.origin === env.TIFO_STRIPE_URL ? receive(url, init ?? {}) : outside(input, init);
  },
});

async function receive(url: URL, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  const account = headers.get("Stripe-Account") ?? "";
  const method = init.method ?? "GET";
  const text = typeof init.body === "string" ? init.body : "";
  const fields = Object.fromEntries(new URLSearchParams(method === "POST" ? text : url.search));
  stripe.calls.push({ method, path: url.pathname, account, fields });
  if (headers.get("Authorization") !== "Bearer sk_test_tifo") return refusal(401, "Invalid API Key provided");
  const told = behaviours.findIndex(({ path }) => path.test(`${method} ${url.pathname}`));
  const [behaviour] = told === -1 ? [] : behaviours.splice(told, 1);
  if (behaviour?.does === "fail") return refusal(500, "Something went wrong");
  if (behaviour?.does === "locked") return refusal(401, "Expired API Key provided: sk_test_******tifo");
  if (behaviour?.does === "forbidden") return refusal(403, "The provided key 'sk_test_******tifo' does not have access to this account");
  if (behaviour?.does === "refuse") return refusal(400, "This can't be done");
  const answer = once(booksOf(account), headers.get("Idempotency-Key"), `${url.pathname} ${text}`, () =>
    answerOf(account, method, url, fields),
  );
  if (behaviour?.does === "lose") throw new TypeError("Network connection lost.");
  if (behaviour?.does === "stumble") return refusal(500, "Something went wrong");
  if (behaviour?.does === "hang") throw hungUp(init.signal);
  return answer;
}

/** What becomes of a call that hangs, without the wait: the library aborts it by its signal when its time is over. */
function hungUp(signal: AbortSignal | null | undefined): DOMException {
  if (!signal) throw new Error("A call that can't be ended would hang for good");
  return new DOMException("Aborted", "AbortError");
}

/** A repeated key is answered as it was first, and with other parameters refused. */
function once(books: Books, key: string | null, request: string, work: () => { status: number; body: Json }): Response {
  const before = key === null ? undefined : books.answers.get(key);
  if (before && before.request !== request) return refusal(400, "Keys for idempotent requests can only be used with the same parameters");
  const { status, body } = before ?? work();
  stripe.strange.push(...undocumentedFields(body, stripe.seen));
  if (key !== null && status < 500) books.answers.set(key, { request, status, body });
  return Response.json(body, { status });
}

function refusal(status: number, message: string, code?: string): Response {
  const headers = { "Stripe-Should-Retry": "false" };
  return Response.json({ error: { type: status < 500 ? "invalid_request_error" : "api_error", message, code } }, { status, headers });
}

function answerOf(account: string, method: string, { pathname }: URL, fields: Fields): { status: number; body: Json } {
  const books = booksOf(account);
  const [, , kind = "", ...rest] = pathname.split("/");
  const ok = (body: Json) => ({ status: 200, body });
  const list = (data: Json[]) => ok({ object: "list", url: pathname, has_more: false, data });
  const missing = { status: 404, body: { error: { type: "invalid_request_error", code: "resource_missing", message: "No such thing" } } };
  const missingField = (param: string) => ({ status: 400, body: { error: { ...missing.body.error, param } } });
  const bad = (message: string) => ({ status: 400, body: { error: { type: "invalid_request_error", message } } });
  switch (`${method} ${kind}`) {
    case "POST customers": {
      const id = `cus_${randomHex(7)}`;
      books.customers.set(id, fields);
      return ok({ id, object: "customer", email: fields.email ?? null, balance: 0, livemode: false, metadata: metadataOf(fields) });
    }
    case "POST checkout": {
      if (rest[1] === undefined && !books.customers.has(fields.customer ?? "")) return missingField("customer");
      if (fields["line_items[0][price]"] === "price_missing") return missingField("line_items[0][price]");
      if (rest[1] === undefined) return ok(showSession(books, newSession(books, fields)));
      const session = books.sessions.get(rest[1]);
      if (session?.status !== "open") return session ? bad("Only open sessions can be expired") : missing;
      session.status = "expired";
      return ok(showSession(books, session));
    }
    case "GET checkout": {
      const theirs = [...books.sessions.values()].filter(({ customer }) => customer === fields.customer);
      if (rest[1] === undefined) return list(theirs.map((one) => showSession(books, one, expanded(fields))));
      const session = books.sessions.get(rest[1]);
      return session ? ok(showSession(books, session, expanded(fields))) : missing;
    }
    case "GET prices":
      return ok({ id: rest[0], object: "price", currency: "gbp", unit_amount: 4200, livemode: false, metadata: {} });
    case "POST refunds": {
      const intent = books.intents.get(fields.payment_intent ?? "");
      const amount = Number(fields.amount);
      if (!intent) return missing;
      if (amount > intent.amount - intent.refunded) return bad("Refund amount is greater than unrefunded amount on charge");
      return ok(showRefund(newRefund(books, intent, amount, metadataOf(fields), fields.reason ?? null)));
    }
    case "GET refunds":
      return list([...books.refunds.values()].filter(({ intent }) => intent === fields.payment_intent).map((one) => showRefund(one)));
    case "GET invoices":
      return list(
        // The newest first.
        [...books.invoices.values()]
          .reverse()
          .flatMap((one) => (one.subscription === fields.subscription ? [showInvoice(one, expanded(fields))] : [])),
      );
    case "GET subscriptions":
    case "POST subscriptions":
    case "DELETE subscriptions": {
      const subscription = books.subscriptions.get(rest[0] ?? "");
      if (!subscription || (method === "DELETE" && subscription.status === "canceled")) return missing;
      if (method === "POST" && subscription.status === "canceled") return bad("A canceled subscription can't be changed");
      if (method === "DELETE") subscription.status = "canceled";
      if (method === "POST") subscription.scheduled = fields.cancel_at_period_end === "true";
      return ok(showSubscription(subscription));
    }
    case "POST payment_method_domains": {
      const name = fields.domain_name ?? [...books.domains].find(([, { id }]) => id === rest[0])?.[0] ?? "";
      const domain = books.domains.get(name) ?? { id: `pmd_${randomHex(7)}`, active: false };
      books.domains.set(name, domain);
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

function newSession(books: Books, fields: Fields): Session {
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
  books.sessions.set(session.id, session);
  return session;
}

function begin(books: Books, session: Session, intent: Intent): void {
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
  books.subscriptions.set(subscription.id, subscription);
  session.subscription = subscription.id;
  session.invoice = newInvoice(books, subscription, intent).id;
}

function newInvoice(
  books: Books,
  { id: subscription, amount, currency }: Subscription,
  intent: Intent,
  created = Math.floor(Date.now() / 1000),
): Invoice {
  const invoice = { id: `in_${randomHex(7)}`, subscription, intent: intent.id, amount, currency, created };
  books.invoices.set(invoice.id, invoice);
  return invoice;
}

function newIntent(books: Books, { amount, currency }: Pick<Intent, "amount" | "currency">, status: Intent["status"]): Intent {
  const intent: Intent = { id: `pi_${randomHex(7)}`, amount, currency, refunded: 0, status };
  books.intents.set(intent.id, intent);
  return intent;
}

function newRefund(books: Books, intent: Intent, amount: number, metadata: Fields, reason: string | null): Refund {
  const { id, currency } = intent;
  const refund: Refund = { id: `re_${randomHex(7)}`, intent: id, amount, currency, status: stripe.refundsBecome, metadata, reason };
  books.refunds.set(refund.id, refund);
  if (refund.status !== "failed") intent.refunded += amount;
  return refund;
}

function found<T>(thing: T | undefined): T {
  if (thing === undefined) throw new Error("Stripe knows no such thing");
  return thing;
}
