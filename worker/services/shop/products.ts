import { panels } from "#db/schema/panels.ts";
import type { ShopProduct } from "#worker/integrations/shopify/products.ts";
import { fetchProducts, type ProductSelection } from "#worker/integrations/shopify/storefront.ts";
import { Failure, invalid, notFound } from "#worker/lib/errors.ts";
import { SharedCache } from "#worker/lib/shared-cache.ts";
import { type Ctx, ownRow } from "#worker/services/core/context.ts";
import { findShop, requireShop } from "./connection.ts";

/** How long an isolate shows the same products, and repeats a failure of the shop. */
const FRESH_MS = 30_000;
const FAILED_MS = 5_000;
/** Longer than a call to the shop may take. */
const WAIT_MS = 6_000;

export interface ShownProducts {
  shopUrl: string;
  products: ShopProduct[];
}

const shown = new SharedCache<ShownProducts>({ max: 200, waitMs: WAIT_MS, failedMs: (error) => (isShops(error) ? FAILED_MS : 0) });

/** Only what the shop does is repeated: a missing panel or shop may exist with the next request. */
function isShops(error: unknown): boolean {
  return error instanceof Failure && (error.code === "unavailable" || error.code === "shop_failed");
}

/** The products of the site's shop, for callers who manage the site. */
export async function listProducts(ctx: Ctx, selection: ProductSelection): Promise<ShownProducts> {
  const shop = await requireShop(ctx);
  await ctx.caller();
  return { shopUrl: `https://${shop.domain}`, products: await fetchProducts(ctx.env, shop, selection) };
}

/** The products of a `shopify` panel, which all viewers of an isolate share for half a minute. */
export async function productsOfPanel(ctx: Ctx, panelId: string): Promise<ShownProducts> {
  // What is wrong with this request's credentials must not fail those that share its load.
  await ctx.caller();
  const load = async () => ({ value: await readPanelProducts(ctx, panelId), freshMs: FRESH_MS });
  return shown.get(`${ctx.siteId}/${panelId}`, load, (work) => ctx.defer(work));
}

async function readPanelProducts(ctx: Ctx, panelId: string): Promise<ShownProducts> {
  const [panel] = await ctx.db
    .select({ renderer: panels.renderer })
    .from(panels)
    .where(ownRow(ctx, panels, panelId));
  if (panel?.renderer.panel_type !== "shopify") throw notFound("The site has no shopify panel with this id");
  const { collection, product_handles: handles } = panel.renderer;
  const shop = await requireShop(ctx);
  const selection = collection === undefined ? { handles } : { collection };
  return { shopUrl: `https://${shop.domain}`, products: await fetchProducts(ctx.env, shop, selection) };
}

/** A 400 unless these are products of the site's shop. Without a shop there is nothing to check against. */
export async function requireProducts(ctx: Ctx, named: { id: string; path: string }[]): Promise<void> {
  if (named.length === 0) return;
  const shop = await findShop(ctx);
  if (!shop) return;
  await ctx.caller();
  const ids = [...new Set(named.map(({ id }) => id))].filter((id) => /^\d{1,20}$/.test(id));
  const found = new Set(ids.length === 0 ? [] : (await fetchProducts(ctx.env, shop, { ids })).map(({ id }) => id));
  const missing = named.find(({ id }) => !found.has(id));
  if (missing) throw invalid(missing.path, "The shop has no product with this id");
}
