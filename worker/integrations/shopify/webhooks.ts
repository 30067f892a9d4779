import { z } from "@hono/zod-openapi";
import { equalInConstantTime } from "#worker/lib/crypto/crypto.ts";
import { parseJson } from "#worker/lib/json.ts";
import { toMinorUnits } from "./products.ts";

/** The cart attribute that names the claim that an order fulfils. */
export const CLAIM_ATTRIBUTE = "tifo_claim";

/** What Tifo keeps of an order: nothing about the customer. */
export interface PaidOrder {
  id: string;
  name: string | null;
  amount: number;
  currency: string;
  items: { productId: string | null; variantId: string | null; sku: string | null; quantity: number }[];
  claimId: string | null;
}

// Some test orders have ids that a JavaScript number can't represent; their global id is text.
const Numeric = z.number().positive();
const Order = z.object({
  admin_graphql_api_id: z.string().regex(/^gid:\/\/shopify\/Order\/\d{1,20}$/),
  name: z.string().max(100).nullish(),
  total_price: z.string().regex(/^\d{1,10}(\.\d{1,6})?$/),
  currency: z.string().regex(/^[A-Z]{3}$/),
  line_items: z
    .array(
      z.object({
        product_id: Numeric.nullish(),
        variant_id: Numeric.nullish(),
        sku: z.string().max(255).nullish(),
        quantity: z.number().int().min(0),
      }),
    )
    .max(500),
  note_attributes: z.array(z.object({ name: z.string(), value: z.unknown() })).default([]),
});

/** Whether Shopify has signed these bytes with the secret. */
export async function isSignedByShop(secret: string, body: Uint8Array<ArrayBuffer>, signature: string): Promise<boolean> {
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const expected = Buffer.from(await crypto.subtle.sign("HMAC", key, body)).toString("base64");
  return equalInConstantTime(expected, signature);
}

/** Reads the body of an `orders/paid` webhook; undefined if it isn't one. */
export function readOrder(text: string): PaidOrder | undefined {
  const order = Order.safeParse(parseJson(text)).data;
  if (!order) return undefined;
  const currency = order.currency.toLowerCase();
  const claim = order.note_attributes.find(({ name }) => name === CLAIM_ATTRIBUTE)?.value;
  return {
    id: order.admin_graphql_api_id.replace(/^.*\//, ""),
    name: order.name ?? null,
    amount: toMinorUnits(order.total_price, currency),
    currency,
    items: order.line_items.map(({ product_id, variant_id, sku, quantity }) => ({
      productId: textOf(product_id),
      variantId: textOf(variant_id),
      sku: sku ?? null,
      quantity,
    })),
    claimId: typeof claim === "string" && /^[0-9a-f]{24}$/.test(claim) ? claim : null,
  };
}

function textOf(id: number | null | undefined): string | null {
  return id === null || id === undefined ? null : String(id);
}
