import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newSite, type TestSite } from "#test/harness.ts";
import { type Behaviour, connectShop, DOMAIN, SCARF, shopify, TOKEN, WEBHOOK_SECRET } from "#test/shopify-server.ts";
import { Panel } from "#worker/services/panels/schemas.ts";
import { ShopConnection, ShopProducts } from "#worker/services/shop/schemas.ts";

let site: TestSite;

beforeEach(async () => {
  site = await newSite();
});

afterEach(() => shopify.recover());

const connection = { domain: DOMAIN, storefrontToken: TOKEN, webhookSecret: WEBHOOK_SECRET };

async function newPanel(fields: Record<string, unknown>): Promise<string> {
  const renderer = { panel_type: "shopify", panel_name: "Shop", url: "https://shop.demo.example/", ...fields };
  return (await site.call("createPanel", { body: { siteId: site.id, renderer } })).as(Panel)._id;
}

const products = (query: Record<string, string>) => site.call("listShopProducts", { query });
const ofPanel = (id: string, on = site) => on.call("listPanelProducts", { params: { id }, as: "client" });

describe("a shop", () => {
  test("is connected once Shopify accepts its token, and its secrets are never returned", async () => {
    const before = (await site.call("getShopConnection")).as(ShopConnection);
    expect(before).toMatchObject({ connected: false, domain: null, receivesOrders: false, source: null });
    const connected = await site.call("connectShop", { body: connection });
    expect(connected.as(ShopConnection)).toMatchObject({ connected: true, domain: DOMAIN, receivesOrders: true, source: "site" });
    const read = await site.call("getShopConnection");
    const events = await site.call("listEvents", { query: { types: "shopify.connected" } });
    for (const { text, log } of [connected, read, events]) {
      for (const secret of [TOKEN, WEBHOOK_SECRET]) expect(text + JSON.stringify(log)).not.toContain(secret);
    }
    expect(events.text).toContain(DOMAIN);
  });

  test("keeps its webhook secret when only the token changes, and loses it with another domain", async () => {
    await site.call("connectShop", { body: connection });
    const rest = { domain: DOMAIN, storefrontToken: TOKEN };
    expect((await site.call("connectShop", { body: { ...rest, storefrontToken: `shpat_${TOKEN}` } })).as(ShopConnection)).toMatchObject({
      receivesOrders: true,
    });
    expect(shopify.calls.at(-1)?.token).toBe(`shpat_${TOKEN}`);
  });

  test("is replaced only as it was read, with the ETag of GET in If-Match", async () => {
    const replace = (etag: string) => site.call("connectShop", { body: connection, headers: { "If-Match": etag } });
    expect((await replace('"v1"')).problem?.code).toBe("precondition_failed");
    await connectShop(site);
    const etag = (await site.call("getShopConnection")).headers.get("ETag") ?? "";
    expect((await replace(etag)).status).toBe(200);
    expect((await replace(etag)).problem?.code).toBe("precondition_failed");
  });

  test.each([
    ["domain", { domain: "other-shop.myshopify.com" }],
    ["domain", { domain: "169.254.169.254" }],
    ["domain", { domain: "evil.example/.myshopify.com" }],
    ["domain", { domain: "evil.example#.myshopify.com" }],
    ["storefrontToken", { storefrontToken: "wrong-token" }],
    ["storefrontToken", { storefrontToken: "with\r\nnew lines" }],
    ["webhookSecret", { webhookSecret: "" }],
  ])("with an invalid %s isn't connected", async (field, change) => {
    expect((await site.call("connectShop", { body: { ...connection, ...change } })).fields).toEqual([field]);
    expect((await site.call("getShopConnection")).as(ShopConnection).connected).toBe(false);
  });

  test("can be disconnected, after which there are no products", async () => {
    await connectShop(site);
    await site.call("disconnectShop");
    expect((await products({ collection: "derby" })).problem?.code).toBe("shop_not_configured");
    expect((await site.call("disconnectShop")).status).toBe(404);
  });

  test("belongs to one site", async () => {
    await connectShop(site);
    const other = await newSite();
    expect((await other.call("getShopConnection")).as(ShopConnection).connected).toBe(false);
    expect((await other.call("listShopProducts", { query: { collection: "derby" } })).status).toBe(503);
  });
});

