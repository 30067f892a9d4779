import { and, eq } from "drizzle-orm";
import { siteDb } from "#db/databases.ts";
import { shopOrders } from "#db/schema/commerce/shop.ts";
import { type ClaimRow, claims } from "#db/schema/engagement/quests.ts";
import { isSignedByShop, readOrder } from "#worker/integrations/shopify/webhooks.ts";
import { Failure, invalid, LostRace, unauthenticated, wonRace } from "#worker/lib/errors.ts";
import { ID_PATTERN, newId } from "#worker/lib/ids.ts";
import { updateClaim } from "#worker/services/claim-statuses/claims.ts";
import { commitIfUnchanged, type Ctx, type NewEvent } from "#worker/services/core/context.ts";
import { ctxOf } from "#worker/services/core/databases.ts";
import { asSystemInEffect } from "#worker/services/core/system.ts";
import { dataOf, type LoggedEvent } from "#worker/services/event-catalogue/effect.ts";
import { findShop } from "./connection.ts";
import { toOrder } from "./schemas.ts";

const PAID = "orders/paid";

/** A webhook of the shop as it arrived. */
export interface ShopWebhook {
  body: Uint8Array<ArrayBuffer>;
  signature: string;
  topic: string;
  webhookId: string;
}

/**
 * Receives a webhook of a site's shop. A paid order is published once, however often it is delivered: by the id of the webhook and by that
 * of the order, because whoever once saw a signed body could send it again with another webhook id. Other topics are ignored.
 */
export async function receiveShopWebhook(ctx: Ctx, siteId: string, { body, signature, topic, webhookId }: ShopWebhook): Promise<void> {
  const own: Ctx = { ...ctxOf(ctx, siteId), caller: () => Promise.resolve({ kind: "system" }) };
  const secret = ID_PATTERN.test(siteId) ? (await findShop(own))?.webhookSecret : undefined;
  if (!secret || !(await isSignedByShop(secret, body, signature)))
    throw unauthenticated("The X-Shopify-Hmac-Sha256 doesn't match the body, or the site has no shop with a webhook secret");
  if (topic !== PAID) return;
  if (webhookId === "") throw invalid("X-Shopify-Webhook-Id", "Required");
  const order = readOrder(new TextDecoder().decode(body));
  if (!order) throw invalid("", "The body isn't an order");
  const data = toOrder({ _id: newId(ctx.now), siteId }, order);
  const event: NewEvent<"shopify.orderPaid"> = { type: "shopify.orderPaid", resource: `shoporder/${data._id}`, data };
  const insert = own.db.insert(shopOrders).values({ siteId, orderId: order.id, webhookId, created: ctx.now }).onConflictDoNothing();
  await wonRace(() => commitIfUnchanged(own, insert, event));
}

/** Completes the claim that a paid order names, if the order has its product. An effect of `shopify.orderPaid`, safe to repeat. */
export async function fulfilClaim(env: Env, siteId: string, event: LoggedEvent<"shopify.orderPaid">): Promise<void> {
  const { claimId, items } = dataOf(event);
  if (claimId === null) return;
  await asSystemInEffect({ env, db: siteDb(env, siteId), now: Date.now() }, siteId, async (ctx) => {
    const [claim] = await ctx.db
      .select()
      .from(claims)
      .where(and(eq(claims.siteId, siteId), eq(claims.id, claimId)));
    if (!claim || claim.status === "SUCCESS" || !isFulfilledBy(claim, items)) return;
    try {
      await updateClaim(ctx, claimId, { status: "SUCCESS" });
    } catch (error) {
      // A claim that can't succeed stays as it is; after a lost race, the log tries again.
      if (!(error instanceof Failure) || error instanceof LostRace || error.code === "unavailable") throw error;
    }
  });
}

type Items = { productId: string | null; variantId: string | null; sku: string | null; quantity: number }[];

function isFulfilledBy({ productId }: Pick<ClaimRow, "productId">, items: Items): boolean {
  return productId !== null && items.some((item) => item.quantity > 0 && [item.productId, item.variantId, item.sku].includes(productId));
}
