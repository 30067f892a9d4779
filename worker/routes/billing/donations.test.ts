import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { donations } from "#db/schema/commerce/donations.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { type Buyer, callAs, chargeRow, newBuyer, PAGES, reconcile, refund, sendStripeEvent } from "#test/purchases.ts";
import { stripe } from "#test/stripe-server.ts";
import { CheckoutAnswer } from "#worker/services/billing/schemas.ts";
import { Donation } from "#worker/services/billing/donation-schemas.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { channelName } from "#worker/durable-objects/channel/channel.protocol.ts";
import { newId } from "#worker/lib/ids.ts";
import { ENDS_IN_ZERO } from "#worker/lib/money.ts";
import { Overlay } from "#worker/services/overlays/schemas.ts";
import { Panel } from "#worker/services/panels/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const AMOUNTS = { currency: "gbp", amounts: [500, 1000] };

let site: TestSite;
let donor: Buyer;

beforeAll(async () => {
  site = await newSite();
  donor = await newBuyer(site);
});

afterEach(() => stripe.recover());

async function newPanel(fields: Record<string, unknown> = AMOUNTS): Promise<string> {
  const renderer = { panel_type: "donations", panel_name: "Youth team", url: "https://demo.example/youth", ...fields };
  return (await site.call("createPanel", { body: { siteId: site.id, renderer } })).as(Panel)._id;
}

const open = (panelId: string, body: Record<string, unknown>, by = donor) =>
  callAs(site, by, "checkoutDonation", { body: { panelId, ...PAGES, ...body } });

/** Opens the page, pays it and sends Stripe's event. */
async function donate(panelId: string, body: Record<string, unknown>, by = donor): Promise<string> {
  const { chargeId } = (await open(panelId, body, by)).as(CheckoutAnswer);
  const session = stripe.pay(chargeId);
  const object = { id: session.id, object: "checkout.session", metadata: { chargeId, siteId: site.id } };
  await sendStripeEvent(site, "checkout.session.completed", object);
  return chargeId;
}

async function listed(query: Record<string, string> = {}) {
  return (await site.call("listDonations", { query })).as(listOf(Donation)).results;
}

