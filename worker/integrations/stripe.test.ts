import { eq } from "drizzle-orm";
import { afterEach, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { connectedAccounts } from "#db/schema/commerce/billing.ts";
import { newSite } from "#test/harness.ts";
import {
  buy,
  callAs,
  newBuyer,
  newSubscription,
  openCheckout,
  PAGES,
  reconcile,
  recurringRow,
  refund,
  sendRefundEvent,
} from "#test/purchases.ts";
import { STRIPE_KEYS } from "#test/stripe-keys.ts";
import { stripe } from "#test/stripe-server.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);

afterEach(() => stripe.recover());

test("the fake Stripe server only returns fields that Stripe's objects have", async () => {
  const site = await newSite();
  const buyer = await newBuyer(site);
  const [once, monthly] = [await newSubscription(site), await newSubscription(site, { recurrence: "month" })];
  await openCheckout(site, buyer, once._id);
  await callAs(site, buyer, "checkoutSubscription", { params: { id: once._id }, body: PAGES });
  const chargeId = await buy(site, buyer, once._id);
  await buy(site, buyer, monthly._id);
  const { stripeSubscriptionId } = await recurringRow(buyer);
  stripe.renew(stripeSubscriptionId);
  await refund(site, buyer, chargeId);
  await sendRefundEvent(site, chargeId);
  await reconcile();
  await db.delete(connectedAccounts).where(eq(connectedAccounts.siteId, site.id));
  await site.call("connectStripe", { body: { returnUrl: PAGES.successUrl, refreshUrl: PAGES.cancelUrl } });
  await site.call("verifyApplePay", { body: {} });
  expect(stripe.undocumentedFields).toEqual([]);
  expect([...STRIPE_KEYS.keys()].filter((kind) => !stripe.objectKinds.has(kind))).toEqual([]);
});
