import { eq } from "drizzle-orm";
import { Webhook } from "standardwebhooks";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { webhookEndpoints } from "#db/schema/webhooks.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { WebhookInbox } from "#test/webhook-inbox.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { signEventData, signingKeys } from "#worker/services/webhooks/signature.ts";
import { ProgrammaticWebhook, RotatedSecret, WebhooksWithSecret } from "#worker/services/webhooks/endpoint-schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { siteStore } from "#test/site-store.ts";

let site: TestSite;

beforeEach(async () => {
  site = await newSite();
});

const newInbox = () => new WebhookInbox(randomHex(6));

/** Returns the endpoint's first secret. */
async function subscribe(inbox: WebhookInbox): Promise<string> {
  const webhooks = { enabled: true, webhookUrl: inbox.url, webhookSubscriptions: ["overlay-service-v1"] };
  return (await site.call("createWebhooks", { body: { webhooks } })).as(WebhooksWithSecret).secret ?? "";
}

async function createOverlay(): Promise<void> {
  const contents = [{ kind: "html", html: "Goal", position: "center" }];
  await site.call("createOverlay", { body: { name: "Goal", description: "", siteId: site.id, type: "template", duration: 8, contents } });
}

describe("a rotated secret", () => {
  test("signs immediately, in addition to the previous one", async () => {
    const inbox = newInbox();
    const before = await subscribe(inbox);
    const requestedAt = Date.now();
    const { secret, previousSecretExpires } = (await site.call("rotateWebhookSecret", { body: {} })).as(RotatedSecret);
    expect(previousSecretExpires - requestedAt).toBeGreaterThanOrEqual(86_400_000);
    await createOverlay();
    const [got] = await inbox.waitFor(1);
    for (const known of [before, secret]) new Webhook(known).verify(got?.body ?? "", got?.headers ?? {});
    const eventData = /"eventData":(.*),"method"/.exec(got?.body ?? "")?.[1] ?? "";
    expect(got?.payload.signature).toBe(await signEventData(await signingKeys(secret), eventData));
    const { results } = (await site.call("listEvents", { query: { types: "webhook.secretRotated" } })).as(EventList);
    expect(JSON.stringify(results)).not.toMatch(/whsec|ealed/);
  });

  test("keeps its 24 hours after further rotations, of which the 21st is rejected", async () => {
    const inbox = newInbox();
    const secrets = [await subscribe(inbox)];
    for (let i = 0; i < 20; i++) secrets.push((await site.call("rotateWebhookSecret")).as(RotatedSecret).secret);
    expect((await site.call("rotateWebhookSecret")).status).toBe(409);
    await createOverlay();
    const [got] = await inbox.waitFor(1);
    for (const secret of secrets) new Webhook(secret).verify(got?.body ?? "", got?.headers ?? {});
  });

  test("replaces one that can no longer be decrypted", async () => {
    const inbox = newInbox();
    await subscribe(inbox);
    await createDb(siteStore)
      .update(webhookEndpoints)
      .set({ secretSealed: "c2VhbGVkIHVuZGVyIGEgc2VjcmV0IHRoYXQgaXMgZ29uZQ" })
      .where(eq(webhookEndpoints.siteId, site.id));
    const { secret } = (await site.call("rotateWebhookSecret")).as(RotatedSecret);
    await createOverlay();
    const [got] = await inbox.waitFor(1);
    new Webhook(secret).verify(got?.body ?? "", got?.headers ?? {});
  });

  test("stops signing after its 24 hours", async () => {
    const inbox = newInbox();
    const before = await subscribe(inbox);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 25 * 3_600_000 });
    await site.call("rotateWebhookSecret");
    vi.useRealTimers();
    const { secret } = (await site.call("rotateWebhookSecret")).as(RotatedSecret);
    await createOverlay();
    const [got] = await inbox.waitFor(1);
    expect(got?.headers["webhook-signature"]?.split(" ")).toHaveLength(2);
    new Webhook(secret).verify(got?.body ?? "", got?.headers ?? {});
    expect(() => new Webhook(before).verify(got?.body ?? "", got?.headers ?? {})).toThrow();
  });

  test("may belong to a programmatic webhook, and is a 404 without settings", async () => {
    const created = await site.call("createProgrammaticWebhook", {
      body: { webhookUrl: "https://hooks.demo.example/settings", service: "page-service-v2" },
    });
    const { id, secret } = created.as(ProgrammaticWebhook);
    const rotated = (await site.call("rotateWebhookSecret", { body: { webhookId: id } })).as(RotatedSecret);
    expect(rotated.secret).not.toBe(secret);
    expect((await site.call("rotateWebhookSecret")).status).toBe(404);
  });
});
