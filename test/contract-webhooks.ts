import { z } from "@hono/zod-openapi";
import { vi } from "vitest";
import type { TestSite } from "./harness.ts";
import "./webhook-inbox.ts";

const List = z.object({ results: z.array(z.looseObject({ _id: z.string(), state: z.string() })) });

/** Creates the site's own endpoint, at a receiver that accepts everything. */
async function setWebhooks(site: TestSite): Promise<void> {
  const webhooks = { enabled: true, webhookUrl: "https://hooks.demo.example/tifo", webhookSubscriptions: ["overlay-service-v1"] };
  await site.call("createWebhooks", { body: { webhooks } });
}

async function sendTest(site: TestSite): Promise<void> {
  await setWebhooks(site);
  await site.call("testWebhooks");
}

async function delivered(site: TestSite): Promise<string> {
  await sendTest(site);
  const settled = async () => List.parse((await site.call("listDeliveries")).body).results.find(({ state }) => state === "delivered");
  return (await vi.waitUntil(settled, { interval: 20 }))._id;
}

/** What must exist before an operation is called. */
export const WEBHOOK_PREREQUISITES: Record<string, (site: TestSite) => Promise<void>> = {
  updateWebhookSubscriptions: setWebhooks,
  rotateWebhookSecret: setWebhooks,
  testWebhooks: setWebhooks,
  listDeliveries: sendTest,
};

/** Creates the resource of these paths. */
export const WEBHOOK_RESOURCES: Record<string, (site: TestSite) => Promise<string>> = {
  "/webhooks/v1/deliveries/{id}/payload": delivered,
  "/webhooks/v1/deliveries/{id}/redeliver": delivered,
};
