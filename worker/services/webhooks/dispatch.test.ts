import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { webhookEndpoints } from "#db/schema/webhooks.ts";
import { newSite } from "#test/harness.ts";
import { type InboxResponse, WebhookInbox } from "#test/webhook-inbox.ts";
import type { QueuedEvent } from "#worker/durable-objects/webhook-endpoint/webhook-endpoint.protocol.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { newWebhookSecret, signingKeys } from "./signature.ts";
import { SharedDeadline } from "#worker/lib/time/with-timeout.ts";
import { Webhooks } from "./endpoint-schemas.ts";
import { disableEndpoint, sendEvent } from "./dispatch.ts";
import { siteStore } from "#test/site-store.ts";

function newEvent(): QueuedEvent {
  const [id, resource] = [newId(Date.now()), `overlay/${newId(Date.now())}`];
  const eventData = { id, type: "overlay.updated", created: Date.now(), sequence: 1, previousSequence: null, resource, data: { _id: id } };
  const origin = { account: null, method: "PUT", originPath: "/overlay/v1/{id}" };
  return { id, type: "overlay.updated", resource, service: "overlay-service-v1", eventData: JSON.stringify(eventData), ...origin };
}

/** Sends one event to a receiver with this behaviour. */
async function sendTo(inbox: WebhookInbox, response: InboxResponse, timeout = 540_000) {
  inbox.otherwise = response;
  const target = { url: inbox.url, enabled: true, version: 1, keys: await signingKeys(newWebhookSecret()), previous: [] };
  return sendEvent(env, target, newEvent(), new SharedDeadline(timeout));
}

const newInbox = () => new WebhookInbox(randomHex(6));

test("a receiver that doesn't respond in time counts as failed", async () => {
  expect(await sendTo(newInbox(), "hang", 100)).toMatchObject({ status: null, error: "No response within 0.1 s" });
});

test("a 2xx response counts as delivered, without waiting for its body", async () => {
  const inbox = newInbox();
  expect(await sendTo(inbox, "endless")).toMatchObject({ status: 200, error: null });
  expect(inbox.cancelled).toBe(1);
});

test.each([301, 308, 400, 410, 500])("a response with %i counts as failed", async (status) => {
  const inbox = newInbox();
  expect(await sendTo(inbox, status)).toMatchObject({ status, error: `Responded with ${status}` });
  expect(inbox.received).toHaveLength(1);
});

test("a failure under old settings doesn't disable new ones", async () => {
  const site = await newSite();
  const webhooks = { enabled: true, webhookUrl: newInbox().url, webhookSubscriptions: ["overlay-service-v1"] };
  await site.call("createWebhooks", { body: { webhooks } });
  const db = createDb(siteStore);
  const [before] = await db.select().from(webhookEndpoints).where(eq(webhookEndpoints.siteId, site.id));
  if (!before) throw new Error("No endpoint was created");
  const disable = (version: number) => disableEndpoint(env, site.id, before.id, { reason: "gone", version, now: Date.now() });
  await site.call("replaceWebhooks", { body: { webhooks: { ...webhooks, webhookUrl: newInbox().url } } });
  await disable(before.version);
  expect((await site.call("getWebhooks")).as(Webhooks)).toMatchObject({ enabled: true });
  await disable(before.version + 1);
  expect((await site.call("getWebhooks")).as(Webhooks)).toMatchObject({ enabled: false, disabled: { reason: "gone" } });
});

test("an endpoint whose secret can't be decrypted still accepts events", async () => {
  const site = await newSite();
  const webhooks = { enabled: true, webhookUrl: newInbox().url, webhookSubscriptions: ["overlay-service-v1"] };
  await site.call("createWebhooks", { body: { webhooks } });
  const db = createDb(siteStore);
  const rows = await db.update(webhookEndpoints).set({ secretSealed: "AAAA" }).where(eq(webhookEndpoints.siteId, site.id)).returning();
  const stub = env.WEBHOOK_ENDPOINT.getByName(`${site.id}:${rows[0]?.id}`);
  await stub.accept([newEvent()], true);
  const waiting = await stub.deliveries({ limit: 9, offset: 0, direction: -1, cursor: null, state: "pending", type: null, search: null });
  expect(waiting.totalCount).toBe(1);
});
