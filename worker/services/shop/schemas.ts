import { z } from "@hono/zod-openapi";
import type { ShopConnectionRow } from "#db/schema/commerce/shop.ts";
import type { PaidOrder } from "#worker/integrations/shopify/webhooks.ts";
import type { ShopProduct } from "#worker/integrations/shopify/products.ts";
import { MAX_PRODUCTS } from "#worker/integrations/shopify/storefront.ts";
import { commaSeparated, Id } from "#worker/lib/schemas/common.ts";
import { Handle } from "#worker/lib/schemas/shop-fields.ts";
import { Currency, Money } from "#worker/lib/schemas/money.ts";

const Secret = z.string().regex(/^[\x21-\x7e]{8,200}$/, "8 to 200 printable characters without spaces");

export const ShopConnectionInput = z
  .strictObject({
    domain: z
      .string()
      .max(100)
      .regex(/^[a-z0-9][a-z0-9-]*\.myshopify\.com$/, "The shop's myshopify.com domain")
      .openapi({ example: "harbour-city.myshopify.com" }),
    storefrontToken: Secret.describe("A public or private access token of the Storefront API that may read products; never returned"),
    webhookSecret: Secret.optional().describe(
      "Verifies the shop's webhooks; never returned. Omitted: the present one is kept if the domain stays the same",
    ),
  })
  .openapi("ShopConnectionInput", {
    example: {
      domain: "harbour-city.myshopify.com",
      storefrontToken: "0123456789abcdef0123456789abcdef",
      webhookSecret: "hush-hush-hush-hush",
    },
  });

export const ShopConnection = z
  .object({
    connected: z.boolean(),
    domain: z.string().nullable(),
    receivesOrders: z.boolean().describe("Whether webhooks of the shop can be verified"),
    source: z.enum(["site", "deployment"]).nullable().describe("Whether the shop is the site's own or the deployment's"),
    webhookPath: z.string().describe("Where the shop sends its `orders/paid` webhooks, on the API's host"),
  })
  .openapi("ShopConnection");

const Price = z.object({ amount: Money, currency: Currency });

export const ShopProductSchema = z
  .object({
    _id: z.string().describe("The product's id in the shop, as in `items` of bundles"),
    handle: z.string(),
    title: z.string(),
    description: z.string().describe("Plain text"),
    available: z.boolean(),
    url: z.string().nullable().describe("The product's page in the shop; null if it has none"),
    image: z.object({ url: z.string(), alt: z.string() }).nullable(),
    price: Price.describe("The lowest price of a variant"),
    maxPrice: Price,
    variants: z.array(
      z.object({
        _id: z.string(),
        title: z.string(),
        sku: z.string().nullable(),
        available: z.boolean(),
        price: Price,
        checkoutUrl: z
          .string()
          .describe("Opens the shop's own checkout; append `?attributes[tifo_claim]=<claim id>` to fulfil a claim with the order"),
      }),
    ),
  })
  .openapi("ShopProduct");

export const ShopProducts = z
  .object({ shopUrl: z.string().describe("The shop's address"), products: z.array(ShopProductSchema) })
  .openapi("ShopProducts");

const ProductId = z.string().regex(/^\d{1,20}$/, "The number of a product");

export const ProductQuery = z
  .strictObject({
    collection: Handle.optional().describe("The handle of a collection").openapi({ example: "derby" }),
    handles: commaSeparated(Handle, MAX_PRODUCTS, "derby-scarf").optional().describe("Handles of products"),
    ids: commaSeparated(ProductId, MAX_PRODUCTS, "8012345678901").optional().describe("Ids of products"),
  })
  .refine(
    ({ collection, handles, ids }) => [collection, handles, ids].filter((one) => one !== undefined).length === 1,
    "Requires exactly one of collection, handles and ids",
  );

export const ShopEvent = z.object({ _id: Id, siteId: Id, domain: z.string(), receivesOrders: z.boolean() });

/** An order without anything about its customer. */
export const ShopOrder = z.object({
  _id: Id,
  siteId: Id,
  orderId: z.string().describe("The order's id in the shop"),
  name: z.string().nullable().describe("The order's number as people see it"),
  amount: Money,
  currency: Currency,
  items: z.array(
    z.object({
      productId: z.string().nullable(),
      variantId: z.string().nullable(),
      sku: z.string().nullable(),
      quantity: z.number().int(),
    }),
  ),
  claimId: Id.nullable().describe("The claim that the order fulfils"),
});

export type ShopConnectionInput = z.output<typeof ShopConnectionInput>;

export function toProduct({ id, variants, ...product }: ShopProduct) {
  const shown = { _id: id, ...product, variants: variants.map(({ id: _id, ...variant }) => ({ _id, ...variant })) };
  return shown satisfies z.output<typeof ShopProductSchema>;
}

export function toShopEvent(row: ShopConnectionRow) {
  const { id: _id, siteId, domain } = row;
  return { _id, siteId, domain, receivesOrders: row.webhookSecretSealed !== null } satisfies z.output<typeof ShopEvent>;
}

export function toOrder(ids: { _id: string; siteId: string }, { id: orderId, ...order }: PaidOrder) {
  return { ...ids, orderId, ...order } satisfies z.output<typeof ShopOrder>;
}
