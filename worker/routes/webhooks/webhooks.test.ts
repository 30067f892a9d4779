import { Webhook } from "standardwebhooks";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { newSite, type TestSite } from "#test/harness.ts";
import { createOverlay, deliveries, newInbox, settings, subscribe, URL } from "#test/webhook-calls.ts";
import { WEBHOOK_SERVICES } from "#db/enums.ts";
import { ProgrammaticWebhook, Webhooks, WebhooksWithProgrammatic, WebhooksWithSecret } from "#worker/services/webhooks/endpoint-schemas.ts";

let site: TestSite;

beforeEach(async () => {
  site = await newSite();
});

describe("settings", () => {
  test("are disabled and without a URL until configured", async () => {
    const none = (await site.call("getWebhooks")).as(Webhooks);
    expect(none).toMatchObject({ _id: null, enabled: false, webhookUrl: null });
    expect(Object.keys(none.webhookSubscriptions)).toEqual([...WEBHOOK_SERVICES]);
    expect(new Set(Object.values(none.webhookSubscriptions))).toEqual(new Set([false]));
  });

  test("return the secret only for the first POST, and for no GET", async () => {
    const first = await site.call("createWebhooks", { body: settings() });
    expect(first.status).toBe(201);
    expect(first.as(WebhooksWithSecret).secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const second = await site.call("createWebhooks", { body: settings(URL, [], false) });
    expect(second.status).toBe(200);
    expect(second.text).not.toContain("whsec_");
    const read = await site.call("getWebhooks");
    expect(read.text).not.toContain("whsec_");
    expect(read.as(Webhooks)).toMatchObject({ enabled: false, webhookUrl: URL });
  });

  test("accept a map or a list of services", async () => {
    const list = (await site.call("createWebhooks", { body: settings(URL, ["page-service-v2", "wallet-service-v1"]) })).as(
      Webhooks.loose(),
    );
    const map = (await site.call("replaceWebhooks", { body: settings(URL, { "page-service-v2": true, "wallet-service-v1": true }) })).as(
      Webhooks,
    );
    expect(map.webhookSubscriptions).toEqual(list.webhookSubscriptions);
    expect(Object.entries(map.webhookSubscriptions).filter(([, on]) => on)).toEqual([
      ["page-service-v2", true],
      ["wallet-service-v1", true],
    ]);
  });

  test("created by PUT return the secret too", async () => {
    expect((await site.call("replaceWebhooks", { body: settings() })).as(WebhooksWithSecret).secret).toMatch(/^whsec_/);
  });

  test.each([
    ["the object", {}, "webhooks"],
    ["enabled", { webhooks: { webhookUrl: URL, webhookSubscriptions: [] } }, "webhooks.enabled"],
    ["webhookUrl", { webhooks: { enabled: true, webhookSubscriptions: [] } }, "webhooks.webhookUrl"],
    ["webhookSubscriptions", { webhooks: { enabled: true, webhookUrl: URL } }, "webhooks.webhookSubscriptions"],
  ])("are rejected without %s", async (_, body, path) => {
    for (const operation of ["createWebhooks", "replaceWebhooks"])
      expect(await site.call(operation, { body })).toMatchObject({ status: 400, fields: [path] });
  });

  test.each([
    "http://hooks.demo.example/",
    "https://127.0.0.1/",
    "https://10.0.0.1/",
    "https://[::1]/",
    "https://printer.local/",
    "ftp://a.example",
    "no",
  ])("are rejected with the URL %s", async (url) => {
    expect(await site.call("createWebhooks", { body: settings(url) })).toMatchObject({ status: 400, fields: ["webhooks.webhookUrl"] });
    const body = { webhookUrl: url, service: "page-service-v2" };
    expect(await site.call("createProgrammaticWebhook", { body })).toMatchObject({ status: 400, fields: ["webhookUrl"] });
  });

  test("created twice concurrently result in one endpoint", async () => {
    const responses = await Promise.all([1, 2, 3].map(() => site.call("createWebhooks", { body: settings() })));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
  });

  test("are separate for each site", async () => {
    await site.call("createWebhooks", { body: settings() });
    const other = await newSite();
    expect((await other.call("getWebhooks")).as(Webhooks)._id).toBeNull();
  });
});

describe("subscriptions", () => {
  test("are enabled and disabled, and others are unchanged", async () => {
    await site.call("createWebhooks", { body: settings(URL, ["page-service-v2", "wallet-service-v1"]) });
    const body = { webhookSubscriptions: { "wallet-service-v1": false, "poll-service-v3": true } };
    expect((await site.call("updateWebhookSubscriptions", { body })).status).toBe(204);
    const { webhookSubscriptions } = (await site.call("getWebhooks")).as(Webhooks);
    expect(Object.keys(webhookSubscriptions).filter((service) => webhookSubscriptions[service])).toEqual([
      "page-service-v2",
      "poll-service-v3",
    ]);
  });

  test.each([
    [{}],
    [{ webhookSubscriptions: ["page-service-v2"] }],
    [{ webhookSubscriptions: { "no-service": true } }],
    [{ webhookSubscriptions: { "page-service-v2": 1 } }],
  ])("are rejected as %j", async (body) => {
    await site.call("createWebhooks", { body: settings() });
    expect((await site.call("updateWebhookSubscriptions", { body })).status).toBe(400);
  });

  test("are a 404 without settings", async () => {
    const body = { webhookSubscriptions: { "page-service-v2": true } };
    expect((await site.call("updateWebhookSubscriptions", { body })).status).toBe(404);
  });
});

describe("programmatic webhooks", () => {
  test("receive the events of one service, signed with their own secret, until they are deleted", async () => {
    const [own, first] = [newInbox(), newInbox()];
    const siteSecret = await subscribe(site, own);
    const created = await site.call("createProgrammaticWebhook", { body: { webhookUrl: first.url, service: "overlay-service-v1" } });
    const { id, secret } = created.as(ProgrammaticWebhook);
    expect(created.status).toBe(201);
    expect(secret).not.toBe(siteSecret);
    await createOverlay(site);
    const [got] = await first.waitFor(1);
    expect(new Webhook(secret).verify(got?.body ?? "", got?.headers ?? {})).toMatchObject({
      service: "overlay-service-v1",
      webhookUrl: first.url,
    });
    expect((await deliveries(site, { webhookId: id })).pagination.totalCount).toBe(1);
    expect((await site.call("deleteProgrammaticWebhook", { params: { id } })).status).toBe(204);
    await createOverlay(site, "Unheard");
    await own.waitFor(2);
    expect(first.received).toHaveLength(1);
    expect((await site.call("deleteProgrammaticWebhook", { params: { id } })).status).toBe(404);
  });

  test("are listed with the settings, and a disabled one is enabled by rotating its secret", async () => {
    const inbox = newInbox();
    const created = await site.call("createProgrammaticWebhook", { body: { webhookUrl: inbox.url, service: "overlay-service-v1" } });
    const { id } = created.as(ProgrammaticWebhook);
    const shown = async () => (await site.call("getWebhooks")).as(WebhooksWithProgrammatic).programmatic;
    expect(await shown()).toMatchObject([
      { id, webhookUrl: inbox.url, service: "overlay-service-v1", enabled: true, disabled: null, previousSecretExpires: null },
    ]);
    inbox.otherwise = 410;
    await createOverlay(site, "Rejected");
    await vi.waitUntil(async () => (await shown()).every(({ enabled }) => !enabled));
    expect(await shown()).toMatchObject([{ id, disabled: { reason: "gone" } }]);
    inbox.otherwise = 204;
    expect((await site.call("rotateWebhookSecret", { body: { webhookId: id } })).status).toBe(200);
    expect(await shown()).toMatchObject([{ id, enabled: true, disabled: null }]);
    await createOverlay(site, "Next");
    await inbox.waitFor(3);
    expect(inbox.received.map(({ payload }) => payload.eventData.data.name).toSorted()).toEqual(["Next", "Rejected", "Rejected"]);
  });

  test("change the settings' ETag, but not the version for If-Match", async () => {
    await site.call("createWebhooks", { body: settings() });
    const tag = (await site.call("getWebhooks")).headers.get("ETag") ?? "";
    expect((await site.call("getWebhooks", { headers: { "If-None-Match": tag } })).status).toBe(304);
    await site.call("createProgrammaticWebhook", { body: { webhookUrl: URL, service: "overlay-service-v1" } });
    expect((await site.call("getWebhooks", { headers: { "If-None-Match": tag } })).status).toBe(200);
    const put = () => site.call("replaceWebhooks", { body: settings(), headers: { "If-Match": tag } });
    expect([(await put()).status, (await put()).status]).toEqual([200, 412]);
  });

  test("are rejected without a URL or a known service, and deleting requires a valid id", async () => {
    const missing = await site.call("createProgrammaticWebhook", { body: { service: "page-service-v2" } });
    expect(missing).toMatchObject({ status: 400, fields: ["webhookUrl"], problem: { issues: [{ message: "Missing Webhooks Url" }] } });
    const unknown = await site.call("createProgrammaticWebhook", { body: { webhookUrl: URL, service: "chat-service-v1" } });
    expect(unknown).toMatchObject({ status: 400, fields: ["service"] });
    const noId = await site.call("deleteProgrammaticWebhook", { params: { id: "none" } });
    expect(noId).toMatchObject({ status: 400, problem: { issues: [{ message: "Missing Webhooks Id" }] } });
  });

  test("don't include the site's own endpoint, or another site's", async () => {
    await site.call("createWebhooks", { body: settings() });
    const { _id } = (await site.call("getWebhooks")).as(Webhooks);
    expect((await site.call("deleteProgrammaticWebhook", { params: { id: _id ?? "" } })).status).toBe(404);
    const other = await newSite();
    const created = await other.call("createProgrammaticWebhook", { body: { webhookUrl: URL, service: "page-service-v2" } });
    const { id } = created.as(ProgrammaticWebhook);
    expect((await site.call("deleteProgrammaticWebhook", { params: { id } })).status).toBe(404);
  });

  test("are at most 50, also under concurrent requests", async () => {
    const body = { webhookUrl: URL, service: "wallet-service-v1" };
    const responses = await Promise.all(Array.from({ length: 53 }, () => site.call("createProgrammaticWebhook", { body })));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(50);
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(3);
  });
});
