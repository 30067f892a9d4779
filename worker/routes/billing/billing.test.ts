import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts } from "#db/schema/accounts.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { interruptedContext } from "#test/interrupted-context.ts";
import { openMailbox } from "#test/mailbox.ts";
import {
  type Buyer,
  callAs,
  chargeRow,
  chargesOf,
  entitlementsOf,
  heldSkus,
  makeBillingDue,
  newBundle,
  newBuyer,
  newPurchase,
  newSubscription,
  openCheckout,
  PAGES,
  reconcile,
  recurringRow,
  refund,
  sendStripeEvent,
  sendSubscriptionEvent,
} from "#test/purchases.ts";
import { stripe } from "#test/stripe-server.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { createCheckout } from "#worker/integrations/stripe.ts";
import { newId } from "#worker/lib/ids.ts";
import { settleCharge } from "#worker/services/billing/charges.ts";
import { pruneCharges } from "#worker/services/billing/reconcile.ts";
import { syncRecurring } from "#worker/services/billing/recurring.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Charge, CheckoutAnswer } from "#worker/services/billing/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const MINUTE = 60_000;

let site: TestSite;
let buyer: Buyer;

beforeAll(async () => {
  site = await newSite();
});

afterEach(() => stripe.recover());

async function eventTypes(resource: string): Promise<string[]> {
  const { results } = (await site.call("listEvents", { query: { limit: 200 } })).as(EventList);
  return results.filter((event) => event.resource === resource).map(({ type }) => type);
}

async function bought(fields: Record<string, unknown> = {}) {
  const purchase = await newPurchase(site, fields);
  ({ buyer } = purchase);
  return purchase;
}

