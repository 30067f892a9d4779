import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { createDb } from "../../db/client.ts";
import { newSite, type TestSite } from "../../test/harness.ts";
import {
  callAs,
  chargesOf,
  entitlementsOf,
  held,
  newMonthly,
  reconcile,
  recurringRow,
  subscriptionThere,
  tellSubscription,
} from "../../test/shop.ts";
import { stripe } from "../../test/stripe-server.ts";
import { expireEntitlements } from "./entitlement-expiry.ts";

const db = createDb(env.DB);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

afterEach(() => stripe.recover());

/** What the cron does for what is bought, at a moment. */
async function cron(now: number): Promise<void> {
  await expireEntitlements({ env, db, now });
  await reconcile(now);
}

/** Somebody who pays each month, until the end of this one. */
async function endingMonthly() {
  const made = await newMonthly(site);
  const options = { params: made.params, body: { refund: false, scheduled: "endOfBilling" } };
  expect((await callAs(site, made.buyer, "cancelRecurringSubscription", options)).body).toEqual({ success: true });
  return { ...made, ends: made.recurring.currentPeriodEnd ?? 0, there: subscriptionThere(made.recurring.stripeSubscriptionId) };
}

describe("what is to end with its period", () => {
  test("is still held after that where the cancellation was withdrawn unheard", async () => {
    const { buyer, sku, ends, there, recurring } = await endingMonthly();
    there.scheduled = false;
    await cron(ends);
    expect(await held(buyer)).toEqual([sku]);
    expect(await recurringRow(buyer)).toMatchObject({ status: "active" });
    stripe.renew(recurring.stripeSubscriptionId);
    await tellSubscription(site, recurring.stripeSubscriptionId);
    expect(await chargesOf(buyer)).toMatchObject([{}, { status: "complete", refunded: 0 }]);
    expect(await entitlementsOf(buyer)).toMatchObject([{ status: "active", dateEnds: ends + 30 * DAY }]);
  });

  test("ends as soon as Stripe, asked at that moment, has it so; until it can be asked nothing is decided", async () => {
    const { buyer, sku, ends, there } = await endingMonthly();
    stripe.next(new RegExp(`GET .*${there.id}`), "fail");
    await cron(ends).catch(() => undefined);
    expect(await held(buyer)).toEqual([sku]);
    await cron(ends + 6 * MINUTE);
    expect(await entitlementsOf(buyer)).toMatchObject([{ status: "cancelled", dateCancelled: ends + 6 * MINUTE }]);
    await cron(ends + 8 * MINUTE);
    expect(there.status).toBe("canceled");
    expect(await recurringRow(buyer)).toMatchObject({ status: "cancelled", stopping: false, due: null });
  });

  test("is not paid for again where it was taken away before, though the cancellation is withdrawn", async () => {
    const { buyer, sku, there, recurring } = await endingMonthly();
    const revoked = await site.call("revokeSubscription", { as: "admin", query: { accountId: buyer.id, sku } });
    expect(revoked.status).toBe(200);
    there.scheduled = false;
    await tellSubscription(site, recurring.stripeSubscriptionId);
    await cron(Date.now() + 2 * MINUTE);
    expect(there.status).toBe("canceled");
    expect(await recurringRow(buyer)).toMatchObject({ status: "cancelled", stopping: false });
  });
});
