import { z } from "@hono/zod-openapi";
import { vi } from "vitest";
import { randomHex } from "#worker/lib/ids.ts";
import { Overlay } from "#worker/services/overlays/schemas.ts";
import { Delivery } from "#worker/services/webhooks/delivery-schemas.ts";
import { WebhooksWithSecret } from "#worker/services/webhooks/endpoint-schemas.ts";
import type { TestSite } from "./harness.ts";
import { WebhookInbox } from "./webhook-inbox.ts";

// Helpers for the tests of webhooks.

export const URL = "https://hooks.demo.example/settings";
export const DeliveryList = z.object({
  results: z.array(Delivery),
  pagination: z.looseObject({ totalCount: z.number(), next: z.string().nullable() }),
});

export const newInbox = () => new WebhookInbox(randomHex(6));

export const settings = (webhookUrl = URL, webhookSubscriptions: unknown = ["overlay-service-v1"], enabled = true) => ({
  webhooks: { enabled, webhookUrl, webhookSubscriptions },
});

/** Subscribes an inbox to services, by default to the overlay service; returns the secret. */
export async function subscribe(site: TestSite, inbox: WebhookInbox, ...services: string[]): Promise<string> {
  const response = await site.call("createWebhooks", {
    body: settings(inbox.url, services.length > 0 ? services : ["overlay-service-v1"]),
  });
  return response.as(WebhooksWithSecret).secret ?? "";
}

export async function createOverlay(site: TestSite, name = "Goal"): Promise<string> {
  const contents = [{ kind: "html", html: "Goal", position: "center" }];
  const body = { name, description: "", siteId: site.id, type: "template", duration: 8, contents };
  return (await site.call("createOverlay", { body })).as(Overlay)._id;
}

type Listed = z.output<typeof DeliveryList>["results"][number];

export async function deliveries(site: TestSite, query: Record<string, string | number> = {}) {
  return (await site.call("listDeliveries", { query })).as(DeliveryList);
}

/** Waits for a delivery in this state, after this many attempts: by default of any event. */
export async function delivery(site: TestSite, state: string, attempts: number, type?: string) {
  const isWanted = (row: Listed): boolean =>
    row.state === state && row.attempts.length === attempts && (type === undefined || row.type === type);
  return vi.waitUntil(async () => (await deliveries(site)).results.find(isWanted), { interval: 10 });
}