describe("a payment", () => {
  test("grants the sku, gets a receipt number and emits both events, once", async () => {
    const { subscription, chargeId } = await bought();
    await sendStripeEvent(site, "checkout.session.completed", { object: "checkout.session", metadata: { chargeId } });
    const charge = await chargeRow(chargeId);
    expect(charge).toMatchObject({ status: "complete", refunded: 0 });
    expect(charge.receiptNumber).toMatch(/^R-20\d\d-[0-9A-Z]{8}$/);
    const rows = await entitlementsOf(buyer);
    expect(rows).toMatchObject([{ sku: subscription.sku, grantedMethod: "purchased", price: 1900, presentmentCurrency: "gbp" }]);
    expect(await eventTypes(`charge/${chargeId}`)).toEqual(["billing.checkoutStarted", "billing.chargeCompleted"]);
    expect(await eventTypes(`entitlement/${rows[0]?.id}`)).toEqual(["entitlement_purchased"]);
  });

  test("is recorded once, even if several events arrive concurrently", async () => {
    buyer = await newBuyer(site);
    const { chargeId } = await openCheckout(site, buyer, (await newSubscription(site))._id);
    stripe.pay(chargeId);
    const types = ["checkout.session.completed", "checkout.session.async_payment_succeeded", "checkout.session.completed"];
    const responses = await Promise.all(
      types.map((type) => sendStripeEvent(site, type, { object: "checkout.session", metadata: { chargeId } })),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await entitlementsOf(buyer)).toHaveLength(1);
    expect(await eventTypes(`charge/${chargeId}`)).toEqual(["billing.checkoutStarted", "billing.chargeCompleted"]);
  });

  test("is found by the cron if Stripe's event never arrives", async () => {
    buyer = await newBuyer(site);
    const subscription = await newSubscription(site);
    const { chargeId } = await openCheckout(site, buyer, subscription._id);
    stripe.pay(chargeId);
    await makeBillingDue(site);
    await reconcile();
    expect(await heldSkus(buyer)).toEqual([subscription.sku]);
  });

  test.each(["once", "month"])(
    "made %s for something that the buyer already holds is refunded and not charged again",
    async (recurrence) => {
      buyer = await newBuyer(site);
      const { _id: id, sku } = await newSubscription(site, { recurrence });
      const same = await newBundle(site, { sku, items: [{ type: "ticket", id: sku }] });
      const bundle = await callAs(site, buyer, "checkoutBundle", { params: { id: same.id }, body: PAGES });
      const opened = [bundle.as(CheckoutAnswer), await openCheckout(site, buyer, id)];
      const sessions = opened.map(({ chargeId }) => stripe.pay(chargeId));
      for (const { chargeId } of opened)
        await sendStripeEvent(site, "checkout.session.completed", { object: "checkout.session", metadata: { chargeId } });
      expect((await chargesOf(buyer)).map(({ status }) => status)).toEqual(["complete", "complete"]);
      stripe.behaveNext(/POST .*refunds/, "fail");
      for (const minutes of [0, 2, 14, 30]) await reconcile(Date.now() + minutes * MINUTE);
      const [first, second] = opened.map(({ chargeId }) => chargeRow(chargeId));
      expect(await first).toMatchObject({ refunded: 0 });
      expect(await second).toMatchObject({ refunded: 1900, due: null });
      expect(await heldSkus(buyer)).toEqual([sku]);
      const running = sessions.map(({ subscription }) => stripe.records().subscriptions.get(subscription ?? "")?.status);
      expect(running).toEqual(recurrence === "once" ? [undefined, undefined] : [undefined, "canceled"]);
    },
  );

  test("by a delayed method is pending until it arrives", async () => {
    buyer = await newBuyer(site);
    const subscription = await newSubscription(site);
    const { chargeId } = await openCheckout(site, buyer, subscription._id);
    stripe.pay(chargeId, { later: true });
    await sendStripeEvent(site, "checkout.session.completed", { object: "checkout.session", metadata: { chargeId } });
    expect((await chargeRow(chargeId)).status).toBe("pending");
    stripe.settlePayment(chargeId);
    await sendStripeEvent(site, "checkout.session.async_payment_succeeded", { object: "checkout.session", metadata: { chargeId } });
    expect(await heldSkus(buyer)).toEqual([subscription.sku]);
  });

  test("that fails is declined and grants nothing, as does an expired page", async () => {
    buyer = await newBuyer(site);
    const [one, other] = [await newSubscription(site), await newSubscription(site)];
    const [failed, expired] = [await openCheckout(site, buyer, one._id), await openCheckout(site, buyer, other._id)];
    stripe.pay(failed.chargeId, { later: true });
    stripe.settlePayment(failed.chargeId, false);
    stripe.expire(expired.chargeId);
    await sendStripeEvent(site, "checkout.session.async_payment_failed", {
      object: "checkout.session",
      metadata: { chargeId: failed.chargeId },
    });
    await sendStripeEvent(site, "checkout.session.expired", { object: "checkout.session", metadata: { chargeId: expired.chargeId } });
    expect(await chargeRow(failed.chargeId)).toMatchObject({ status: "declined", failure: "The payment failed" });
    expect(await chargeRow(expired.chargeId)).toMatchObject({ status: "declined", failure: "The payment page expired" });
    expect(await heldSkus(buyer)).toEqual([]);
  });

  test("sends the buyer a receipt", async () => {
    const mails = openMailbox();
    const { chargeId } = await bought();
    const { receiptNumber } = await chargeRow(chargeId);
    await vi.waitUntil(() => mails.some(({ to }) => to === buyer.email));
    const mail = mails.find(({ to }) => to === buyer.email);
    expect(mail?.subject).toContain(receiptNumber);
    expect(mail?.text).toContain("Cup pass: £19.00");
  });

  test("of a later period sends a receipt with the date of that payment", async () => {
    const mails = openMailbox();
    await bought({ recurrence: "month" });
    const { stripeSubscriptionId } = await recurringRow(buyer);
    const { created } = stripe.renew(stripeSubscriptionId);
    await sendSubscriptionEvent(site, stripeSubscriptionId);
    await vi.waitUntil(() => mails.filter(({ to }) => to === buyer.email).length === 2);
    const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" }).format(created * 1000);
    expect(mails.filter(({ to, text }) => to === buyer.email && text?.includes(day))).toHaveLength(1);
  });
});

