import { beforeAll, describe, expect, test } from "vitest";
import { newSite, type TestSite } from "#test/harness.ts";
import {
  callAs,
  chargeRow,
  entitlementsOf,
  heldSkus,
  newBundle,
  newBuyer,
  newSubscription,
  PAGES,
  buy,
  refund,
  sendStripeEvent,
} from "#test/purchases.ts";
import { addSkus } from "#test/files-and-skus.ts";
import { stripe } from "#test/stripe-server.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { CheckoutAnswer } from "#worker/services/billing/schemas.ts";
import { Bundle } from "#worker/services/bundles/schemas.ts";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

/** Buys a bundle, including the payment. */
async function buyBundle(buyer: Awaited<ReturnType<typeof newBuyer>>, id: string): Promise<string> {
  const { chargeId } = (await callAs(site, buyer, "checkoutBundle", { params: { id }, body: PAGES })).as(CheckoutAnswer);
  stripe.pay(chargeId);
  await sendStripeEvent(site, "checkout.session.completed", { object: "checkout.session", metadata: { chargeId } });
  return chargeId;
}

function ticketsOf({ items }: { items: { type: string; id: string }[] }): string[] {
  return items.filter(({ type }) => type === "ticket").map(({ id }) => id);
}

describe("a bundle", () => {
  test("can be created, read and found by its sku", async () => {
    const bundle = await newBundle(site);
    expect((await site.call("getBundle", { params: { id: bundle.id } })).body).toEqual(bundle);
    const listed = (await site.call("listBundles", { query: { sku: bundle.sku } })).as(listOf(Bundle));
    expect(listed.results).toEqual([bundle]);
  });

  test("has a sku that is unique on its site", async () => {
    const { sku, name, price, presentmentCurrency, items } = await newBundle(site);
    const body = { sku, name, price, presentmentCurrency, items };
    expect((await site.call("createBundle", { body })).status).toBe(409);
    const other = await newSite();
    await addSkus(other, ...ticketsOf({ items }));
    expect((await other.call("createBundle", { body })).status).toBe(201);
  });

  test.each([
    ["price", { price: 0 }],
    ["presentmentCurrency", { presentmentCurrency: "GBP" }],
    ["presentmentCurrency", { presentmentCurrency: "abc" }],
    ["items", { items: [] }],
    ["items.0.type", { items: [{ type: "voucher", id: "1" }] }],
    ["siteId", { siteId: "5eed00000000000000000009" }],
  ])("with an invalid %s is rejected", async (field, change) => {
    const items = [{ type: "ticket", id: "match-pass" }];
    const body = { name: "Derby day", sku: "wrong", price: 1, presentmentCurrency: "gbp", items, ...change };
    expect((await site.call("createBundle", { body })).fields).toEqual([field]);
  });

  test("grants its own sku and each ticket's once, but nothing for shop items", async () => {
    const buyer = await newBuyer(site);
    const bundle = await newBundle(site, {
      items: [
        { type: "ticket", id: "east-stand" },
        { type: "ticket", id: "east-stand" },
        { type: "ticket", id: "backstage" },
        { type: "shopify", id: "8012345678901" },
      ],
    });
    const chargeId = await buyBundle(buyer, bundle.id);
    expect(await heldSkus(buyer)).toEqual(["backstage", bundle.sku, "east-stand"].sort());
    expect(await chargeRow(chargeId)).toMatchObject({ amount: 2900, itemType: "bundle", itemId: bundle.id });
  });

  test("has its price on one entitlement, which is the one that is refunded", async () => {
    const buyer = await newBuyer(site);
    const bundle = await newBundle(site);
    const chargeId = await buyBundle(buyer, bundle.id);
    const rows = await entitlementsOf(buyer);
    expect(rows.map(({ sku, price }) => [sku, price]).sort()).toEqual(
      [[bundle.sku, 2900], ...ticketsOf(bundle).map((sku) => [sku, 0])].sort(),
    );
    await refund(site, buyer, chargeId, 1000);
    expect((await entitlementsOf(buyer)).reduce((sum, { refunded }) => sum + refunded, 0)).toBe(1000);
    await refund(site, buyer, chargeId);
    expect((await entitlementsOf(buyer)).reduce((sum, { refunded }) => sum + refunded, 0)).toBe(2900);
    expect(await heldSkus(buyer)).toEqual([]);
  });

  test("doesn't change an entitlement that the buyer already holds", async () => {
    const buyer = await newBuyer(site);
    const pass = await newSubscription(site);
    const first = await buy(site, buyer, pass._id);
    const bundle = await newBundle(site, { items: [{ type: "ticket", id: pass.sku }] });
    const second = await buyBundle(buyer, bundle.id);
    const rows = await entitlementsOf(buyer);
    expect(rows.filter(({ sku }) => sku === pass.sku)).toMatchObject([{ source: `charge/${first}`, status: "active" }]);
    await refund(site, buyer, second);
    expect(await heldSkus(buyer)).toEqual([pass.sku]);
  });

  test("is not sold to a buyer who already holds all of it", async () => {
    const buyer = await newBuyer(site);
    const { id } = await newBundle(site);
    await buyBundle(buyer, id);
    expect((await callAs(site, buyer, "checkoutBundle", { params: { id }, body: PAGES })).status).toBe(409);
  });
});
