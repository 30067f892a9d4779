import { beforeAll, describe, expect, test, vi } from "vitest";
import { newSite, type TestSite } from "#test/harness.ts";
import { connectShop, newOrder, SCARF, signedWebhook } from "#test/shopify-server.ts";
import { newId } from "#worker/lib/ids.ts";
import { ClaimStatus } from "#worker/services/claim-statuses/schemas.ts";
import { Quest } from "#worker/services/quests/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
  await connectShop(site);
});

type Webhook = Awaited<ReturnType<typeof signedWebhook>>;

const receive = (webhook: Webhook, siteId = site.id) =>
  site.call("receiveShopifyWebhook", { as: "nobody", params: { siteId }, ...webhook });

async function ordersOf(order: Record<string, unknown>, on = site) {
  const { results } = (await on.call("listEvents", { query: { types: "shopify.orderPaid", limit: 200 } })).as(EventList);
  return results.filter(({ data }) => data.orderId === String(order.id));
}

describe("a paid order", () => {
  test("is published without anything about its customer", async () => {
    const order = newOrder();
    expect((await receive(await signedWebhook(order))).body).toEqual({ received: true });
    const [event] = await ordersOf(order);
    expect(event?.data).toEqual({
      ...{
        _id: event?.data._id,
        orderId: String(order.id),
        siteId: site.id,
        name: order.name,
        amount: 2400,
        currency: "gbp",
        claimId: null,
      },
      items: [{ productId: SCARF, variantId: "44012345678901", sku: "derby-scarf", quantity: 1 }],
    });
    for (const personal of ["Ada", "ada@demo.example", "Quay Street"]) expect(JSON.stringify(event)).not.toContain(personal);
  });

  test("counts once, however often and under whatever webhook id it is delivered", async () => {
    const order = newOrder();
    const webhook = await signedWebhook(order);
    await Promise.all([receive(webhook), receive(webhook), receive(webhook)]);
    expect((await receive({ ...webhook, headers: { ...webhook.headers, "X-Shopify-Webhook-Id": "forged" } })).status).toBe(200);
    expect(await ordersOf(order)).toHaveLength(1);
  });

  test("needs its webhook's id, which tells deliveries apart", async () => {
    const order = newOrder();
    expect((await receive(await signedWebhook(order, { webhookId: "" }))).fields).toEqual(["X-Shopify-Webhook-Id"]);
    expect(await ordersOf(order)).toEqual([]);
  });

  test("keeps the exact number of an order that JavaScript can't represent", async () => {
    const order = newOrder({ id: "820982911946154508", admin_graphql_api_id: "gid://shopify/Order/820982911946154508" });
    await receive(await signedWebhook(order));
    expect(await ordersOf(order)).toHaveLength(1);
  });

  test("is only accepted with the shop's signature of these bytes", async () => {
    const order = newOrder();
    const webhook = await signedWebhook(order);
    const rejected = [
      { ...webhook, body: new Blob([JSON.stringify({ ...order, total_price: "1.00" })], { type: "application/json" }) },
      { ...webhook, headers: { ...webhook.headers, "X-Shopify-Hmac-Sha256": "" } },
      await signedWebhook(order, { secret: "another secret" }),
      await signedWebhook(order, { secret: "" }).catch(() => webhookWithEmptySignature(webhook)),
    ];
    for (const one of rejected) expect((await receive(one)).status).toBe(401);
    expect(await ordersOf(order)).toEqual([]);
  });

  test("is only accepted for the site whose shop has signed it", async () => {
    const order = newOrder();
    const webhook = await signedWebhook(order);
    const other = await newSite();
    expect((await receive(webhook, other.id)).status).toBe(401);
    expect((await receive(webhook, newId(Date.now()))).status).toBe(401);
    const body = {
      domain: "harbour-city.myshopify.com",
      storefrontToken: "0123456789abcdef0123456789abcdef",
      webhookSecret: "its own secret".replaceAll(" ", "-"),
    };
    await other.call("connectShop", { body });
    expect((await receive(webhook, other.id)).status).toBe(401);
    expect(await ordersOf(order, other)).toEqual([]);
  });

  test.each([["not json"], ["{}"], ['{"admin_graphql_api_id":"gid://shopify/Order/1","total_price":"x"}']])(
    "that is %s is a 400",
    async (text) => {
      expect((await receive(await signedWebhook(text))).status).toBe(400);
    },
  );

  test("of another topic is ignored", async () => {
    const order = newOrder();
    expect((await receive(await signedWebhook(order, { topic: "orders/create" }))).status).toBe(200);
    expect(await ordersOf(order)).toEqual([]);
  });
});

function webhookWithEmptySignature(webhook: Webhook): Webhook {
  return { ...webhook, headers: { ...webhook.headers, "X-Shopify-Hmac-Sha256": "AAAA" } };
}

describe("a claim that an order names", () => {
  async function newClaim(productId: string, on = site): Promise<string> {
    const actions = [{ arrayId: "action000", body: "Look at it", kind: "quest:view" }];
    const texts = { title: "Early bird", description: "", rewardDescription: "A scarf", claimedMessage: "See you there" };
    const body = { siteId: on.id, ...texts, rewardType: "prize-service-specific", productId, actions };
    const { _id: id } = (await on.call("createQuest", { body })).as(Quest);
    await on.call("reportQuestAction", { params: { id, arrayId: "action000" }, as: "viewer", body: {} });
    return (await on.call("claimQuest", { params: { id }, as: "viewer" })).as(ClaimStatus)._id;
  }

  const statusOf = async (id: string, on = site) => (await on.call("getClaimStatus", { params: { id } })).as(ClaimStatus).status;
  const orderFor = (claimId: string) => newOrder({ note_attributes: [{ name: "tifo_claim", value: claimId }] });

  test("succeeds if the order has its product, by product id or sku", async () => {
    for (const productId of [SCARF, "derby-scarf"]) {
      const claimId = await newClaim(productId);
      await receive(await signedWebhook(orderFor(claimId)));
      await vi.waitFor(async () => expect(await statusOf(claimId)).toBe("SUCCESS"));
    }
  });

  test("stays as it is if the order has other products or none of them, or it belongs to another site", async () => {
    const shirt = await newClaim("signed-shirt");
    const removed = await newClaim(SCARF);
    await receive(await signedWebhook({ ...orderFor(removed), line_items: [{ product_id: Number(SCARF), quantity: 0 }] }));
    const other = await newSite();
    const foreign = await newClaim(SCARF, other);
    await receive(await signedWebhook(orderFor(shirt)));
    await receive(await signedWebhook(orderFor(foreign)));
    // The effects run in order of the log: once this one has succeeded, theirs have run.
    const last = await newClaim(SCARF);
    await receive(await signedWebhook(orderFor(last)));
    await vi.waitFor(async () => expect(await statusOf(last)).toBe("SUCCESS"));
    expect(await statusOf(shirt)).toBe("PENDING");
    expect(await statusOf(removed)).toBe("PENDING");
    expect(await statusOf(foreign, other)).toBe("PENDING");
  });
});
