import { eq } from "drizzle-orm";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts } from "#db/schema/accounts.ts";
import { type ChargeRow, charges } from "#db/schema/commerce/billing.ts";
import { wallets } from "#db/schema/commerce/wallets.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { interruptedContext } from "#test/interrupted-context.ts";
import {
  buy,
  type Buyer,
  callAs,
  chargeRow,
  chargesOf,
  heldSkus,
  makeBillingDue,
  newBuyer,
  newSubscription,
  openCheckout,
  PAGES,
  reconcile,
  recurringRow,
  refund,
  sendStripeEvent,
  sendRefundEvent,
  sendSubscriptionEvent,
  walletIdOf,
} from "#test/purchases.ts";
import { stripe } from "#test/stripe-server.ts";
import { checkoutSubscription } from "#worker/services/billing/checkout.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { CheckoutAnswer } from "#worker/services/billing/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const MINUTE = 60_000;

let site: TestSite;
let buyer: Buyer;

beforeAll(async () => {
  site = await newSite();
});

afterEach(() => stripe.recover());

/** A site with a platform fee of 2.5 %. */
async function newClub(): Promise<TestSite> {
  const club = await newSite();
  const params = { siteId: club.id };
  await club.call("replaceSiteFeatures", { params, body: { features: {}, contractServiceChargeRate: 250 } });
  return club;
}

