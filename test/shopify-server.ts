import { z } from "@hono/zod-openapi";
import type { TestSite } from "./harness.ts";

// A stand-in for Shopify's Storefront API at the addresses that the Worker calls, with a few products. It accepts one kind of token, knows
// the fields that its queries ask for, signs webhooks, and fails in the ways that a test asks for.

export const DOMAIN = "harbour-city.myshopify.com";
export const TOKEN = "0123456789abcdef0123456789abcdef";
export const WEBHOOK_SECRET = "hush-hush-hush-hush";
export const SCARF = "8012345678901";
const SHIRT = "8012345678902";

/** How the next calls behave: "late" responds after others have waited, "hang" never does. */
export type Behaviour =
  | "succeed"
  | "late"
  | "hang"
  | "error"
  | "throttled"
  | "graphqlErrors"
  | "garbage"
  | "html"
  | "flood"
  | "redirect"
  | "otherShape"
  | "missing";

interface Product {
  id: string;
  handle: string;
  title: string;
  price: string;
  available: boolean;
}

const PRODUCTS: Product[] = [
  { id: SCARF, handle: "derby-scarf", title: "Derby scarf", price: "24.00", available: true },
  { id: SHIRT, handle: "signed-shirt", title: "Signed shirt", price: "89.5", available: false },
];

const Call = z.object({ query: z.string(), variables: z.record(z.string(), z.unknown()) });

const initial: { behaviour: Behaviour } = { behaviour: "succeed" };

export const shopify = {
  calls: new Array<{ url: string; token: string | null; query: string; variables: Record<string, unknown> }>(),
  ...initial,
  /** Resets behaviour and calls. */
  recover(): void {
    shopify.behaviour = "succeed";
    shopify.calls = [];
  },
};

const realFetch = globalThis.fetch;

Object.assign(globalThis, {
  fetch: async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input);
    return url.hostname.endsWith(".myshopify.com") ? receive(url, init ?? {}) : realFetch(input, init);
  },
});

async function receive(url: URL, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  const token = headers.get("X-Shopify-Storefront-Access-Token") ?? headers.get("Shopify-Storefront-Private-Token");
  const { query, variables } = Call.parse(JSON.parse(typeof init.body === "string" ? init.body : "{}"));
  shopify.calls.push({ url: url.href, token, query, variables });
  const isKnown = url.hostname === DOMAIN && /^\/api\/20\d\d-(01|04|07|10)\/graphql\.json$/.test(url.pathname) && init.method === "POST";
  if (!isKnown) return new Response("Not Found", { status: 404 });
  if (token?.endsWith(TOKEN) !== true) return Response.json({ errors: [{ message: "" }] }, { status: 401 });
  return respond(query, variables, init);
}

async function respond(query: string, variables: Record<string, unknown>, { signal, redirect }: RequestInit): Promise<Response> {
  switch (shopify.behaviour) {
    case "hang":
      if (!signal) throw new Error("A call without a signal would hang forever");
      throw new DOMException("Aborted", "AbortError");
    case "error":
      return new Response("Internal error", { status: 500 });
    case "throttled":
      return Response.json({ errors: [{ message: "Throttled", extensions: { code: "THROTTLED" } }] });
    case "graphqlErrors":
      return Response.json({ errors: [{ message: "Field 'shop' doesn't exist", secret: TOKEN }] });
    case "garbage":
      return new Response("{ not json");
    case "html":
      return new Response("<html>Enter the store's password</html>", { headers: { "Content-Type": "text/html" } });
    case "flood":
      return new Response("x".repeat(2 * 1024 * 1024));
    case "redirect":
      if (redirect !== "manual") throw new Error("Would follow the redirect");
      return new Response(null, { status: 301, headers: { Location: "https://elsewhere.example/" } });
    case "otherShape":
      return Response.json({ data: { collection: { products: { nodes: [{ id: 1, title: null }] } }, nodes: [{}], p0: {}, shop: null } });
    case "missing":
      return new Response("", { status: 404 });
    case "late":
      await new Promise((resolve) => setTimeout(resolve, 50));
      return Response.json({ data: execute(query, variables) });
    case "succeed":
      return Response.json({ data: execute(query, variables) });
  }
}