describe("products", () => {
  test("are found by collection, handles and ids, with prices in minor units", async () => {
    await connectShop(site);
    const ofCollection = (await products({ collection: "derby" })).as(ShopProducts);
    expect(ofCollection.products.map(({ handle }) => handle)).toEqual(["derby-scarf", "signed-shirt"]);
    expect(ofCollection.products[0]).toMatchObject({
      ...{ _id: SCARF, title: "Derby scarf", available: true, price: { amount: 2400, currency: "gbp" } },
      variants: [{ checkoutUrl: `https://${DOMAIN}/cart/4${SCARF}:1`, price: { amount: 2400 } }],
    });
    expect(ofCollection.products[1]?.price.amount).toBe(8950);
    const byHandle = (await products({ handles: "signed-shirt,unknown,derby-scarf" })).as(ShopProducts);
    expect(byHandle.products.map(({ handle }) => handle)).toEqual(["signed-shirt", "derby-scarf"]);
    expect((await products({ ids: `${SCARF},1` })).as(ShopProducts).products.map(({ _id }) => _id)).toEqual([SCARF]);
    expect((await products({ collection: "unknown" })).as(ShopProducts).products).toEqual([]);
  });

  test("are requested in one way at a time", async () => {
    await connectShop(site);
    expect((await products({})).status).toBe(400);
    expect((await products({ collection: "derby", ids: SCARF })).status).toBe(400);
    expect((await products({ ids: "gid" })).fields).toEqual(["ids.0"]);
  });

  test.each<[Behaviour, number, string]>([
    ["hang", 503, "unavailable"],
    ["stall", 503, "unavailable"],
    ["cut", 503, "unavailable"],
    ["tooMany", 503, "unavailable"],
    ["error", 503, "unavailable"],
    ["throttled", 503, "unavailable"],
    ["flood", 503, "unavailable"],
    ["rejected", 502, "shop_failed"],
    ["graphqlErrors", 502, "shop_failed"],
    ["garbage", 502, "shop_failed"],
    ["html", 502, "shop_failed"],
    ["redirect", 502, "shop_failed"],
    ["otherShape", 502, "shop_failed"],
    ["missing", 502, "shop_failed"],
  ])("of a shop whose behaviour is %s are a %i %s, without its token, and no error of the deployment", async (behaviour, status, code) => {
    await connectShop(site);
    shopify.behaviour = behaviour;
    const ways: Record<string, string>[] = [{ collection: "derby" }, { ids: SCARF }, { handles: "derby-scarf" }];
    for (const response of await Promise.all(ways.map((way) => products(way)))) {
      expect([response.status, response.problem?.code, response.log.level]).toEqual([status, code, "info"]);
      expect(response.text + JSON.stringify(response.log)).not.toContain(TOKEN);
    }
  });
});

describe("the products of a panel", () => {
  test("are those of its collection or its handles", async () => {
    await connectShop(site);
    const collection = (await ofPanel(await newPanel({ collection: "derby" }))).as(ShopProducts);
    expect(collection).toMatchObject({ shopUrl: `https://${DOMAIN}`, products: [{ handle: "derby-scarf" }, { handle: "signed-shirt" }] });
    const handles = await ofPanel(await newPanel({ product_handles: ["signed-shirt"] }));
    expect(handles.as(ShopProducts).products.map(({ handle }) => handle)).toEqual(["signed-shirt"]);
    expect((await ofPanel(await newPanel({}))).as(ShopProducts).products).toEqual([]);
  });

  test("cost the shop one call for a thousand viewers", async () => {
    await connectShop(site);
    const id = await newPanel({ collection: "derby" });
    shopify.recover();
    shopify.behaviour = "late";
    const responses = await Promise.all(Array.from({ length: 1000 }, () => ofPanel(id)));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    await ofPanel(id);
    expect(shopify.calls).toHaveLength(1);
  });

  test("cost a failing shop one call too, and are shown again when it recovers", async () => {
    await connectShop(site);
    const id = await newPanel({ collection: "derby" });
    shopify.recover();
    shopify.behaviour = "error";
    const responses = await Promise.all(Array.from({ length: 50 }, () => ofPanel(id)));
    expect(new Set(responses.map(({ problem }) => problem?.code))).toEqual(new Set(["unavailable"]));
    expect(shopify.calls).toHaveLength(1);
  });

  test("aren't shown to another site, whatever is cached", async () => {
    await connectShop(site);
    const id = await newPanel({ collection: "derby" });
    await ofPanel(id);
    const other = await newSite();
    await connectShop(other);
    expect((await ofPanel(id, other)).status).toBe(404);
  });

  test("need a shop, which may be connected later", async () => {
    const id = await newPanel({ collection: "derby" });
    expect((await ofPanel(id)).problem?.code).toBe("shop_not_configured");
    await connectShop(site);
    expect((await ofPanel(id)).status).toBe(200);
  });

  test("are only those of shopify panels", async () => {
    await connectShop(site);
    const renderer = { panel_type: "image", panel_name: "Image", image_url: "https://demo.example/a.png" };
    const { _id: id } = (await site.call("createPanel", { body: { siteId: site.id, renderer } })).as(Panel);
    expect((await ofPanel(id)).status).toBe(404);
  });
});

describe("a bundle", () => {
  const bundle = (id: string) => ({
    ...{ name: "Derby day", sku: `derby-${id}`, price: 2900, presentmentCurrency: "gbp" },
    items: [{ type: "shopify", id }],
  });

  test("with products that the shop doesn't have is a 400 with their path", async () => {
    await connectShop(site);
    for (const id of ["1", "not a number"]) {
      expect((await site.call("createBundle", { body: bundle(id) })).fields).toEqual(["items.0.id"]);
    }
    expect((await site.call("createBundle", { body: bundle(SCARF) })).status).toBe(201);
  });

  test("can't be saved while the shop can't be asked, but can without one", async () => {
    expect((await site.call("createBundle", { body: bundle("1") })).status).toBe(201);
    await connectShop(site);
    shopify.behaviour = "error";
    expect((await site.call("createBundle", { body: bundle(SCARF) })).status).toBe(503);
  });
});