describe("a Stripe event", () => {
  test("is rejected with a wrong, old or missing signature", async () => {
    const object = { object: "checkout.session" };
    const forged = await stripe.event("checkout.session.completed", object, { secret: "whsec_other" });
    const old = await stripe.event("checkout.session.completed", object, { timestamp: Math.floor(Date.now() / 1000) - 600 });
    for (const sent of [forged, old]) expect((await site.call("receiveStripeEvent", { as: "nobody", ...sent })).status).toBe(401);
    // The list of secrets contains an empty one, which must not count.
    const unkeyed = await stripe.event("checkout.session.completed", object, { secret: "" }).catch(() => forged);
    expect((await site.call("receiveStripeEvent", { as: "nobody", ...unkeyed })).status).toBe(401);
    const changed = { ...(await stripe.event("checkout.session.completed", object)), body: forged.body };
    expect((await site.call("receiveStripeEvent", { as: "nobody", ...changed })).status).toBe(401);
    expect((await site.call("receiveStripeEvent", { as: "nobody", body: forged.body })).status).toBe(401);
  });

  test("is accepted with the secret of any of the deployment's endpoints", async () => {
    for (const secret of ["whsec_tifo", "whsec_tifo_connected"]) {
      const sent = await stripe.event("customer.created", { id: "cus_1", object: "customer" }, { secret });
      expect((await site.call("receiveStripeEvent", { as: "nobody", ...sent })).status).toBe(200);
    }
  });

  test("about something unknown is accepted and changes nothing", async () => {
    expect((await sendStripeEvent(site, "customer.created", { id: "cus_1", object: "customer" })).status).toBe(200);
    const unknown = { object: "checkout.session", metadata: { chargeId: newId(Date.now()) } };
    expect((await sendStripeEvent(site, "checkout.session.completed", unknown)).status).toBe(200);
  });

  test("is not trusted beyond what Stripe's API confirms", async () => {
    buyer = await newBuyer(site);
    const { chargeId } = await openCheckout(site, buyer, (await newSubscription(site))._id);
    await sendStripeEvent(site, "checkout.session.completed", {
      object: "checkout.session",
      payment_status: "paid",
      metadata: { chargeId },
    });
    expect((await chargeRow(chargeId)).status).toBe("pending");
  });

  test("is a 503 while Stripe is unreachable, so that Stripe sends it again", async () => {
    buyer = await newBuyer(site);
    const { chargeId } = await openCheckout(site, buyer, (await newSubscription(site))._id);
    stripe.pay(chargeId);
    stripe.behaveNext(/GET .*sessions/, "fail");
    const response = await sendStripeEvent(site, "checkout.session.completed", { object: "checkout.session", metadata: { chargeId } });
    expect(response.status).toBe(503);
  });
});

describe("the list of charges", () => {
  test("shows an account its own charges, also by receipt number, and an admin those of any account", async () => {
    const { chargeId } = await bought();
    const { receiptNumber } = await chargeRow(chargeId);
    const own = (await callAs(site, buyer, "listCharges", { query: { receiptNumber: receiptNumber ?? "" } })).as(listOf(Charge));
    expect(own.results.map(({ _id }) => _id)).toEqual([chargeId]);
    const seen = (await site.call("listCharges", { as: "reader", query: { accountId: buyer.id, status: "complete" } })).as(listOf(Charge));
    expect(seen.results.map(({ _id }) => _id)).toEqual([chargeId]);
    const stranger = await newBuyer(site);
    expect((await callAs(site, stranger, "listCharges")).as(listOf(Charge)).results).toEqual([]);
    expect((await callAs(site, stranger, "listCharges", { query: { accountId: buyer.id } })).status).toBe(403);
  });

  test("loses unpaid charges after 90 days, and never paid ones", async () => {
    const { chargeId } = await bought();
    const { chargeId: expired } = await openCheckout(site, buyer, (await newSubscription(site))._id);
    stripe.expire(expired);
    await sendStripeEvent(site, "checkout.session.expired", { object: "checkout.session", metadata: { chargeId: expired } });
    await pruneCharges({ db, now: Date.now() + 91 * 24 * 60 * MINUTE });
    expect((await chargesOf(buyer)).map(({ id }) => id)).toEqual([chargeId]);
  });
});

describe("a deployment without keys", () => {
  test("responds that billing is not configured", async () => {
    const bare = { ...env, TIFO_STRIPE_KEY: "" };
    const request = {
      chargeId: newId(Date.now()),
      siteId: site.id,
      customerId: "cus_1",
      name: "Cup pass",
      amount: 1,
      currency: "gbp",
      recurrence: null,
      priceId: null,
      feeBasisPoints: 0,
      ...PAGES,
      expiresAt: 0,
    };
    await expect(createCheckout(bare, null, request)).rejects.toMatchObject({ code: "billing_not_configured" });
  });
});

