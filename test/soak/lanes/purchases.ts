import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import { SITE_A } from "#db/demo/match-day.ts";
import { stripeAccounts } from "#test/stripe-accounts.ts";
import { stripe } from "#test/stripe-stand-in.ts";
import { demoAdmin, newFan, type Fan } from "../fan.ts";
import { PUBLIC, type Api } from "../api.ts";
import type { Lane, Outcome } from "../lane.ts";

const BUYERS = 3;
const PRICE = 1900;
/** Every third purchase is refunded, half of it or all. */
const REFUNDED = 3;
/** The first request with the key is still running, or its server has died less than a minute ago. */
const IN_FLIGHT = "idempotency_in_flight";
/** It took effect, but its response was lost. */
const UNANSWERED = "idempotency_unanswered";

const Created = z.object({ _id: z.string(), sku: z.string() });
const Checkout = z.object({ chargeId: z.string() });
const Problem = z.object({ code: z.string().optional() });
const Charges = z.object({
  results: z.array(z.object({ _id: z.string(), status: z.string(), refunded: z.number(), refundPending: z.number() })),
  pagination: z.object({ next: z.string().nullable() }),
});
const Entitlements = z.object({
  results: z.array(z.object({ entitlement: z.string(), status: z.string() })),
  pagination: z.object({ next: z.string().nullable() }),
});

interface Purchase {
  buyer: Fan;
  sku: string;
  chargeId: string;
  /** How much was asked back. */
  returned: number;
}

/** Purchases and refunds at the stand-in for Stripe: the books agree with Stripe's, and who has paid has what was sold. */
export class Purchases implements Lane {
  readonly name = "purchases";
  readonly pauseMs = 2_000;
  readonly #api: Api;
  readonly #admin: Fan;
  readonly #buyers: Fan[] = [];
  readonly #purchases: Purchase[] = [];
  readonly #rejected: string[] = [];
  #turn = 0;

  constructor(api: Api) {
    this.#api = api;
    this.#admin = demoAdmin(api);
  }

  /** The site connects its Stripe account, whose owner completes Stripe's form. */
  async prepare(): Promise<void> {
    await this.#api.succeed("/billing/v1/connect", { method: "POST", body: CONNECT_PAGES });
    for (const { id } of stripeAccounts.of(SITE_A)) stripeAccounts.complete(id);
    await this.#api.succeed("/billing/v1/connect");
    for (let number = 0; number < BUYERS; number++) this.#buyers.push(await newFan(this.#api, `buyer-${number}`));
  }

  async step(): Promise<void> {
    const buyer = this.#buyers[this.#turn++ % BUYERS];
    const product = await this.#newProduct();
    const checkout = await buyer?.decide(`/subscription/v2/${product._id}/checkout`, PAGES);
    if (!buyer || checkout?.status !== 200) return void this.#rejected.push(`checkout ${product.sku}: ${checkout?.status}`);
    const { chargeId } = Checkout.parse(checkout.body);
    const session = stripe.pay(chargeId);
    const metadata = { chargeId, siteId: SITE_A };
    await this.#notify("checkout.session.completed", { id: session.id, object: "checkout.session", metadata });
    const purchase = { buyer, sku: product.sku, chargeId, returned: 0 };
    this.#purchases.push(purchase);
    if (this.#turn % REFUNDED === 0) await this.#refund(purchase, this.#turn % 2 === 0 ? PRICE : PRICE / 2);
  }

  async compare(): Promise<Outcome> {
    const wrong = [...this.#rejected];
    for (const buyer of this.#buyers) {
      const charges = await all(buyer, "/billing/v1/charges?limit=200", Charges);
      const held = await all(buyer, "/subscription/v2/account?limit=200", Entitlements);
      for (const { chargeId, sku, returned } of this.#purchases.filter((one) => one.buyer === buyer)) {
        const charge = charges.find(({ _id }) => _id === chargeId);
        const intent = stripe.records().intents.get(stripe.checkoutSessionOf(chargeId)?.intent ?? "");
        const owned = held.filter(({ entitlement, status }) => entitlement === sku && status !== "cancelled").length;
        if (intent?.refunded !== returned) wrong.push(`charge ${chargeId}: Stripe has refunded ${intent?.refunded} instead of ${returned}`);
        if (charge?.status !== "complete" || charge.refunded !== returned || charge.refundPending !== 0)
          wrong.push(`charge ${chargeId}: ${JSON.stringify(charge)} instead of ${returned} refunded`);
        if (owned !== (returned === PRICE ? 0 : 1)) wrong.push(`${sku}, of which ${returned} was refunded: held ${owned} times`);
      }
    }
    return { acknowledged: this.#purchases.length, wrong };
  }

  /** A product without a response may exist: the next attempt makes another. */
  async #newProduct(): Promise<z.output<typeof Created>> {
    for (;;) {
      const response = await this.#api.request("/subscription/v2", { method: "POST", body: { ...PRODUCT, sku: `soak-${randomUUID()}` } });
      if (response && response.status < 300) return Created.parse(response.body);
      await sleep(200);
    }
  }

  /** Stripe repeats an event until it has a response. */
  async #notify(type: string, object: Record<string, unknown>): Promise<void> {
    const { body, headers } = await stripe.event(type, object);
    const { status } = await this.#api.decide("/billing/v1/stripe/webhook", { method: "POST", body, headers: { ...PUBLIC, ...headers } });
    if (status >= 300) this.#rejected.push(`${type}: ${status}`);
  }

  /** The key makes a repetition return the first refund. */
  async #refund(purchase: Purchase, amount: number): Promise<void> {
    const body = { accountId: purchase.buyer.id, chargeId: purchase.chargeId, reason: "requested_by_customer", amount };
    const key = randomUUID();
    purchase.returned = amount;
    for (;;) {
      const { status, body: answer } = await this.#admin.decide("/billing/v1/refund", body, key);
      const { code } = Problem.parse(answer);
      if (status === 200 || code === UNANSWERED) return;
      if (code !== IN_FLIGHT) return void this.#rejected.push(`refund ${purchase.chargeId}: ${status} ${code}`);
      await sleep(1_000);
    }
  }
}

/** All pages of a list of the buyer's. */
async function all<T>(buyer: Fan, path: string, Page: z.ZodType<{ results: T[]; pagination: { next: string | null } }>): Promise<T[]> {
  const found: T[] = [];
  for (let next: string | null = path; next !== null;) {
    const page: { results: T[]; pagination: { next: string | null } } = Page.parse((await buyer.decide(next)).body);
    found.push(...page.results);
    next = page.pagination.next === null ? null : path.replace(/\?.*/, "") + page.pagination.next.slice(page.pagination.next.indexOf("?"));
  }
  return found;
}

const PAGES = { successUrl: "https://demo.example/thanks", cancelUrl: "https://demo.example/shop" };
const CONNECT_PAGES = { returnUrl: "https://demo.example/done", refreshUrl: "https://demo.example/again" };
const PRODUCT = {
  siteId: SITE_A,
  name: "Soak pass",
  subscriptionProvider: "stripe",
  recurrence: "once",
  prices: [{ currency: "gbp", default: true, value: PRICE }],
};
