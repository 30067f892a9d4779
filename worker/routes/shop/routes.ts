import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { AppEnv } from "#worker/http/app-env.ts";
import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { CLIENT, DEVELOPER_OR_ACCOUNT, SHOPIFY_SIGNATURE } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { Id, IdParam, json, jsonBody } from "#worker/lib/schemas/common.ts";
import { connectShop, disconnectShop, findShop } from "#worker/services/shop/connection.ts";
import { receiveShopWebhook } from "#worker/services/shop/orders.ts";
import { listProducts, productsOfPanel, type ShownProducts } from "#worker/services/shop/products.ts";
import { ProductQuery, ShopConnection, ShopConnectionInput, ShopProducts, toProduct } from "#worker/services/shop/schemas.ts";

export const shop = createArea();
const tag = "Shop";
const MAX_ORDER_BYTES = 1024 * 1024;

/** The connection without its secrets. The site's own has an ETag. */
async function connectionOf(c: Context<AppEnv>): Promise<z.output<typeof ShopConnection>> {
  const ctx = c.get("ctx");
  const found = await findShop(ctx);
  if (found && found.version !== null) tagVersion(c, { version: found.version });
  return {
    connected: found !== undefined,
    domain: found?.domain ?? null,
    receivesOrders: found ? found.webhookSecret !== null : false,
    source: found?.source ?? null,
    webhookPath: `/shopify/v1/webhook/${ctx.siteId}`,
  };
}

function shown({ shopUrl, products }: ShownProducts) {
  return { shopUrl, products: products.map(toProduct) };
}

shop.openapi(
  operation({
    operationId: "connectShop",
    tag,
    method: "put",
    path: "/shopify/v1/connection",
    summary: "Connect the site's shop",
    description:
      "Stores the site's shop at Shopify, once Shopify has accepted its token. Both secrets are encrypted, and never returned. Takes precedence over a shop of the deployment.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { body: jsonBody(ShopConnectionInput) },
    responses: { 200: json("The connection", ShopConnection) },
    errors: ["conflict", "precondition_failed", "shop_failed"],
  }),
  async (c) => {
    await connectShop(c.get("ctx"), c.req.valid("json"));
    return c.json(await connectionOf(c), 200);
  },
);

shop.openapi(
  operation({
    operationId: "getShopConnection",
    tag,
    method: "get",
    path: "/shopify/v1/connection",
    summary: "Get the shop's connection",
    description: "Returns which shop the site has, and where it sends its webhooks.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: {},
    responses: { 200: json("The connection", ShopConnection) },
  }),
  async (c) => c.json(await connectionOf(c), 200),
);

shop.openapi(
  operation({
    operationId: "disconnectShop",
    tag,
    method: "delete",
    path: "/shopify/v1/connection",
    summary: "Disconnect the site's shop",
    description: "Deletes the site's own shop and its secrets. A shop of the deployment takes its place.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: {},
    responses: { 200: json("The connection that remains", ShopConnection) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    await disconnectShop(c.get("ctx"));
    return c.json(await connectionOf(c), 200);
  },
);

shop.openapi(
  operation({
    operationId: "listShopProducts",
    tag,
    method: "get",
    path: "/shopify/v1/products",
    summary: "List products of the shop",
    description:
      "Products of the site's shop as its visitors see them, by collection, handles or ids; those that don't exist are left out. At most 50.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { query: ProductQuery },
    responses: { 200: json("The products", ShopProducts) },
    errors: ["shop_failed", "shop_not_configured", "unavailable"],
  }),
  async (c) => {
    const { collection, handles, ids } = c.req.valid("query");
    const selection = collection === undefined ? (handles === undefined ? { ids: ids ?? [] } : { handles }) : { collection };
    return c.json(shown(await listProducts(c.get("ctx"), selection)), 200);
  },
);

shop.openapi(
  operation({
    operationId: "listPanelProducts",
    tag,
    method: "get",
    path: "/shopify/v1/panels/{id}/products",
    summary: "List a panel's products",
    description: "The products of a `shopify` panel, as viewers see them. They may be half a minute old.",
    access: { credentials: CLIENT },
    request: { params: IdParam },
    responses: { 200: json("The products", ShopProducts) },
    errors: ["not_found", "shop_failed", "shop_not_configured", "unavailable"],
  }),
  async (c) => c.json(shown(await productsOfPanel(c.get("ctx"), c.req.valid("param").id)), 200),
);

shop.openapi(
  operation({
    operationId: "receiveShopifyWebhook",
    tag,
    method: "post",
    path: "/shopify/v1/webhook/{siteId}",
    summary: "Receive a webhook of the shop",
    description:
      "The endpoint for the shop's `orders/paid` webhooks, signed in `X-Shopify-Hmac-Sha256`. An order counts once, however often it is delivered; other topics are ignored. A claim that the order's cart attribute `tifo_claim` names succeeds if the order has its product.",
    access: { credentials: SHOPIFY_SIGNATURE },
    input: { maxBytes: MAX_ORDER_BYTES },
    request: {
      params: z.object({ siteId: Id }),
      // Read unparsed: the signature covers the bytes.
      body: {
        required: true as const,
        content: { "application/json; charset=utf-8": { schema: { type: "object", description: "An order of the shop" } } },
      },
    },
    responses: { 200: json("The webhook is processed", z.object({ received: z.literal(true) }).openapi("ReceivedShopWebhook")) },
    errors: ["unauthenticated"],
  }),
  async (c) => {
    await receiveShopWebhook(c.get("ctx"), c.req.valid("param").siteId, {
      body: new Uint8Array(await c.req.arrayBuffer()),
      signature: c.req.header("X-Shopify-Hmac-Sha256") ?? "",
      topic: c.req.header("X-Shopify-Topic") ?? "",
      webhookId: c.req.header("X-Shopify-Webhook-Id") ?? "",
    });
    return c.json({ received: true as const }, 200);
  },
);
