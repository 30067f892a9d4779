import { abortAllDurableObjects, runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { WebhookEndpoint } from "../../worker/durable-objects/webhook-endpoint.ts";
import { randomHex } from "../../worker/lib/ids.ts";
import { ProgrammaticWebhook } from "../../worker/routes/webhooks/endpoint-schemas.ts";
import { newSite, type TestSite } from "../harness.ts";
import { WebhookInbox } from "../webhook-inbox.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

async function subscribe(site: TestSite): Promise<WebhookInbox & { id: string }> {
  const inbox = new WebhookInbox(randomHex(6));
  const made = await site.call("createProgrammaticWebhook", { body: { webhookUrl: inbox.url, service: "overlay-service-v1" } });
  return Object.assign(inbox, { id: made.as(ProgrammaticWebhook).id });
}

async function createOverlay(site: TestSite, name = "Goal"): Promise<void> {
  const contents = [{ kind: "html", html: "Goal", position: "center" }];
  await site.call("createOverlay", { body: { name, description: "", siteId: site.id, type: "template", duration: 8, contents } });
}

const names = (inbox: WebhookInbox): unknown[] => inbox.received.map(({ payload }) => payload.eventData.data.name);

test("an endpoint that could not take its events over gets them by the log's alarm, and the others don't wait for it", async () => {
  const site = await newSite();
  const [first, second] = [await subscribe(site), await subscribe(site)];
  await createOverlay(site, "Before");
  await Promise.all([first.holds(1), second.holds(1)]);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const accept = vi.spyOn(WebhookEndpoint.prototype, "accept").mockRejectedValueOnce(new Error("endpoint down"));
  await createOverlay(site, "Goal");
  await vi.waitFor(() => expect(accept).toHaveBeenCalledTimes(2));
  await vi.waitFor(() => expect(first.received.length + second.received.length).toBe(3));
  await vi.waitFor(async () => expect(await runDurableObjectAlarm(env.SITE_LOG.getByName(site.id))).toBe(true));
  await Promise.all([first.holds(2), second.holds(2)]);
  expect([names(first), names(second)]).toEqual([
    ["Before", "Goal"],
    ["Before", "Goal"],
  ]);
});

test("a crash of every object loses nothing that was handed over", async () => {
  const site = await newSite();
  const inbox = await subscribe(site);
  inbox.next = [500];
  await createOverlay(site, "Goal");
  await inbox.holds(1);
  await abortAllDurableObjects();
  await createOverlay(site, "Card");
  await inbox.holds(2);
  const endpoint = env.WEBHOOK_ENDPOINT.getByName(`${site.id}:${inbox.id}`);
  const page = { limit: 10, offset: 0, direction: 1 as const, cursor: null, state: null, type: null, search: null };
  const waiting = await vi.waitUntil(async () => (await endpoint.deliveries(page)).rows.find(({ state }) => state === "pending"));
  expect(waiting.attempts).toMatchObject([{ status: 500 }]);
  await endpoint.redeliver(waiting.id);
  await inbox.holds(3);
  expect(names(inbox)).toEqual(["Goal", "Card", "Goal"]);
});

test("an endpoint made later gets what comes after it alone", async () => {
  const site = await newSite();
  await createOverlay(site, "Before");
  const inbox = await subscribe(site);
  await createOverlay(site, "After");
  await inbox.holds(1);
  expect(names(inbox)).toEqual(["After"]);
});

test("a deleted endpoint forgets what waited for it", async () => {
  const site = await newSite();
  const inbox = await subscribe(site);
  inbox.otherwise = 500;
  await createOverlay(site);
  await inbox.holds(1);
  await site.call("deleteProgrammaticWebhook", { params: { id: inbox.id } });
  const endpoint = env.WEBHOOK_ENDPOINT.getByName(`${site.id}:${inbox.id}`);
  const page = { limit: 10, offset: 0, direction: 1 as const, cursor: null, state: null, type: null, search: null };
  await vi.waitFor(async () => expect((await endpoint.deliveries(page)).totalCount).toBe(0));
});
