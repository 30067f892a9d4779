import { abortAllDurableObjects, runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { SiteLog } from "#worker/durable-objects/site-log/site-log.ts";
import { WebhookEndpoint } from "#worker/durable-objects/webhook-endpoint/webhook-endpoint.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { ProgrammaticWebhook } from "#worker/services/webhooks/endpoint-schemas.ts";
import { newSite, type TestSite } from "../harness.ts";
import { WebhookInbox } from "../webhook-inbox.ts";

async function subscribe(site: TestSite): Promise<WebhookInbox & { id: string }> {
  const inbox = new WebhookInbox(randomHex(6));
  const created = await site.call("createProgrammaticWebhook", { body: { webhookUrl: inbox.url, service: "overlay-service-v1" } });
  return Object.assign(inbox, { id: created.as(ProgrammaticWebhook).id });
}

async function createOverlay(site: TestSite, name = "Goal"): Promise<void> {
  const contents = [{ kind: "html", html: "Goal", position: "center" }];
  await site.call("createOverlay", { body: { name, description: "", siteId: site.id, type: "template", duration: 8, contents } });
}

const settings = (url: string, ...services: string[]) => ({ webhooks: { enabled: true, webhookUrl: url, webhookSubscriptions: services } });

/** Makes changes whose nudges are all lost, then lets the log take them in one run. */
async function inOneRun(site: TestSite, ...changes: (() => Promise<unknown>)[]): Promise<void> {
  const lost = vi.spyOn(SiteLog.prototype, "nudge").mockResolvedValue();
  for (const change of changes) await change();
  await vi.waitFor(() => expect(lost.mock.calls.length).toBeGreaterThanOrEqual(changes.length));
  lost.mockRestore();
  await env.SITE_LOG.getByName(site.id).nudge();
}

const names = (inbox: WebhookInbox): unknown[] => inbox.received.map(({ payload }) => payload.eventData.data.name);

test("an endpoint that failed to accept its events gets them by the log's alarm, and doesn't delay others", async () => {
  const site = await newSite();
  const [first, second] = [await subscribe(site), await subscribe(site)];
  await createOverlay(site, "Before");
  await Promise.all([first.waitFor(1), second.waitFor(1)]);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const accept = vi.spyOn(WebhookEndpoint.prototype, "accept").mockRejectedValueOnce(new Error("endpoint down"));
  await createOverlay(site, "Goal");
  await vi.waitFor(() => expect(accept).toHaveBeenCalledTimes(2));
  await vi.waitFor(() => expect(first.received.length + second.received.length).toBe(3));
  await vi.waitFor(async () => expect(await runDurableObjectAlarm(env.SITE_LOG.getByName(site.id))).toBe(true));
  await Promise.all([first.waitFor(2), second.waitFor(2)]);
  expect([names(first), names(second)]).toEqual([
    ["Before", "Goal"],
    ["Before", "Goal"],
  ]);
});

test("a crash of every object loses no accepted event", async () => {
  const site = await newSite();
  const inbox = await subscribe(site);
  inbox.next = [500];
  await createOverlay(site, "Goal");
  await inbox.waitFor(1);
  await abortAllDurableObjects();
  await createOverlay(site, "Card");
  await inbox.waitFor(2);
  const endpoint = env.WEBHOOK_ENDPOINT.getByName(`${site.id}:${inbox.id}`);
  const page = { limit: 10, offset: 0, direction: 1 as const, cursor: null, state: null, type: null, search: null };
  const waiting = await vi.waitUntil(async () => (await endpoint.deliveries(page)).rows.find(({ state }) => state === "pending"));
  expect(waiting.attempts).toMatchObject([{ status: 500 }]);
  await endpoint.redeliver(waiting.id);
  await inbox.waitFor(3);
  expect(names(inbox)).toEqual(["Goal", "Card", "Goal"]);
});

test("a new endpoint receives only later events", async () => {
  const site = await newSite();
  await createOverlay(site, "Before");
  const inbox = await subscribe(site);
  await createOverlay(site, "After");
  await inbox.waitFor(1);
  expect(names(inbox)).toEqual(["After"]);
});

test("a deleted endpoint drops its pending deliveries", async () => {
  const site = await newSite();
  const inbox = await subscribe(site);
  inbox.otherwise = 500;
  await createOverlay(site);
  await inbox.waitFor(1);
  await site.call("deleteProgrammaticWebhook", { params: { id: inbox.id } });
  const endpoint = env.WEBHOOK_ENDPOINT.getByName(`${site.id}:${inbox.id}`);
  const page = { limit: 10, offset: 0, direction: 1 as const, cursor: null, state: null, type: null, search: null };
  await vi.waitFor(async () => expect((await endpoint.deliveries(page)).totalCount).toBe(0));
});

test("endpoints created between other changes receive what followed each of them, even if the log takes everything at once", async () => {
  const site = await newSite();
  const inboxes: WebhookInbox[] = [];
  const addInbox = async () => inboxes.push(await subscribe(site));
  const changes = ["First", "Second", "Third"].flatMap((name) => [addInbox, () => createOverlay(site, name)]);
  await inOneRun(site, ...changes);
  await Promise.all(inboxes.map((inbox, i) => inbox.waitFor(3 - i)));
  expect(inboxes.map(names)).toEqual([["First", "Second", "Third"], ["Second", "Third"], ["Third"]]);
});

test("each event uses the subscriptions at its own position, even if the log takes several changes at once", async () => {
  const site = await newSite();
  const inbox = new WebhookInbox(randomHex(6));
  const setSubscribed = (on: boolean) =>
    site.call("updateWebhookSubscriptions", { body: { webhookSubscriptions: { "overlay-service-v1": on } } });
  await site.call("createWebhooks", { body: settings(inbox.url, "page-service-v2") });
  await inOneRun(
    site,
    () => createOverlay(site, "Too early"),
    () => setSubscribed(true),
    () => createOverlay(site, "Received"),
    () => setSubscribed(false),
    () => createOverlay(site, "Too late"),
    () => site.call("rotateWebhookSecret"),
  );
  await setSubscribed(true);
  await createOverlay(site, "Last");
  await inbox.waitFor(2);
  expect(names(inbox)).toEqual(["Received", "Last"]);
});

test("an endpoint that failed to accept an event gets it before a later change to its subscriptions applies", async () => {
  const site = await newSite();
  const inbox = new WebhookInbox(randomHex(6));
  await site.call("createWebhooks", { body: settings(inbox.url, "overlay-service-v1") });
  await createOverlay(site, "First");
  await inbox.waitFor(1);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  vi.spyOn(WebhookEndpoint.prototype, "accept").mockRejectedValueOnce(new Error("endpoint down"));
  await inOneRun(
    site,
    () => createOverlay(site, "Before"),
    () => site.call("updateWebhookSubscriptions", { body: { webhookSubscriptions: { "overlay-service-v1": false } } }),
    () => createOverlay(site, "After"),
  );
  expect(await runDurableObjectAlarm(env.SITE_LOG.getByName(site.id))).toBe(true);
  await inbox.waitFor(2);
  expect(names(inbox)).toEqual(["First", "Before"]);
});

test("an endpoint that fails to accept its own change doesn't block others, and loses nothing", async () => {
  const site = await newSite();
  const broken = new WebhookInbox(randomHex(6));
  await site.call("createWebhooks", { body: settings(broken.url, "overlay-service-v1") });
  await createOverlay(site, "First");
  await broken.waitFor(1);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  vi.spyOn(WebhookEndpoint.prototype, "accept").mockRejectedValueOnce(new Error("endpoint down"));
  const others: WebhookInbox[] = [];
  await inOneRun(
    site,
    () => createOverlay(site, "Before"),
    () => site.call("rotateWebhookSecret"),
    async () => others.push(await subscribe(site)),
    () => createOverlay(site, "Goal"),
  );
  const [other] = others;
  await other?.waitFor(1);
  expect(names(other ?? broken)).toEqual(["Goal"]);
  expect(names(broken)).toEqual(["First"]);
  expect(await runDurableObjectAlarm(env.SITE_LOG.getByName(site.id))).toBe(true);
  await broken.waitFor(3);
  expect(names(broken)).toEqual(["First", "Before", "Goal"]);
  expect(names(other ?? broken)).toEqual(["Goal"]);
});
