import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { afterEach, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { connectedAccounts, recurringSubscriptions } from "#db/schema/commerce/billing.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { callAs, chargesOf, newBuyer, newSubscription, openCheckout, PAGES } from "#test/purchases.ts";
import { showAccount, stripeAccounts } from "#test/stripe-accounts.ts";
import { stripe } from "#test/stripe-server.ts";
import { newId } from "#worker/lib/ids.ts";
import { cancelRecurring } from "#worker/services/billing/recurring.ts";
import { asSystem } from "#worker/services/core/system.ts";
import { RecurringSubscription } from "#worker/services/wallets/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { ConnectLink, StripeConnection } from "#worker/services/billing/connect-schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const URLS = { returnUrl: "https://demo.example/studio", refreshUrl: "https://demo.example/studio?again" };

afterEach(() => stripe.recover());

/** A site that has never connected an account. */
async function newUnconnectedSite(): Promise<TestSite> {
  const site = await newSite();
  await db.delete(connectedAccounts).where(eq(connectedAccounts.siteId, site.id));
  return site;
}

const connect = (site: TestSite, body: Record<string, unknown> = {}, headers = {}) =>
  site.call("connectStripe", { body: { ...URLS, ...body }, headers });
const connectionOf = async (site: TestSite) => (await site.call("getStripeConnection")).as(StripeConnection);

/** A site whose owner has opened the link, with the account's id at Stripe. */
async function newConnectingSite(): Promise<{ site: TestSite; account: string }> {
  const site = await newUnconnectedSite();
  await connect(site);
  return { site, account: stripeAccounts.of(site.id)[0]?.id ?? "" };
}

async function report(site: TestSite, type: string, object: Record<string, unknown>, account: string | undefined) {
  const event = await stripe.event(type, object, { ...(account !== undefined && { account }), secret: "whsec_tifo_connected" });
  return site.call("receiveStripeEvent", { as: "nobody", ...event });
}

const reportUpdate = (site: TestSite, account: string) =>
  report(site, "account.updated", showAccount(stripeAccounts.get(account)), account);
const reportDeauthorization = (site: TestSite, account: string) =>
  report(site, "account.application.deauthorized", { id: "ca_tifo", object: "application", name: "Tifo" }, account);

async function checkout(site: TestSite) {
  const buyer = await newBuyer(site);
  const { _id: id } = await newSubscription(site);
  return { buyer, response: await callAs(site, buyer, "checkoutSubscription", { params: { id }, body: PAGES }) };
}

async function eventTypes(site: TestSite): Promise<string[]> {
  const { results } = (await site.call("listEvents", { query: { limit: 200 } })).as(EventList);
  return results.map(({ type }) => type).filter((type) => type.startsWith("billing.account"));
}

describe("connecting a Stripe account", () => {
  test("creates one account for the site and a link to Stripe's page, however often it is requested", async () => {
    const site = await newUnconnectedSite();
    const first = await connect(site);
    expect(first.status).toBe(200);
    const { url, expiresAt } = first.as(ConnectLink);
    const [account, ...others] = stripeAccounts.of(site.id);
    expect(others).toEqual([]);
    expect(url).toContain(`https://connect.stripe.com/setup/s/${account?.id}/`);
    expect(expiresAt).toBeGreaterThan(Date.now());
    expect(account?.controller).toMatchObject({ "controller[requirement_collection]": "stripe", "controller[losses][payments]": "stripe" });
    expect(stripeAccounts.links.at(-1)).toMatchObject({
      account: account?.id,
      type: "account_onboarding",
      return_url: URLS.returnUrl,
      refresh_url: URLS.refreshUrl,
    });
    const second = (await connect(site)).as(ConnectLink);
    expect(second.url).not.toBe(url);
    expect(stripeAccounts.of(site.id)).toHaveLength(1);
    expect(await eventTypes(site)).toEqual(["billing.accountCreated"]);
  });

  test("creates one account even for two concurrent requests, or if Stripe's first response is lost", async () => {
    const site = await newUnconnectedSite();
    await Promise.all([connect(site), connect(site)]);
    expect(stripeAccounts.of(site.id)).toHaveLength(1);
    const other = await newUnconnectedSite();
    stripe.behaveNext(/POST .*accounts$/, "failLate");
    expect((await connect(other)).status).toBe(503);
    expect((await connect(other)).status).toBe(200);
    expect(stripeAccounts.of(other.id)).toHaveLength(1);
    expect((await connectionOf(other)).stripeAccount).toBe(stripeAccounts.of(other.id)[0]?.id);
  });

  test("rejects an account that belongs to another site with 409", async () => {
    const { account } = await newConnectingSite();
    const thief = await newUnconnectedSite();
    stripeAccounts.nextId = account;
    expect((await connect(thief)).status).toBe(409);
    expect(await connectionOf(thief)).toMatchObject({ connected: false, stripeAccount: null });
  });

  test("accepts no account id from anyone", async () => {
    const site = await newUnconnectedSite();
    expect((await connect(site, { stripeAccount: "acct_victim" })).fields).toEqual(["stripeAccount"]);
    for (const billing of [{ stripeAccount: "acct_victim" }, {}]) {
      const response = await site.call("updateSite", { body: { name: "Harbour City FC", settings: { billing } } });
      expect(response.fields).toEqual(["settings.billing"]);
    }
    expect((await site.call("updateSite", { body: { name: "Harbour City FC", contractServiceChargeRate: 0 } })).fields).toEqual([
      "contractServiceChargeRate",
    ]);
  });

  test("rejects return URLs outside the site's own origins", async () => {
    const site = await newUnconnectedSite();
    for (const field of ["returnUrl", "refreshUrl"])
      expect((await connect(site, { [field]: "https://evil.example/" })).fields).toEqual([field]);
    expect(stripeAccounts.of(site.id)).toEqual([]);
  });

  test("doesn't replay the link for a repeated Idempotency-Key", async () => {
    const site = await newUnconnectedSite();
    const headers = { "Idempotency-Key": "connect-once" };
    const { url } = (await connect(site, {}, headers)).as(ConnectLink);
    expect((await connect(site, {}, headers)).text).not.toContain(url);
  });

  test("is allowed only for the site's developer keys", async () => {
    const site = await newUnconnectedSite();
    for (const as of ["client", "viewer", "creator", "reader"] as const) {
      const expected = as === "client" ? 401 : 403;
      expect((await site.call("connectStripe", { as, body: URLS })).status).toBe(expected);
      expect((await site.call("getStripeConnection", { as })).status).toBe(expected);
    }
  });
});

describe("a site's Stripe connection", () => {
  test("lists what is missing until the owner has completed Stripe's form", async () => {
    const site = await newUnconnectedSite();
    expect(await connectionOf(site)).toEqual({
      connected: false,
      stripeAccount: null,
      chargesEnabled: false,
      payoutsEnabled: false,
      detailsSubmitted: false,
      requirements: { currentlyDue: [], pastDue: [], disabledReason: null },
    });
    await connect(site);
    const account = stripeAccounts.of(site.id)[0]?.id ?? "";
    expect(await connectionOf(site)).toMatchObject({
      connected: false,
      stripeAccount: account,
      chargesEnabled: false,
      requirements: { currentlyDue: ["business_profile.url", "external_account"], disabledReason: "requirements.past_due" },
    });
    stripeAccounts.complete(account);
    expect(await connectionOf(site)).toMatchObject({ connected: true, chargesEnabled: true, payoutsEnabled: true, detailsSubmitted: true });
    expect(await eventTypes(site)).toEqual(["billing.accountCreated", "billing.accountUpdated"]);
  });

  test("is a 503 while Stripe can't be reached", async () => {
    const { site } = await newConnectingSite();
    stripe.behaveNext(/GET .*accounts/, "fail", "fail");
    expect((await site.call("getStripeConnection")).status).toBe(503);
  });
});

describe("a checkout", () => {
  test("is rejected with 409 until the site's account can take payments, and then pays that account", async () => {
    const site = await newUnconnectedSite();
    const none = await checkout(site);
    expect(none.response.status).toBe(409);
    expect(none.response.problem?.message).toContain("POST /billing/v1/connect");
    await connect(site);
    const account = stripeAccounts.of(site.id)[0]?.id ?? "";
    const unfinished = await checkout(site);
    expect(unfinished.response.status).toBe(409);
    expect(unfinished.response.problem?.message).toContain("GET /billing/v1/connect");
    for (const { buyer } of [none, unfinished]) expect(await chargesOf(buyer)).toEqual([]);
    stripeAccounts.complete(account);
    expect((await reportUpdate(site, account)).status).toBe(200);
    const buyer = await newBuyer(site);
    const { chargeId } = await openCheckout(site, buyer, (await newSubscription(site))._id);
    expect(stripe.checkoutSessionOf(chargeId, account)).toBeDefined();
  });

  test("checks an account from an old setting with Stripe before its first sale", async () => {
    const site = await newUnconnectedSite();
    const account = `acct_old_${site.id}`;
    const state = { chargesEnabled: false, payoutsEnabled: false, detailsSubmitted: false };
    const requirements = { currentlyDue: [], pastDue: [], disabledReason: null };
    const now = Date.now();
    await db
      .insert(connectedAccounts)
      .values({ ...state, id: site.id, siteId: site.id, stripeAccount: account, requirements, created: now, modified: now });
    expect((await checkout(site)).response.status).toBe(503);
    stripeAccounts.complete(stripeAccounts.add(account).id);
    expect((await checkout(site)).response.status).toBe(200);
  });

  test("is rejected again once Stripe disables charges", async () => {
    const { site, account } = await newConnectingSite();
    stripeAccounts.complete(account);
    await reportUpdate(site, account);
    stripeAccounts.get(account).chargesEnabled = false;
    await reportUpdate(site, account);
    expect((await checkout(site)).response.status).toBe(409);
  });
});

describe("a Stripe event about a connected account", () => {
  test("changes nothing that Stripe itself doesn't confirm", async () => {
    const { site, account } = await newConnectingSite();
    const claimed = { ...showAccount(stripeAccounts.get(account)), charges_enabled: true };
    expect((await report(site, "account.updated", claimed, account)).status).toBe(200);
    expect((await checkout(site)).response.status).toBe(409);
    expect((await reportDeauthorization(site, account)).status).toBe(200);
    expect((await connectionOf(site)).stripeAccount).toBe(account);
  });

  test("affects only the site of that account", async () => {
    const [one, other] = [await newConnectingSite(), await newConnectingSite()];
    for (const { account } of [one, other]) stripeAccounts.complete(account);
    // The object names another account than the event itself.
    await report(one.site, "account.updated", showAccount(stripeAccounts.get(other.account)), one.account);
    expect((await checkout(other.site)).response.status).toBe(409);
    expect((await checkout(one.site)).response.status).toBe(200);
    for (const account of ["acct_unknown", undefined])
      expect((await report(one.site, "account.updated", { id: other.account, object: "account" }, account)).status).toBe(200);
    expect((await checkout(other.site)).response.status).toBe(409);
  });

  test("is rejected unless Stripe has signed it", async () => {
    const { site, account } = await newConnectingSite();
    const forged = await stripe.event("account.application.deauthorized", { object: "application" }, { secret: "whsec_other", account });
    expect((await site.call("receiveStripeEvent", { as: "nobody", ...forged })).status).toBe(401);
  });

  test("disconnects the site when the owner revokes access; it can connect a new account", async () => {
    const { site, account } = await newConnectingSite();
    stripeAccounts.complete(account).revoked = true;
    await reportUpdate(site, account);
    for (let times = 0; times < 2; times++) expect((await reportDeauthorization(site, account)).status).toBe(200);
    expect(await connectionOf(site)).toMatchObject({ connected: false, stripeAccount: null });
    expect((await checkout(site)).response.status).toBe(409);
    expect((await connect(site)).status).toBe(200);
    const current = (await connectionOf(site)).stripeAccount;
    expect(stripeAccounts.of(site.id).map(({ id }) => id)).toEqual([account, current]);
    expect(current).not.toBe(account);
    expect(await eventTypes(site)).toEqual(["billing.accountCreated", "billing.accountDisconnected", "billing.accountCreated"]);
  });

  test("that disconnects the site marks its regular payments, which only the account's owner can end, and tells the site", async () => {
    const { site, account } = await newConnectingSite();
    const { id: accountId } = site.accounts.viewer;
    const stamps = { siteId: site.id, created: 1, modified: 1 };
    const sale = { accountId, amount: 799, currency: "gbp", itemType: "subscription", itemId: newId(2), description: "Club Plus" } as const;
    const paid = { ...stamps, ...sale, skus: ["club"], recurrence: "month" as const, pastDue: false, stopping: false };
    const [id, ended] = [newId(Date.now()), newId(Date.now())];
    await db.insert(recurringSubscriptions).values([
      { ...paid, id, status: "active", stripeAccount: account, stripeSubscriptionId: `sub_${id}`, due: 1 },
      { ...paid, id: ended, status: "cancelled", stripeAccount: account, stripeSubscriptionId: `sub_${ended}` },
    ]);
    stripeAccounts.complete(account).revoked = true;
    await reportDeauthorization(site, account);
    const read = async (of: string) => (await db.select().from(recurringSubscriptions).where(eq(recurringSubscriptions.id, of)))[0];
    const detached = await read(id);
    expect(detached).toMatchObject({ status: "active", due: null });
    expect(detached?.dateDetached).toBeGreaterThan(1);
    expect(await read(ended)).toMatchObject({ dateDetached: null });
    const { results } = (await site.call("listEvents", { query: { types: "billing.recurringUpdated" } })).as(EventList);
    const published = results.map(({ data }) => RecurringSubscription.parse(data));
    expect(published).toMatchObject([{ _id: id, name: "Club Plus", skus: ["club"], pastDue: false, dateDetached: detached?.dateDetached }]);
    const cancel = () =>
      asSystem({ env, db, now: Date.now() }, site.id, (ctx) => cancelRecurring(ctx, { source: `recurring/${id}`, when: "immediate" }));
    expect(await cancel()).toEqual({ success: false, message: "The site's Stripe account is disconnected; end the payments at Stripe" });
  });
});