describe("Apple Pay", () => {
  test("can be offered once Stripe has verified the domain, only on the site's own domains", async () => {
    const verify = (body: Record<string, unknown>) => site.call("verifyApplePay", { body });
    expect((await verify({})).body).toBe(true);
    stripe.appleDomains.delete("demo.example");
    expect((await verify({ domain: "demo.example" })).body).toBe(false);
    stripe.appleDomains.add("demo.example");
    expect((await verify({ domain: "other.example" })).fields).toEqual(["domain"]);
  });
});

test("a period recorded while its entitlement changes extends the entitlement once", async () => {
  const { chargeId } = await bought({ recurrence: "month" });
  const [before] = await entitlementsOf(buyer);
  const recurring = await recurringRow(buyer);
  stripe.renew(recurring.stripeSubscriptionId);
  let meanwhile: Promise<unknown> | undefined;
  await syncRecurring(
    interruptedContext(site, () => (meanwhile ??= refund(site, buyer, chargeId, 500))),
    recurring,
  );
  expect(await entitlementsOf(buyer)).toMatchObject([{ refunded: 0, dateEnds: (before?.dateEnds ?? 0) + 30 * 24 * 60 * MINUTE }]);
  expect(await eventTypes(`entitlement/${before?.id}`)).toEqual(["entitlement_purchased", "entitlement_refunded", "entitlement_renewed"]);
  expect(await chargesOf(buyer)).toMatchObject([{ refunded: 500 }, { status: "complete", refunded: 0 }]);
});

test("deleting an account ends its recurring payments", async () => {
  await bought({ recurrence: "month" });
  const { stripeSubscriptionId } = await recurringRow(buyer);
  await site.call("deleteAccount", { as: "admin", params: { id: buyer.id } });
  stripe.behaveNext(new RegExp(`DELETE .*${stripeSubscriptionId}`), "fail");
  await reconcile().catch(() => undefined);
  expect(stripe.records().subscriptions.get(stripeSubscriptionId)?.status).toBe("active");
  await reconcile(Date.now() + 6 * MINUTE);
  expect(stripe.records().subscriptions.get(stripeSubscriptionId)?.status).toBe("canceled");
  expect(await recurringRow(buyer)).toMatchObject({ status: "cancelled", due: null });
});

describe("a concurrently deleted account", () => {
  /** Deletes the buyer's account between a verb's first read and its write. */
  function whileDeleting() {
    let deletion: Promise<unknown> | undefined;
    return interruptedContext(site, () => (deletion ??= site.call("deleteAccount", { as: "admin", params: { id: buyer.id } })));
  }

  test("stops paying, even if an older response from Stripe is recorded afterwards", async () => {
    await bought({ recurrence: "month" });
    const recurring = await recurringRow(buyer);
    const theirs = stripe.records().subscriptions.get(recurring.stripeSubscriptionId);
    if (theirs) theirs.status = "past_due";
    await syncRecurring(whileDeleting(), recurring);
    await reconcile(Date.now() + 6 * MINUTE);
    expect(theirs?.status).toBe("canceled");
  });

  test.each(["once", "month"])("holds nothing that was paid %s, and isn't charged again", async (recurrence) => {
    buyer = await newBuyer(site);
    const { chargeId } = await openCheckout(site, buyer, (await newSubscription(site, { recurrence }))._id);
    const { subscription } = stripe.pay(chargeId);
    await settleCharge(whileDeleting(), await chargeRow(chargeId));
    expect((await chargeRow(chargeId)).status).toBe("complete");
    expect(await heldSkus(buyer)).toEqual([]);
    await reconcile(Date.now() + 6 * MINUTE);
    if (subscription !== null) expect(stripe.records().subscriptions.get(subscription)?.status).toBe("canceled");
  });

  test("stops paying, even if its subscription wasn't marked to stop", async () => {
    await bought({ recurrence: "month" });
    const { stripeSubscriptionId } = await recurringRow(buyer);
    await db.delete(accounts).where(eq(accounts.id, buyer.id));
    await reconcile();
    expect(stripe.records().subscriptions.get(stripeSubscriptionId)?.status).toBe("canceled");
  });
});
