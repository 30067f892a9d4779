import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import type { TestProject } from "vitest/node";
import { type LocalService, readText, sendJson, startLocalService } from "./local-service.ts";
import { BEHAVIOUR_HEADER, DOMAIN, HOST_HEADER, SCARF, TOKEN } from "./shopify-shop.ts";

// A stand-in for Shopify's Storefront API: an HTTP server with one shop and a few products. It accepts one kind of token, knows the fields
// that the Worker's queries ask for, and fails in the ways that a call's header asks for.

interface Product {
  id: string;
  handle: string;
  title: string;
  price: string;
  available: boolean;
}

const PRODUCTS: Product[] = [
  { id: SCARF, handle: "derby-scarf", title: "Derby scarf", price: "24.00", available: true },
  { id: "8012345678902", handle: "signed-shirt", title: "Signed shirt", price: "89.5", available: false },
];

const Call = z.object({ query: z.string(), variables: z.record(z.string(), z.unknown()) });

/** Where a redirect leads: to a response that would be accepted, so that following it is noticed. */
const ELSEWHERE = "/elsewhere";
const SHOWN = PRODUCTS.map(show);
const ANYTHING = { collection: { products: { nodes: SHOWN } }, nodes: SHOWN, p0: SHOWN[0], shop: { name: "Elsewhere" } };

/** Starts the service on a port of the loopback address, any free one by default. */
export function startShopify(port = 0): Promise<LocalService> {
  return startLocalService(handle, { port, failure: 400 });
}

/** Starts the service for all tests of a project. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const service = await startShopify();
  project.provide("shopify", service.url);
  return () => service.stop();
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === ELSEWHERE) return sendJson(response, 200, { data: ANYTHING });
  const { query, variables } = Call.parse(JSON.parse(await readText(request)));
  const isPath = /^\/api\/20\d\d-(01|04|07|10)\/graphql\.json$/.test(request.url ?? "");
  if (headerOf(request, HOST_HEADER) !== DOMAIN || !isPath || request.method !== "POST") return sendJson(response, 404, {});
  const token = headerOf(request, "x-shopify-storefront-access-token") || headerOf(request, "shopify-storefront-private-token");
  if (!token.endsWith(TOKEN)) return sendJson(response, 401, { errors: [{ message: "" }] });
  return respond(headerOf(request, BEHAVIOUR_HEADER), () => execute(query, variables), response);
}

function headerOf({ headers }: IncomingMessage, name: string): string {
  return String(headers[name] ?? "");
}

async function respond(behaviour: string, data: () => Record<string, unknown>, response: ServerResponse): Promise<void> {
  switch (behaviour) {
    case "hang":
      return;
    case "stall":
      return void response.writeHead(200, { "Content-Type": "application/json" }).write('{ "data": {');
    case "cut":
      response.writeHead(200, { "Content-Type": "application/json", "Content-Length": "1000" }).write('{ "data": {');
      return void setImmediate(() => response.destroy());
    case "error":
      return void response.writeHead(500).end("Internal error");
    case "throttled":
      return sendJson(response, 200, { errors: [{ message: "Throttled", extensions: { code: "THROTTLED" } }] });
    case "tooMany":
      return void response.writeHead(430).end();
    case "rejected":
      return void response.writeHead(401).end();
    case "graphqlErrors":
      return sendJson(response, 200, { errors: [{ message: "Field 'shop' doesn't exist", secret: TOKEN }] });
    case "garbage":
      return void response.writeHead(200).end("{ not json");
    case "html":
      return void response.writeHead(200, { "Content-Type": "text/html" }).end("<html>Enter the store's password</html>");
    case "flood":
      return void response.writeHead(200).end("x".repeat(2 * 1024 * 1024));
    case "redirect":
      return void response.writeHead(301, { Location: `http://${response.req.headers.host ?? ""}${ELSEWHERE}` }).end();
    case "otherShape":
      return sendJson(response, 200, {
        data: { collection: { products: { nodes: [{ id: 1, title: null }] } }, nodes: [{}], p0: {}, shop: null },
      });
    case "missing":
      return void response.writeHead(404).end();
    case "late":
      await sleep(50);
  }
  return sendJson(response, 200, { data: data() });
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
