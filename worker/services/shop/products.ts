import { panels } from "#db/schema/panels.ts";
import type { ShopProduct } from "#worker/integrations/shopify/products.ts";
import { fetchProducts, type ProductSelection } from "#worker/integrations/shopify/storefront.ts";
import { Failure, invalid, notFound } from "#worker/lib/errors.ts";
import { isTimeout, withTimeout } from "#worker/lib/time/with-timeout.ts";
import { type Ctx, ownRow } from "#worker/services/core/context.ts";
import { findShop, requireShop } from "./connection.ts";

/** How long an isolate shows the same products, and repeats a failure of the shop. */
const FRESH_MS = 30_000;
const FAILED_MS = 5_000;
const MAX_CACHED = 200;
/** Longer than a call to the shop may take. */
const WAIT_MS = 6_000;
const MAX_WAITS = 2;

export interface ShownProducts {
  shopUrl: string;
  products: ShopProduct[];
}

/** What an isolate knows of a panel: the call that fetches its products, or fetched them. */
interface Cached {
  until: number;
  isLoading: boolean;
  result: Promise<ShownProducts>;
}

const cache = new Map<string, Cached>();

/** The products of the site's shop, for callers who manage the site. */
export async function listProducts(ctx: Ctx, selection: ProductSelection): Promise<ShownProducts> {
  const shop = await requireShop(ctx);
  await ctx.caller();
  return { shopUrl: `https://${shop.domain}`, products: await fetchProducts(ctx.env, shop, selection) };
}

/** The products of a `shopify` panel, which all viewers of an isolate share for half a minute. */
export async function productsOfPanel(ctx: Ctx, panelId: string, waits = 0): Promise<ShownProducts> {
  const key = `${ctx.siteId}/${panelId}`;
  const known = cache.get(key);
  if (!known || known.until <= ctx.now) return load(ctx, key, panelId);
  await ctx.caller();
  if (!known.isLoading) return known.result;
  try {
    return await withTimeout(known.result, WAIT_MS);
  } catch (error) {
    if (!isTimeout(error) || waits === MAX_WAITS) throw error;
    // The request that loads them has died, and with it the promise: of those that wait, the first one loads them again.
    if (cache.get(key) === known) cache.delete(key);
    return productsOfPanel(ctx, panelId, waits + 1);
  }
}

async function load(ctx: Ctx, key: string, panelId: string): Promise<ShownProducts> {
  const entry: Cached = { until: ctx.now + FRESH_MS, isLoading: true, result: readPanelProducts(ctx, panelId) };
  remember(key, entry);
  const settled = entry.result.then(
    () => undefined,
    (error: unknown) => {
      // Only what the shop does is repeated: a missing panel or shop may exist with the next request.
      const isShops = error instanceof Failure && (error.code === "unavailable" || error.code === "shop_failed");
      entry.until = isShops ? ctx.now + FAILED_MS : 0;
    },
  );
  // Lets it finish for the others if this viewer leaves.
  ctx.defer(settled);
  await settled;
  entry.isLoading = false;
  return entry.result;
}

function remember(key: string, entry: Cached): void {
  cache.delete(key);
  cache.set(key, entry);
  const [oldest] = cache.keys();
  if (cache.size > MAX_CACHED && oldest !== undefined) cache.delete(oldest);
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