function execute(query: string, variables: Record<string, unknown>): Record<string, unknown> {
  if (query.includes("shop { name }")) return { shop: { name: "Harbour City" } };
  if (query.includes("collection(handle"))
    return { collection: variables.handle === "derby" ? { products: { nodes: PRODUCTS.map(show) } } : null };
  if (query.includes("nodes(ids")) {
    const ids = z.array(z.string()).parse(variables.ids);
    return { nodes: ids.map((id) => find(({ id: own }) => id === `gid://shopify/Product/${own}`)) };
  }
  const aliases = [...query.matchAll(/(p\d+): product\(handle: \$(h\d+)\)/g)];
  return Object.fromEntries(aliases.map(([, alias = "", name = ""]) => [alias, find(({ handle }) => handle === variables[name])]));
}

function find(matches: (product: Product) => boolean) {
  const product = PRODUCTS.find(matches);
  return product ? show(product) : null;
}

function show({ id, handle, title, price, available }: Product) {
  const money = { amount: price, currencyCode: "GBP" };
  const variant = {
    id: `gid://shopify/ProductVariant/4${id}`,
    title: "Default Title",
    sku: handle,
    availableForSale: available,
    price: money,
  };
  return {
    ...{ id: `gid://shopify/Product/${id}`, handle, title, description: `${title} of the club`, availableForSale: available },
    onlineStoreUrl: `https://shop.demo.example/products/${handle}`,
    featuredImage: { url: `https://cdn.shopify.com/${handle}.jpg`, altText: null },
    priceRange: { minVariantPrice: money, maxVariantPrice: money },
    variants: { nodes: [variant] },
  };
}

/** Connects a site to the stand-in. */
export async function connectShop(site: TestSite): Promise<void> {
  const body = { domain: DOMAIN, storefrontToken: TOKEN, webhookSecret: WEBHOOK_SECRET };
  const { status, text } = await site.call("connectShop", { body });
  if (status !== 200) throw new Error(`The shop was not connected: ${text}`);
}

let orders = 0;

/** An order as Shopify reports it, with its customer. */
export function newOrder(change: Record<string, unknown> = {}): Record<string, unknown> {
  const id = 5_678_901_234_000 + ++orders;
  return {
    ...{ id, admin_graphql_api_id: `gid://shopify/Order/${id}`, name: `#${1000 + orders}`, email: "ada@demo.example" },
    ...{ total_price: "24.00", currency: "GBP", financial_status: "paid" },
    customer: { id: 1, email: "ada@demo.example", first_name: "Ada", last_name: "Moreno" },
    shipping_address: { address1: "1 Quay Street" },
    line_items: [
      { id: 1, product_id: Number(SCARF), variant_id: 44_012_345_678_901, sku: "derby-scarf", quantity: 1, title: "Derby scarf" },
    ],
    note_attributes: [],
    ...change,
  };
}

/** A webhook as Shopify sends it. */
export async function signedWebhook(
  order: unknown,
  { secret = WEBHOOK_SECRET, topic = "orders/paid", webhookId = `webhook-${orders}-${Math.random()}` } = {},
): Promise<{ body: Blob; headers: Record<string, string> }> {
  const text = typeof order === "string" ? order : JSON.stringify(order);
  const encoder = new TextEncoder();
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signature = btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(text)))));
  return {
    body: new Blob([text], { type: "application/json; charset=utf-8" }),
    headers: { "X-Shopify-Hmac-Sha256": signature, "X-Shopify-Topic": topic, "X-Shopify-Webhook-Id": webhookId },
  };
}