describe("a donation", () => {
  test("is a charge of the site's Stripe account, listed with its donor's name and message once it is paid", async () => {
    const panelId = await newPanel();
    const { chargeId } = (await open(panelId, { amount: 1000 })).as(CheckoutAnswer);
    expect(await listed({ panelId })).toEqual([]);
    expect(stripe.checkoutSessionOf(chargeId, `acct_${site.id}`)?.status).toBe("open");
    const paid = await donate(panelId, { amount: 500, name: " Ada\u0000 ", message: "For the\nyouth <b>team</b>" });
    expect(await chargeRow(paid)).toMatchObject({
      ...{ status: "complete", amount: 500, currency: "gbp", itemType: "donation", itemId: panelId, description: "Youth team", skus: [] },
    });
    expect(await listed({ panelId })).toMatchObject([
      { _id: paid, accountId: donor.id, panelId, amount: 500, currency: "gbp", name: "Ada", message: "For the youth <b>team</b>" },
    ]);
  });

  test("is published once, without names and messages", async () => {
    const chargeId = await donate(await newPanel(), { amount: 500, name: "Ada" });
    await sendStripeEvent(site, "checkout.session.completed", { object: "checkout.session", metadata: { chargeId } });
    const { results } = (await site.call("listEvents", { query: { types: "donation.paid", limit: 200 } })).as(EventList);
    const own = results.filter(({ resource }) => resource === `charge/${chargeId}`);
    expect(own).toHaveLength(1);
    expect(own[0]?.data).toMatchObject({ _id: chargeId, amount: 500, accountId: donor.id });
    expect(JSON.stringify(own)).not.toContain("Ada");
  });

  test("isn't refunded for granting nothing, and can be made again", async () => {
    const panelId = await newPanel();
    const ids = [await donate(panelId, { amount: 500 }), await donate(panelId, { amount: 500 })];
    await reconcile();
    for (const id of ids) expect(await chargeRow(id)).toMatchObject({ status: "complete", refunded: 0, reserved: 0 });
  });

  test("is refunded like any other charge", async () => {
    const id = await donate(await newPanel(), { amount: 1000 });
    await refund(site, donor, id, 400);
    expect(await chargeRow(id)).toMatchObject({ refunded: 400, reserved: 400 });
  });

  test("may be of any amount within the panel's limits", async () => {
    const panelId = await newPanel({ currency: "gbp", minimum_amount: 300, maximum_amount: 900 });
    expect((await open(panelId, { amount: 777 })).status).toBe(200);
    for (const amount of [299, 901]) expect((await open(panelId, { amount })).fields).toEqual(["amount"]);
  });

  test("is of an amount that cards can be charged, also where the currency has three decimals", async () => {
    const panelId = await newPanel({ currency: "kwd", minimum_amount: 1_000, maximum_amount: 9_000 });
    expect((await open(panelId, { amount: 1_230 })).status).toBe(200);
    const { fields, problem } = await open(panelId, { amount: 1_234 });
    expect([fields, problem?.message]).toEqual([["amount"], ENDS_IN_ZERO]);
  });

  test.each([
    ["amount", { amount: 700 }],
    ["amount", { amount: 0 }],
    ["name", { amount: 500, name: "x".repeat(81) }],
    ["message", { amount: 500, message: "x".repeat(201) }],
    ["message", { amount: 500, message: "\u200b" }],
    ["channelId", { amount: 500, channelId: newId(Date.now()) }],
    ["currency", { amount: 500, currency: "usd" }],
    ["successUrl", { amount: 500, successUrl: "https://elsewhere.example/" }],
  ])("with an invalid %s is rejected", async (field, body) => {
    expect((await open(await newPanel(), body)).fields).toEqual([field]);
  });

  test("needs a donations panel of the site that has amounts", async () => {
    const other = await newSite();
    const stranger = await newBuyer(other);
    const panelId = await newPanel();
    expect((await callAs(other, stranger, "checkoutDonation", { body: { panelId, amount: 500, ...PAGES } })).fields).toEqual(["panelId"]);
    expect((await open(await newPanel({}), { amount: 500 })).problem?.code).toBe("conflict");
    const renderer = { panel_type: "image", panel_name: "Image", image_url: "https://demo.example/a.png" };
    const image = (await site.call("createPanel", { body: { siteId: site.id, renderer } })).as(Panel)._id;
    expect((await open(image, { amount: 500 })).fields).toEqual(["panelId"]);
  });

  test("keeps only its charge when the donor's account is deleted, also if it is paid afterwards", async () => {
    const leaving = await newBuyer(site);
    const panelId = await newPanel();
    const paid = await donate(panelId, { amount: 500, name: "Ada" }, leaving);
    const { chargeId: late } = (await open(panelId, { amount: 1000, name: "Ada" }, leaving)).as(CheckoutAnswer);
    await site.call("deleteAccount", { params: { id: leaving.id } });
    expect(await db.select().from(donations).where(eq(donations.accountId, leaving.id))).toEqual([]);
    stripe.pay(late);
    await sendStripeEvent(site, "checkout.session.completed", { object: "checkout.session", metadata: { chargeId: late } });
    for (const id of [paid, late]) expect(await chargeRow(id)).toMatchObject({ status: "complete", refunded: 0 });
    expect(await listed({ panelId })).toEqual([]);
  });
});

