import { eq } from "drizzle-orm";
import { type ShopConnectionRow, shopConnections } from "#db/schema/commerce/shop.ts";
import { type ShopAccess, verifyShop } from "#worker/integrations/shopify/storefront.ts";
import { open, seal } from "#worker/lib/crypto/crypto.ts";
import { optionalSecret } from "#worker/lib/crypto/optional-secret.ts";
import { Failure, notFound, rerunOnDuplicate } from "#worker/lib/errors.ts";
import { commitIfUnchanged, type Ctx, deleteRow, newRow, nextVersion, requireMatch, updateRow } from "#worker/services/core/context.ts";
import { type ShopConnectionInput, toShopEvent } from "./schemas.ts";

const TOKEN_PURPOSE = "shop token";
const WEBHOOK_PURPOSE = "shop webhook secret";

/** A site's shop with its secrets. */
export interface Shop extends ShopAccess {
  webhookSecret: string | null;
  source: "site" | "deployment";
  /** Of the site's own. */
  version: number | null;
}

/** The site's own shop, or the deployment's; undefined without either. */
export async function findShop(ctx: Pick<Ctx, "env" | "db" | "siteId">): Promise<Shop | undefined> {
  const row = await findRow(ctx);
  if (!row) return shopOfDeployment(ctx.env);
  const { domain, tokenSealed, webhookSecretSealed } = row;
  return {
    domain,
    token: await open(ctx.env, TOKEN_PURPOSE, tokenSealed),
    webhookSecret: webhookSecretSealed === null ? null : await open(ctx.env, WEBHOOK_PURPOSE, webhookSecretSealed),
    source: "site",
    version: row.version,
  };
}

/** The site's shop; a 503 without one. */
export async function requireShop(ctx: Ctx): Promise<Shop> {
  const shop = await findShop(ctx);
  if (!shop) throw shopNotConfigured();
  return shop;
}

export function shopNotConfigured(): Failure {
  return new Failure("shop_not_configured", "The site has no shop; connect one with PUT /shopify/v1/connection");
}

/** Connects the site's shop, once Shopify has accepted the token. */
export async function connectShop(ctx: Ctx, { domain, storefrontToken, webhookSecret }: ShopConnectionInput): Promise<void> {
  await ctx.caller();
  await verifyShop(ctx.env, { domain, token: storefrontToken });
  const current = await findRow(ctx);
  const kept = current?.domain === domain ? current.webhookSecretSealed : null;
  const sealed = {
    domain,
    tokenSealed: await seal(ctx.env, TOKEN_PURPOSE, storefrontToken),
    webhookSecretSealed: webhookSecret === undefined ? kept : await seal(ctx.env, WEBHOOK_PURPOSE, webhookSecret),
  };
  // A shop that isn't connected matches no If-Match.
  if (!current) requireMatch(ctx, { version: -1 });
  const next: ShopConnectionRow = current ? { ...current, ...sealed, ...nextVersion(ctx, current) } : { ...newRow(ctx), ...sealed };
  const change = current ? updateRow(ctx, shopConnections, current, next) : ctx.db.insert(shopConnections).values(next);
  await rerunOnDuplicate("shop_connections.site_id", () =>
    commitIfUnchanged(ctx, change, { type: "shopify.connected", resource: `shop/${next.id}`, data: toShopEvent(next) }),
  );
}

/** Disconnects the site's own shop and deletes its secrets. */
export async function disconnectShop(ctx: Ctx): Promise<void> {
  const current = await findRow(ctx);
  if (!current) throw notFound("The site has no shop of its own");
  requireMatch(ctx, current);
  const event = { type: "shopify.disconnected" as const, resource: `shop/${current.id}`, data: toShopEvent(current) };
  await commitIfUnchanged(ctx, deleteRow(ctx, shopConnections, current), event);
}

async function findRow({ db, siteId }: Pick<Ctx, "db" | "siteId">): Promise<ShopConnectionRow | undefined> {
  const [row] = await db.select().from(shopConnections).where(eq(shopConnections.siteId, siteId));
  return row;
}

function shopOfDeployment(env: Env): Shop | undefined {
  const domain = optionalSecret(env, "TIFO_SHOPIFY_DOMAIN");
  const token = optionalSecret(env, "TIFO_SHOPIFY_TOKEN");
  if (domain === undefined || token === undefined) return undefined;
  return { domain, token, webhookSecret: optionalSecret(env, "TIFO_SHOPIFY_WEBHOOK_SECRET") ?? null, source: "deployment", version: null };
}
