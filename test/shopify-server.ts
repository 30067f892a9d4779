import { z } from "@hono/zod-openapi";
import { inject } from "vitest";
import type { TestSite } from "./harness.ts";
import { BEHAVIOUR_HEADER, type Behaviour, DOMAIN, HOST_HEADER, SCARF, TOKEN } from "./shopify-shop.ts";

// What tests do with the stand-in for Shopify. The Worker's calls to *.myshopify.com are sent to it over HTTP, as they are.

export { type Behaviour, DOMAIN, SCARF, TOKEN };
export const WEBHOOK_SECRET = "hush-hush-hush-hush";

const Call = z.object({ query: z.string(), variables: z.record(z.string(), z.unknown()) });

const initial: { behaviour: Behaviour } = { behaviour: "succeed" };

export const shopify = {
  calls: new Array<{ url: string; token: string | null; query: string; variables: Record<string, unknown> }>(),
  /** How the next calls behave. */
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
    return url.hostname.endsWith(".myshopify.com") ? forward(url, init ?? {}) : realFetch(input, init);
  },
});

async function forward(url: URL, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  const token = headers.get("X-Shopify-Storefront-Access-Token") ?? headers.get("Shopify-Storefront-Private-Token");
  const { query, variables } = Call.parse(JSON.parse(typeof init.body === "string" ? init.body : "{}"));
  shopify.calls.push({ url: url.href, token, query, variables });
  headers.set(HOST_HEADER, url.hostname);
  headers.set(BEHAVIOUR_HEADER, shopify.behaviour);
  return realFetch(new URL(url.pathname, inject("shopify")), { ...init, headers });
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