describe("a paid donation", () => {
  /** A panel whose thanks are shown on a channel with a chat. */
  async function newStage() {
    const html = "<p>{{name}} gave {{amount}}: {{message}}</p>";
    const contents = [{ kind: "html", html, position: "center" }];
    const overlay = { name: "Thanks", description: "", siteId: site.id, type: "template", duration: 10, contents };
    const { _id: overlayId } = (await site.call("createOverlay", { body: overlay })).as(Overlay);
    const panelId = await newPanel({ ...AMOUNTS, thank_you_overlay_id: overlayId });
    const chat = { panel_type: "chat", panel_name: "Chat", filtered_words: "offside" };
    const chatId = (await site.call("createPanel", { body: { siteId: site.id, renderer: chat } })).as(Panel)._id;
    const channelId = await site.addChannel(`giving-${panelId}`, { sidebar: { panels: [panelId, chatId] } });
    return { overlayId, panelId, channelId };
  }

  /** The broadcast that a channel shows, as viewers receive it, once there is one. */
  function shownOn(channelId: string): Promise<string> {
    return vi.waitFor(async () => {
      const active = await env.CHANNEL.getByName(channelName(site.id, channelId)).active();
      expect(active).toHaveLength(1);
      return active.join();
    });
  }

  test("shows the panel's overlay on its channel, with masked and escaped text", async () => {
    const { panelId, channelId } = await newStage();
    const chargeId = await donate(panelId, { amount: 1000, channelId, name: "<b>Ada</b>", message: "Never offside, see evil.com" });
    const shown = await shownOn(channelId);
    expect(shown).toContain("&lt;b&gt;Ada&lt;/b&gt; gave £10.00: Never *******, see [link]");
    expect(shown).not.toContain('"personal"');
    expect(await listed({ panelId })).toMatchObject([{ _id: chargeId, channelId, message: "Never offside, see evil.com" }]);
  });

  test("leaves the donor's name and message neither in the event log nor in the channel's recording", async () => {
    const { overlayId, panelId, channelId } = await newStage();
    await donate(panelId, { amount: 1000, channelId, name: "Grace of Quay Street", message: "For my sister Joan" });
    await shownOn(channelId);
    const { results } = await vi.waitFor(async () => {
      const logged = (await site.call("listEvents", { query: { types: "overlay.broadcast", limit: 200 } })).as(EventList);
      expect(logged.results.map(({ resource }) => resource)).toContain(`overlay/${overlayId}`);
      return logged;
    });
    const recording = await site.call("readRecording", { as: "client", params: { channelId }, query: { from: 0 } });
    expect(recording.body).toEqual({ results: [], next: null });
    for (const text of ["Grace", "Joan"]) expect(JSON.stringify(results)).not.toContain(text);
    // Without texts of a viewer, the recording has it.
    await donate(panelId, { amount: 500, channelId, name: null, message: null });
    await vi.waitFor(async () => {
      const { text } = await site.call("readRecording", { as: "client", params: { channelId }, query: { from: 0, limit: 99 } });
      expect(text).toContain("gave £5.00");
    });
  });

  test("is thanked for without the texts of a donor whom moderators have silenced", async () => {
    const { panelId, channelId } = await newStage();
    const rude = await newBuyer(site);
    await site.call("banFromChat", { body: { accountId: rude.id, kind: "mute", channelId, until: null, reason: "Rude" } });
    await donate(panelId, { amount: 1000, channelId, name: "Rude", message: "Rubbish" }, rude);
    const shown = await shownOn(channelId);
    expect(shown).toContain(" gave £10.00: ");
    expect(shown).not.toContain("Rubbish");
  });

  test("can only be shown on a channel that shows the panel", async () => {
    const panelId = await newPanel();
    expect((await open(panelId, { amount: 500, channelId: site.channels[0] })).fields).toEqual(["channelId"]);
  });
});

describe("a donations panel", () => {
  test.each([
    ["renderer.currency", { amounts: [500] }],
    ["renderer.amounts", { currency: "gbp" }],
    ["renderer.maximum_amount", { currency: "gbp", minimum_amount: 5 }],
    ["renderer.minimum_amount", { currency: "gbp", maximum_amount: 5 }],
    ["renderer.maximum_amount", { currency: "gbp", minimum_amount: 5, maximum_amount: 4 }],
    ["renderer.amounts", { currency: "bhd", amounts: [1001] }],
    ["renderer.thank_you_overlay_id", { thank_you_overlay_id: newId(Date.now()) }],
  ])("with an invalid %s is rejected", async (field, fields) => {
    const renderer = { panel_type: "donations", panel_name: "Youth", url: "https://demo.example/youth", ...fields };
    expect((await site.call("createPanel", { body: { siteId: site.id, renderer } })).fields).toEqual([field]);
  });
});
