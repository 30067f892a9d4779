import { z } from "@hono/zod-openapi";
import { minorDigits } from "#worker/lib/money.ts";

/** A product as Tifo shows it. Amounts are in minor units. */
export interface ShopProduct {
  id: string;
  handle: string;
  title: string;
  description: string;
  available: boolean;
  /** The product's page in the shop; null if the shop has none. */
  url: string | null;
  image: { url: string; alt: string } | null;
  price: ShopPrice;
  maxPrice: ShopPrice;
  variants: ShopVariant[];
}

export interface ShopVariant {
  id: string;
  title: string;
  sku: string | null;
  available: boolean;
  price: ShopPrice;
  /** Opens the shop's checkout with one of it. */
  checkoutUrl: string;
}

interface ShopPrice {
  amount: number;
  currency: string;
}

const Money = z.object({ amount: z.string().regex(/^\d{1,10}(\.\d{1,6})?$/), currencyCode: z.string().regex(/^[A-Z]{3}$/) });
const gid = (kind: string) => z.string().regex(new RegExp(`^gid://shopify/${kind}/\\d{1,20}(\\?|$)`));
const Text = z.string().max(5000);
const HttpsUrl = z.url({ protocol: /^https$/ }).max(2000);

/** Products as the Storefront API returns them. */
export const ProductNodes = z.array(
  z.object({
    id: gid("Product"),
    handle: Text,
    title: Text,
    description: Text,
    availableForSale: z.boolean(),
    onlineStoreUrl: HttpsUrl.nullable().catch(null),
    featuredImage: z.object({ url: HttpsUrl, altText: Text.nullable() }).nullable().catch(null),
    priceRange: z.object({ minVariantPrice: Money, maxVariantPrice: Money }),
    variants: z.object({
      nodes: z
        .array(z.object({ id: gid("ProductVariant"), title: Text, sku: Text.nullable(), availableForSale: z.boolean(), price: Money }))
        .max(250),
    }),
  }),
);

export type ProductNode = z.output<typeof ProductNodes>[number];

export function readProduct(node: ProductNode, domain: string): ShopProduct {
  return {
    id: numberOf(node.id),
    handle: node.handle,
    title: node.title,
    description: node.description,
    available: node.availableForSale,
    url: node.onlineStoreUrl,
    image: node.featuredImage && { url: node.featuredImage.url, alt: node.featuredImage.altText ?? "" },
    price: priceOf(node.priceRange.minVariantPrice),
    maxPrice: priceOf(node.priceRange.maxVariantPrice),
    variants: node.variants.nodes.map(({ id, title, sku, availableForSale, price }) => ({
      id: numberOf(id),
      title,
      sku,
      available: availableForSale,
      price: priceOf(price),
      checkoutUrl: `https://${domain}/cart/${numberOf(id)}:1`,
    })),
  };
}

/** The number in "gid://shopify/Product/1". */
function numberOf(id: string): string {
  return /\/(\d+)(\?|$)/.exec(id)?.[1] ?? "";
}

/** Shopify's decimal amounts in minor units. */
export function toMinorUnits(amount: string, currency: string): number {
  return Math.round(Number(amount) * 10 ** minorDigits(currency));
}

function priceOf({ amount, currencyCode }: z.output<typeof Money>): ShopPrice {
  const currency = currencyCode.toLowerCase();
  return { amount: toMinorUnits(amount, currency), currency };
}
