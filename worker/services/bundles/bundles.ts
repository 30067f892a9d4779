import { eq } from "drizzle-orm";
import { type BundleRow, bundles } from "#db/schema/commerce/bundles.ts";
import { notFound, rejectDuplicate } from "#worker/lib/errors.ts";
import { type BundleInput, toBundle } from "./schemas.ts";
import { type Ctx, newRow, ownRow, type NewEvent } from "#worker/services/core/context.ts";
import { type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { commitReferencing, type Reference } from "#worker/services/core/references.ts";
import { requireProducts } from "#worker/services/shop/products.ts";
import { requireOwnSite } from "#worker/services/sites/current-site.ts";

const bundleList = tableList<BundleRow>({
  table: bundles,
  rows: (db, slice) => sliceOf(db.select().from(bundles).$dynamic(), slice),
  sort: { created: bundles.created, name: bundles.name, price: bundles.price },
  search: { name: bundles.name, description: bundles.description },
});

export function listBundles(ctx: Ctx, { sku, ...query }: ListQuery & { sku?: string }): Promise<ListPage<BundleRow>> {
  return listRows(ctx, bundleList, query, eq(bundles.siteId, ctx.siteId), sku === undefined ? undefined : eq(bundles.sku, sku));
}

export async function getBundle(ctx: Ctx, id: string): Promise<BundleRow> {
  const [bundle] = await ctx.db
    .select()
    .from(bundles)
    .where(ownRow(ctx, bundles, id));
  if (!bundle) throw notFound("Bundle not found");
  return bundle;
}

export async function createBundle(ctx: Ctx, { siteId, image = null, ...input }: BundleInput): Promise<BundleRow> {
  requireOwnSite(ctx, siteId);
  await requireProducts(ctx, productsOf(input));
  const bundle: BundleRow = { ...newRow(ctx), ...input, image };
  const event: NewEvent<"bundle.created"> = { type: "bundle.created", resource: `bundle/${bundle.id}`, data: toBundle(bundle) };
  await rejectDuplicate("bundles.site_id, bundles.sku", "The site already has a bundle with this sku", () =>
    commitReferencing(ctx, ticketsOf(input), ctx.db.insert(bundles).values(bundle), event),
  );
  return bundle;
}

/** The items of the site's shop. */
function productsOf({ items }: Pick<BundleInput, "items">): { id: string; path: string }[] {
  return items.flatMap(({ type, id }, index) => (type === "shopify" ? [{ id, path: `items.${index}.id` }] : []));
}

/** The skus of the tickets must exist on the site. */
function ticketsOf({ items }: Pick<BundleInput, "items">): Reference[] {
  return items.flatMap(({ type, id }, index) => (type === "ticket" ? [{ kind: "sku" as const, id, path: `items.${index}.id` }] : []));
}