describe("a checkout", () => {
  test("opens a page at the default price, with a charge that is pending until it is paid", async () => {
    buyer = await newBuyer(site);
    const subscription = await newSubscription(site);
    const { chargeId, url } = await openCheckout(site, buyer, subscription._id);
    expect(url).toMatch(/^https:\/\/checkout\.stripe\.com\//);
    expect(stripe.checkoutSessionOf(chargeId)).toMatchObject({ amount: 1900, currency: "gbp", mode: "payment" });
    expect(await chargeRow(chargeId)).toMatchObject({ status: "pending", amount: 1900, receiptNumber: null });
    expect(await heldSkus(buyer)).toEqual([]);
  });

  test("accepts any currency of the prices, and no other", async () => {
    buyer = await newBuyer(site);
    const subscription = await newSubscription(site);
    const { chargeId } = await openCheckout(site, buyer, subscription._id, { currency: "eur" });
    expect(stripe.checkoutSessionOf(chargeId)).toMatchObject({ amount: 2200, currency: "eur" });
    const params = { id: subscription._id };
    const other = await callAs(site, buyer, "checkoutSubscription", { params, body: { ...PAGES, currency: "usd" } });
    expect(other.fields).toEqual(["currency"]);
  });

  test("rejects return URLs outside the site's own origins", async () => {
    buyer = await newBuyer(site);
    const { _id: id } = await newSubscription(site);
    for (const field of ["successUrl", "cancelUrl"]) {
      const body = { ...PAGES, [field]: "https://evil.example/" };
      expect((await callAs(site, buyer, "checkoutSubscription", { params: { id }, body })).fields).toEqual([field]);
    }
    expect(await chargesOf(buyer)).toEqual([]);
  });

  test("is rejected for a subscription that is already held, isn't sold through Stripe or has no price", async () => {
    buyer = await newBuyer(site);
    const subscription = await newSubscription(site);
    await buy(site, buyer, subscription._id);
    const external = await newSubscription(site, { subscriptionProvider: "external" });
    const free = await newSubscription(site, { prices: [] });
    for (const { _id: id } of [subscription, external, free]) {
      expect((await callAs(site, buyer, "checkoutSubscription", { params: { id }, body: PAGES })).status).toBe(409);
    }
  });

  test("pays the site's own account, minus the contract's service charge", async () => {
    const other = await newClub();
    const fan = await newBuyer(other);
    const once = await openCheckout(other, fan, (await newSubscription(other))._id);
    const monthly = await openCheckout(other, fan, (await newSubscription(other, { recurrence: "month" }))._id);
    const fieldsOf = ({ chargeId }: { chargeId: string }) => stripe.checkoutSessionOf(chargeId, `acct_${other.id}`)?.fields;
    const named = await openCheckout(other, fan, (await newSubscription(other, { stripePlanId: "price_season" }))._id);
    // 2.5 % of 4200, Stripe's own price.
    expect(fieldsOf(named)?.["payment_intent_data[application_fee_amount]"]).toBe("105");
    // 2.5 % of 1900, rounded.
    expect(fieldsOf(once)?.["payment_intent_data[application_fee_amount]"]).toBe("48");
    expect(fieldsOf(monthly)?.["subscription_data[application_fee_percent]"]).toBe("2.5");
  });

  test("uses the subscription's price at Stripe if it has one", async () => {
    buyer = await newBuyer(site);
    const subscription = await newSubscription(site, { stripePlanId: "price_season" });
    const { chargeId } = await openCheckout(site, buyer, subscription._id);
    expect(stripe.checkoutSessionOf(chargeId)?.fields["line_items[0][price]"]).toBe("price_season");
    stripe.pay(chargeId);
    await sendStripeEvent(site, "checkout.session.completed", { object: "checkout.session", metadata: { chargeId } });
    // What Stripe charged, not our own price.
    expect(await chargeRow(chargeId)).toMatchObject({ amount: 4200, currency: "gbp" });
  });

  test("creates one customer per buyer, even if Stripe's response is lost", async () => {
    buyer = await newBuyer(site);
    const { _id: id } = await newSubscription(site);
    const before = stripe.records().customers.size;
    stripe.behaveNext(/POST \/v1\/customers/, "loseResponse");
    await openCheckout(site, buyer, id);
    await openCheckout(site, buyer, id);
    expect(stripe.records().customers.size).toBe(before + 1);
  });

  test("stores the customer id, even if the wallet changes while Stripe creates the customer", async () => {
    buyer = await newBuyer(site);
    const { _id: id } = await newSubscription(site);
    const walletId = await walletIdOf(site, buyer);
    const before = stripe.records().customers.size;
    let paid = false;
    const ctx: Ctx = {
      ...interruptedContext(site, async () => undefined),
      caller: async () => {
        if (!paid && stripe.records().customers.size > before) {
          paid = true;
          await db.update(wallets).set({ balance: 500, version: 2 }).where(eq(wallets.id, walletId));
        }
        return { kind: "account", id: buyer.id, sessionId: "", roles: [], tags: [] };
      },
    };
    const { chargeId } = await checkoutSubscription(ctx, id, PAGES);
    const [wallet] = await db.select().from(wallets).where(eq(wallets.id, walletId));
    expect(wallet).toMatchObject({ balance: 500, paymentCustomerId: stripe.checkoutSessionOf(chargeId)?.customer });
  });

  test("closes the open page for the same item", async () => {
    buyer = await newBuyer(site);
    const { _id: id } = await newSubscription(site);
    const first = await openCheckout(site, buyer, id);
    const second = await openCheckout(site, buyer, id, { currency: "eur" });
    expect(stripe.checkoutSessionOf(first.chargeId)?.status).toBe("expired");
    expect(stripe.checkoutSessionOf(second.chargeId)?.status).toBe("open");
    expect((await chargeRow(first.chargeId)).status).toBe("declined");
  });

  test("detects that the open page for the same item has been paid", async () => {
    buyer = await newBuyer(site);
    const { _id: id, sku } = await newSubscription(site);
    const { chargeId } = await openCheckout(site, buyer, id);
    stripe.pay(chargeId);
    expect((await callAs(site, buyer, "checkoutSubscription", { params: { id }, body: PAGES })).status).toBe(409);
    expect(await heldSkus(buyer)).toEqual([sku]);
    expect(await chargesOf(buyer)).toMatchObject([{ status: "complete" }]);
  });

  test.each(["gone", "forbidden"])(
    "isn't blocked by an old page that is %s at Stripe once that can't be paid any more",
    async (trouble) => {
      buyer = await newBuyer(site);
      const { _id: id } = await newSubscription(site);
      const { chargeId } = await openCheckout(site, buyer, id);
      const openAgain = () => {
        if (trouble === "forbidden") stripe.behaveNext(/POST .*expire/, "forbidden");
        else stripe.records().sessions.delete(stripe.checkoutSessionOf(chargeId)?.id ?? "");
        return callAs(site, buyer, "checkoutSubscription", { params: { id }, body: PAGES });
      };
      expect((await openAgain()).status).toBe(503);
      const change = (fields: Partial<ChargeRow>) => db.update(charges).set(fields).where(eq(charges.id, chargeId));
      await change({ created: Date.now() - 121 * MINUTE });
      expect((await openAgain()).status).toBe(200);
      // Otherwise the cron would sync it in later tests.
      await change({ status: "declined", due: null });
    },
  );

  test("is rejected while a payment for the same item is in progress", async () => {
    buyer = await newBuyer(site);
    const { _id: id } = await newSubscription(site);
    const { chargeId } = await openCheckout(site, buyer, id);
    stripe.pay(chargeId, { later: true });
    expect((await callAs(site, buyer, "checkoutSubscription", { params: { id }, body: PAGES })).status).toBe(409);
    stripe.settlePayment(chargeId, false);
    expect((await openCheckout(site, buyer, id)).chargeId).not.toBe(chargeId);
  });

  test("that Stripe rejects is declined with the reason", async () => {
    buyer = await newBuyer(site);
    const { _id: id } = await newSubscription(site);
    stripe.behaveNext(/POST .*sessions/, "reject");
    const rejected = await callAs(site, buyer, "checkoutSubscription", { params: { id }, body: PAGES });
    expect(rejected.status).toBe(409);
    expect(await chargesOf(buyer)).toMatchObject([{ status: "declined", failure: "This can't be done" }]);
  });

  test.each(["expiredKey", "forbidden"] as const)(
    "stays pending while Stripe's error is %s, and doesn't reveal the key",
    async (trouble) => {
      buyer = await newBuyer(site);
      const { _id: id } = await newSubscription(site);
      stripe.behaveNext(/POST .*sessions/, trouble);
      const response = await callAs(site, buyer, "checkoutSubscription", { params: { id }, body: PAGES });
      expect([response.status, response.problem?.code]).toEqual([503, "unavailable"]);
      expect(response.text).not.toContain("sk_test");
      expect(await chargesOf(buyer)).toMatchObject([{ status: "pending", failure: null }]);
    },
  );

  test.each(["hang", "fail"] as const)("stays pending if Stripe's behaviour is %s, and is settled by the cron", async (misbehaviour) => {
    buyer = await newBuyer(site);
    const { _id: id } = await newSubscription(site);
    stripe.behaveNext(/POST .*sessions/, misbehaviour, misbehaviour);
    const response = await callAs(site, buyer, "checkoutSubscription", { params: { id }, body: PAGES });
    expect(response.problem?.code).toBe("unavailable");
    const [charge] = await chargesOf(buyer);
    expect(charge).toMatchObject({ status: "pending", stripeSessionId: null });
    await makeBillingDue(site);
    await reconcile();
    const [synced] = await chargesOf(buyer);
    // One page was opened but the response was lost; the other request may still be in flight.
    expect(synced?.status).toBe("pending");
    expect(synced?.stripeSessionId === null).toBe(misbehaviour === "fail");
    await makeBillingDue(site);
    await reconcile(Date.now() + 11 * MINUTE);
    expect((await chargesOf(buyer))[0]?.status).toBe(misbehaviour === "fail" ? "declined" : "pending");
  });

  test.each([
    ["customer", /POST .*customers/],
    ["page", /POST .*sessions/],
  ])("can be retried with its Idempotency-Key after creating the %s failed, and opens one page", async (_, path) => {
    buyer = await newBuyer(site);
    const { _id: id } = await newSubscription(site);
    const headers = { "Idempotency-Key": `buy-${id}` };
    const openOnce = () => callAs(site, buyer, "checkoutSubscription", { params: { id }, body: PAGES, headers });
    stripe.behaveNext(path, "failLate");
    expect((await openOnce()).problem?.code).toBe("unavailable");
    const opened = await openOnce();
    expect(opened.status).toBe(200);
    expect(await openOnce()).toMatchObject({ status: 200, body: opened.body });
    const pages = (await chargesOf(buyer)).filter(({ stripeSessionId }) => stripeSessionId !== null);
    expect(pages.map((charge) => charge.id)).toEqual([opened.as(CheckoutAnswer).chargeId]);
  });

  test.each(["isk", "ugx"])("in %s converts between Stripe's hundredths and our whole units", async (currency) => {
    buyer = await newBuyer(site);
    const prices = [{ currency, default: true, value: 1900 }];
    const [once, monthly] = [await newSubscription(site, { prices }), await newSubscription(site, { prices, recurrence: "month" })];
    const chargeId = await buy(site, buyer, once._id);
    expect(stripe.checkoutSessionOf(chargeId)).toMatchObject({ amount: 190_000, currency });
    expect(await chargeRow(chargeId)).toMatchObject({ status: "complete", amount: 1900, currency });
    await refund(site, buyer, chargeId, 700);
    const paymentId = (await chargeRow(chargeId)).stripePaymentId ?? "";
    expect(stripe.refundsOf(paymentId)).toMatchObject([{ amount: 70_000 }]);
    stripe.refundAtStripe(paymentId, 20_000);
    await sendRefundEvent(site, chargeId);
    expect((await chargeRow(chargeId)).refunded).toBe(900);
    await buy(site, buyer, monthly._id);
    const { stripeSubscriptionId } = await recurringRow(buyer);
    stripe.renew(stripeSubscriptionId);
    await sendSubscriptionEvent(site, stripeSubscriptionId);
    expect((await chargesOf(buyer)).map(({ amount }) => amount)).toEqual([1900, 1900, 1900]);
  });

  test("in a three-decimal currency accepts only amounts that end in 0", async () => {
    buyer = await newBuyer(site);
    const prices = (value: number) => [{ currency: "kwd", default: true, value }];
    const body = { siteId: site.id, name: "Cup pass", sku: "kuwait-pass", subscriptionProvider: "stripe", recurrence: "once" };
    expect((await site.call("createSubscription", { body: { ...body, prices: prices(1905) } })).fields).toEqual(["prices.0.value"]);
    const bundle = { name: "Derby", sku: "kuwait-derby", price: 1905, presentmentCurrency: "kwd", items: [{ type: "ticket", id: "t" }] };
    expect((await site.call("createBundle", { body: bundle })).fields).toEqual(["price"]);
    const chargeId = await buy(site, buyer, (await newSubscription(site, { prices: prices(1900) }))._id);
    expect((await refund(site, buyer, chargeId, 905)).errorMessage).toContain("end in 0");
    expect(await refund(site, buyer, chargeId, 900)).toMatchObject({ success: true });
  });

  test("uses the customer id that the operator set in the wallet, also at the site's own account", async () => {
    const club = await newClub();
    const fan = await newBuyer(club);
    const paymentCustomerId = `cus_${fan.id}`;
    stripe.records(`acct_${club.id}`).customers.set(paymentCustomerId, {});
    const body = { siteId: club.id, ownerId: fan.id, ownerType: "account", paymentCustomerId };
    expect((await site.call("insertWallet", { body })).status).toBe(201);
    const { chargeId } = await openCheckout(club, fan, (await newSubscription(club))._id);
    expect(stripe.checkoutSessionOf(chargeId, `acct_${club.id}`)?.customer).toBe(paymentCustomerId);
  });

  test("creates a new customer each time the customer was deleted at Stripe", async () => {
    buyer = await newBuyer(site);
    const { _id: id } = await newSubscription(site);
    const seen = new Set<string>();
    for (let times = 0; times < 3; times++) {
      const { chargeId } = await openCheckout(site, buyer, id);
      const customer = stripe.checkoutSessionOf(chargeId)?.customer ?? "";
      expect((await callAs(site, buyer, "getWallet")).body).toMatchObject({ paymentCustomerId: customer });
      seen.add(customer);
      stripe.records().customers.delete(customer);
    }
    expect(seen.size).toBe(3);
  });

  test("creates no second customer for a price that Stripe doesn't know", async () => {
    buyer = await newBuyer(site);
    const { _id: id } = await newSubscription(site, { stripePlanId: "price_missing" });
    const customers = stripe.records().customers.size;
    expect((await callAs(site, buyer, "checkoutSubscription", { params: { id }, body: PAGES })).status).toBe(409);
    expect(stripe.records().customers.size).toBe(customers + 1);
  });

  test("works for a buyer whose address changed after Stripe's response was lost", async () => {
    buyer = await newBuyer(site);
    const { _id: id } = await newSubscription(site);
    stripe.behaveNext(/POST .*customers/, "failLate");
    expect((await callAs(site, buyer, "checkoutSubscription", { params: { id }, body: PAGES })).status).toBe(503);
    await db
      .update(accounts)
      .set({ email: `new-${buyer.email}` })
      .where(eq(accounts.id, buyer.id));
    const { chargeId } = await openCheckout(site, buyer, id);
    expect(stripe.records().customers.get(stripe.checkoutSessionOf(chargeId)?.customer ?? "")).toMatchObject({
      email: `new-${buyer.email}`,
    });
  });

  test("prevents renaming or deleting its sku until the page is paid or expired", async () => {
    buyer = await newBuyer(site);
    const { _id: id, sku } = await newSubscription(site);
    const { chargeId } = await openCheckout(site, buyer, id);
    const rename = () => site.call("updateSubscription", { params: { id }, body: { sku: `${sku}-new` } });
    const remove = () => site.call("deleteSubscription", { params: { id } });
    for (const change of [rename, remove]) {
      const { status, problem } = await change();
      expect(status).toBe(409);
      expect(problem?.message).toContain(`pages are open for ${sku}`);
    }
    stripe.expire(chargeId);
    await sendStripeEvent(site, "checkout.session.expired", { object: "checkout.session", metadata: { chargeId } });
    expect((await rename()).status).toBe(200);
    expect((await remove()).status).toBe(200);
  });
});
