import { z } from "@hono/zod-openapi";
import { invalid, SiteHostFailure } from "#worker/lib/errors.ts";
import { parseJson } from "#worker/lib/json.ts";
import { callSiteHost } from "#worker/integrations/public-host.ts";
import { type ProductNode, ProductNodes, readProduct, type ShopProduct } from "./products.ts";

// Calls to Shopify's Storefront API, in this project's terms.

/** Shopify supports each version for a year. */
const API_VERSION = "2026-07";
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 1024 * 1024;
/** The most products in one call. */
export const MAX_PRODUCTS = 50;
/** Private tokens start like this, and go into a header of their own. */
const PRIVATE_TOKEN = /^shpat_/;

const PRODUCT = `fragment Shown on Product {
  id handle title description(truncateAt: 300) availableForSale onlineStoreUrl
  featuredImage { url altText }
  priceRange { minVariantPrice { amount currencyCode } maxVariantPrice { amount currencyCode } }
  variants(first: 20) { nodes { id title sku availableForSale price { amount currencyCode } } }
}`;

/** What to call: a shop and its token. */
export interface ShopAccess {
  /** The myshopify.com domain. */
  domain: string;
  token: string;
}

/** Which products: those of a collection, or single ones by handle or id. */
export type ProductSelection = { collection: string } | { handles: string[] } | { ids: string[] };

/** A 400 unless the shop exists and accepts the token. */
export async function verifyShop(env: Env, shop: ShopAccess): Promise<void> {
  const response = await post(env, shop, "query { shop { name } }", {});
  if (response.status === 404) throw invalid("domain", "Shopify has no shop with this domain");
  if (response.status === 401 || response.status === 403) throw invalid("storefrontToken", "The shop rejects this token");
  dataOf(response, z.object({ shop: z.object({ name: z.string() }) }));
}

/** Fetches products as the shop's visitors see them, in the shop's order; those that don't exist are left out. */
export async function fetchProducts(env: Env, shop: ShopAccess, selection: ProductSelection): Promise<ShopProduct[]> {
  return (await fetchNodes(env, shop, selection)).map((node) => readProduct(node, shop.domain));
}

async function fetchNodes(env: Env, shop: ShopAccess, selection: ProductSelection): Promise<ProductNode[]> {
  if ("collection" in selection) {
    const query = `query ($handle: String!) { collection(handle: $handle) { products(first: ${MAX_PRODUCTS}) { nodes { ...Shown } } } } ${PRODUCT}`;
    const schema = z.object({ collection: z.object({ products: z.object({ nodes: ProductNodes }) }).nullable() });
    return dataOf(await post(env, shop, query, { handle: selection.collection }), schema).collection?.products.nodes ?? [];
  }
  if ("ids" in selection) {
    const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { ...Shown } } ${PRODUCT}`;
    const ids = selection.ids.map((id) => `gid://shopify/Product/${id}`);
    const { nodes } = dataOf(await post(env, shop, query, { ids }), z.object({ nodes: z.array(ProductNodes.element.nullable()) }));
    return nodes.filter((node) => node !== null);
  }
  if (selection.handles.length === 0) return [];
  const fields = selection.handles.map((_, index) => `p${index}: product(handle: $h${index}) { ...Shown }`).join(" ");
  const declared = selection.handles.map((_, index) => `$h${index}: String!`).join(", ");
  const variables = Object.fromEntries(selection.handles.map((handle, index) => [`h${index}`, handle]));
  const response = await post(env, shop, `query (${declared}) { ${fields} } ${PRODUCT}`, variables);
  const found = dataOf(response, z.record(z.string(), ProductNodes.element.nullable()));
  return selection.handles.flatMap((_, index) => found[`p${index}`] ?? []);
}

interface ShopResponse {
  status: number;
  text: string;
}

async function post(env: Env, { domain, token }: ShopAccess, query: string, variables: Record<string, unknown>): Promise<ShopResponse> {
  const header = PRIVATE_TOKEN.test(token) ? "Shopify-Storefront-Private-Token" : "X-Shopify-Storefront-Access-Token";
  const init = {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json", [header]: token },
    body: JSON.stringify({ query, variables }),
  };
  return callSiteHost(env, `https://${domain}/api/${API_VERSION}/graphql.json`, init, { timeout: TIMEOUT_MS, maxBytes: MAX_BYTES });
}

const GraphqlResponse = z.object({ data: z.unknown().optional(), errors: z.array(z.object({ message: z.string() })).optional() });

/** The data of a response. Throws `unavailable` if the shop may respond later, `shop_failed` if it won't without a change. */
function dataOf<T extends z.ZodType>({ status, text }: ShopResponse, schema: T): z.output<T> {
  if (status === 429 || status === 430 || status >= 500) throw new SiteHostFailure("unavailable", `The shop responded with ${status}`);
  if (status === 401 || status === 403) throw new SiteHostFailure("shop_failed", "The shop rejects the site's Storefront access token");
  if (status !== 200) throw new SiteHostFailure("shop_failed", `The shop responded with ${status}`);
  const response = GraphqlResponse.safeParse(parseJson(text)).data;
  if (response?.errors?.some(({ message }) => /throttled/i.test(message)))
    throw new SiteHostFailure("unavailable", "The shop is throttling calls");
  const data = response && !response.errors?.length ? schema.safeParse(response.data) : undefined;
  if (!data?.success) throw new SiteHostFailure("shop_failed");
  return data.data;
}
