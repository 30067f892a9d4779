import { z } from "@hono/zod-openapi";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { newSite, type TestSite } from "../../../test/harness.ts";
import { publishAddresses, timesAsked } from "../../../test/resolver.ts";
import { WebhookInbox } from "../../../test/webhook-inbox.ts";
import { WEBHOOK_SERVICES } from "../../../db/enums.ts";
import { randomHex } from "../../lib/ids.ts";
import { signEventData, signingKeys } from "../../lib/webhook-signature.ts";
import { Overlay } from "../overlays/schemas.ts";
import { Delivery } from "./delivery-schemas.ts";
import { ProgrammaticWebhook, Webhooks, WebhooksWithSecret } from "./endpoint-schemas.ts";
import { EventList } from "./schemas.ts";

const DeliveryList = z.object({
  results: z.array(Delivery),
  pagination: z.looseObject({ totalCount: z.number(), next: z.string().nullable() }),
});
const URL = "https://hooks.demo.example/settings";

let site: TestSite;

beforeEach(async () => {
  site = await newSite();
});

afterEach(() => {
  vi.restoreAllMocks();
});

const newInbox = () => new WebhookInbox(randomHex(6));
const settings = (webhookUrl = URL, webhookSubscriptions: unknown = ["overlay-service-v1"], enabled = true) => ({
  webhooks: { enabled, webhookUrl, webhookSubscriptions },
});

async function subscribe(inbox: WebhookInbox, ...services: string[]): Promise<string> {
  const answer = await site.call("createWebhooks", { body: settings(inbox.url, services.length > 0 ? services : ["overlay-service-v1"]) });
  return answer.as(WebhooksWithSecret).secret ?? "";
}

async function createOverlay(name = "Goal"): Promise<string> {
  const contents = [{ kind: "html", html: "Goal", position: "center" }];
  const body = { name, description: "", siteId: site.id, type: "template", duration: 8, contents };
  return (await site.call("createOverlay", { body })).as(Overlay)._id;
}

async function deliveries(query: Record<string, string | number> = {}) {
  return (await site.call("listDeliveries", { query })).as(DeliveryList);
}

/** The newest delivery, once it is in this state and was tried so often. */
async function delivery(state: string, tries: number) {
  return vi.waitUntil(async () => (await deliveries()).results.find((row) => row.state === state && row.attempts.length === tries), {
    timeout: 10_000,
    interval: 10,
  });
}

/** Sets the clock forward by so many ms of the real one, until the test ends. */
function later(ms: number): void {
  vi.spyOn(Date, "now").mockImplementation(() => new Date().getTime() + ms);
}

describe("settings", () => {
  test("are off and without an address until they are set", async () => {
    const none = (await site.call("getWebhooks")).as(Webhooks);
    expect(none).toMatchObject({ _id: null, enabled: false, webhookUrl: null });
    expect(Object.keys(none.webhookSubscriptions)).toEqual([...WEBHOOK_SERVICES]);
    expect(new Set(Object.values(none.webhookSubscriptions))).toEqual(new Set([false]));
  });

  test("answer the secret to the first POST alone, and to no GET", async () => {
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

  test("take a map or a list of services", async () => {
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

  test("that PUT makes answer the secret too", async () => {
    expect((await site.call("replaceWebhooks", { body: settings() })).as(WebhooksWithSecret).secret).toMatch(/^whsec_/);
  });

  test.each([
    ["the object", {}, "webhooks"],
    ["enabled", { webhooks: { webhookUrl: URL, webhookSubscriptions: [] } }, "webhooks.enabled"],
    ["webhookUrl", { webhooks: { enabled: true, webhookSubscriptions: [] } }, "webhooks.webhookUrl"],
    ["webhookSubscriptions", { webhooks: { enabled: true, webhookUrl: URL } }, "webhooks.webhookSubscriptions"],
  ])("are refused without %s", async (_, body, path) => {
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
  ])("are refused with the address %s", async (url) => {
    expect(await site.call("createWebhooks", { body: settings(url) })).toMatchObject({ status: 400, fields: ["webhooks.webhookUrl"] });
    const body = { webhookUrl: url, service: "page-service-v2" };
    expect(await site.call("createProgrammaticWebhook", { body })).toMatchObject({ status: 400, fields: ["webhookUrl"] });
  });

  test("made twice at the same time make one endpoint", async () => {
    const answers = await Promise.all([1, 2, 3].map(() => site.call("createWebhooks", { body: settings() })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  });

  test("are each site's own", async () => {
    await site.call("createWebhooks", { body: settings() });
    const other = await newSite();
    expect((await other.call("getWebhooks")).as(Webhooks)._id).toBeNull();
  });
});

describe("subscriptions", () => {
  test("are turned on and off, the others stay", async () => {
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
  ])("are refused as %j", async (body) => {
    await site.call("createWebhooks", { body: settings() });
    expect((await site.call("updateWebhookSubscriptions", { body })).status).toBe(400);
  });

  test("of no settings are a 404", async () => {
    const body = { webhookSubscriptions: { "page-service-v2": true } };
    expect((await site.call("updateWebhookSubscriptions", { body })).status).toBe(404);
  });
});

describe("a delivery", () => {
  test("tells what happened, by which request, and proves by both signatures from whom it comes", async () => {
    const inbox = newInbox();
    const secret = await subscribe(inbox);
    const overlayId = await createOverlay();
    const [got] = await inbox.holds(1);
    if (!got) throw new Error("Nothing came");
    expect(got.payload).toMatchObject({
      account: null,
      method: "POST",
      originPath: "/overlay/v1",
      service: "overlay-service-v1",
      webhookUrl: inbox.url,
      eventData: {
        type: "overlay.created",
        resource: `overlay/${overlayId}`,
        previousSequence: null,
        data: { _id: overlayId, name: "Goal" },
      },
    });
    const eventData = /"eventData":(.*),"method"/.exec(got.body)?.[1] ?? "";
    expect(got.payload.signature).toBe(await signEventData(await signingKeys(secret), eventData));
    expect(got.headers["webhook-id"]).toBe(got.payload.eventData.id);
    expect(new Webhook(secret).verify(got.body, got.headers)).toEqual(got.payload);
    expect(() => new Webhook(secret).verify(got.body.replace("Goal", "Gaol"), got.headers)).toThrow();
  });

  test("comes only from services that are subscribed to, and not while webhooks are off", async () => {
    const inbox = newInbox();
    await subscribe(inbox, "overlay-service-v1");
    await site.call("updatePage", { params: { id: site.channels[0] }, body: { slug: "moved", data: { name: "Moved" } } });
    await createOverlay("First");
    await inbox.holds(1);
    await site.call("replaceWebhooks", { body: settings(inbox.url, ["overlay-service-v1"], false) });
    await createOverlay("Unheard");
    await site.call("replaceWebhooks", { body: settings(inbox.url, ["overlay-service-v1"]) });
    await createOverlay("Last");
    await inbox.holds(2);
    expect(inbox.received.map(({ payload }) => payload.eventData.data.name)).toEqual(["First", "Last"]);
  });

  test("names the account that it is about, else the one that did it", async () => {
    const inbox = newInbox();
    await subscribe(inbox, "account-service-v3", "page-service-v2");
    const { viewer, admin } = site.accounts;
    await site.call("updateAccount", { params: { id: viewer.id }, body: { name: "Vera" }, as: "admin" });
    await site.call("updatePage", { as: "admin", params: { id: site.channels[0] }, body: { slug: "moved", data: { name: "Moved" } } });
    await inbox.holds(2);
    expect(inbox.received.map(({ payload }) => [payload.eventData.type, payload.account])).toEqual([
      ["account.updated", viewer.id],
      ["admin.channelUpdated", admin.id],
    ]);
  });

  test.each([500, 301, 404])("that is answered %i is shown as failed and comes again", async (status) => {
    const inbox = newInbox();
    await subscribe(inbox);
    inbox.next = [status];
    const before = Date.now();
    await createOverlay();
    const row = await delivery("pending", 1);
    expect(row).toMatchObject({ type: "overlay.created", attempts: [{ status, error: `Answered ${status}` }] });
    expect(row.nextTry).toBeGreaterThanOrEqual(before + 5_000);
    expect(row.nextTry).toBeLessThan(Date.now() + 6_000);
    expect((await site.call("redeliver", { params: { id: row._id } })).status).toBe(202);
    expect((await delivery("delivered", 2)).attempts.map((attempt) => attempt.status)).toEqual([status, 204]);
    const [first, second] = inbox.received;
    expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
  });

  test("that was taken is sent again when asked for", async () => {
    const inbox = newInbox();
    await subscribe(inbox);
    await createOverlay();
    const { _id } = await delivery("delivered", 1);
    await site.call("redeliver", { params: { id: _id } });
    await delivery("delivered", 2);
    expect(inbox.received).toHaveLength(2);
  });

  test("of another site can't be sent again or seen", async () => {
    await subscribe(newInbox());
    await createOverlay();
    const { _id } = await delivery("delivered", 1);
    const other = await newSite();
    await other.call("createWebhooks", { body: settings() });
    expect((await other.call("redeliver", { params: { id: _id } })).status).toBe(404);
    expect((await other.call("listDeliveries")).as(DeliveryList).results).toEqual([]);
    const { _id: webhookId } = (await site.call("getWebhooks")).as(Webhooks);
    expect((await other.call("listDeliveries", { query: { webhookId: webhookId ?? "" } })).status).toBe(404);
  });

  test("list pages through all, newest first or not, and filters", async () => {
    const inbox = newInbox();
    await subscribe(inbox);
    for (let i = 0; i < 5; i++) await createOverlay(`Overlay ${i}`);
    await inbox.holds(5);
    const all = (await deliveries()).results.map(({ _id }) => _id);
    expect(all).toHaveLength(5);
    const seen: string[] = [];
    let query: Record<string, string | number> = { limit: 2 };
    for (;;) {
      const { results, pagination } = await deliveries(query);
      seen.push(...results.map(({ _id }) => _id));
      expect(pagination.totalCount).toBe(5);
      if (pagination.next === null) break;
      query = Object.fromEntries(new URLSearchParams(pagination.next.split("?")[1]));
    }
    expect(seen).toEqual(all);
    expect((await deliveries({ sortDirection: 1 })).results.map(({ _id }) => _id)).toEqual(all.toReversed());
    expect((await deliveries({ type: "overlay.updated" })).results).toEqual([]);
    expect((await deliveries({ state: "failed" })).results).toEqual([]);
    expect((await deliveries({ search: "OVERLAY.created" })).results).toHaveLength(5);
  });

  test("is undone by 410: the endpoint is switched off and an event says so", async () => {
    const inbox = newInbox();
    await subscribe(inbox);
    inbox.otherwise = 410;
    await createOverlay();
    const off = await vi.waitUntil(async () => {
      const read = (await site.call("getWebhooks")).as(Webhooks);
      return read.enabled ? undefined : read;
    });
    expect(off.disabled).toMatchObject({ reason: "gone" });
    const { results } = (await site.call("listEvents", { query: { types: "webhook.disabled" } })).as(EventList);
    expect(results).toMatchObject([
      { resource: `webhook/${off._id}`, actor: "system", data: { enabled: false, disabled: { reason: "gone" } } },
    ]);
    await createOverlay("Unheard");
    inbox.otherwise = 204;
    await site.call("replaceWebhooks", { body: settings(inbox.url) });
    expect((await site.call("getWebhooks")).as(Webhooks)).toMatchObject({ enabled: true, disabled: null });
    await delivery("delivered", 2);
    expect(inbox.received.map(({ payload }) => payload.eventData.data.name)).toEqual(["Goal", "Goal"]);
  });
});

describe("the host of an address", () => {
  const inside = ["10.0.0.8", "127.0.0.1", "169.254.169.254", "100.64.0.1", "::1", "fd00::8", "::ffff:10.0.0.8"];
  const newHost = () => `hooks-${randomHex(6)}.demo.example`;

  test.each(inside)("may not lead to %s, not even beside a public one", async (address) => {
    for (const addresses of [[address], ["93.184.215.14", "2606:4700::1111", address]]) {
      const host = newHost();
      publishAddresses(host, addresses);
      const own = await site.call("createWebhooks", { body: settings(`https://${host}/`) });
      expect(own).toMatchObject({ status: 400, fields: ["webhooks.webhookUrl"] });
      const body = { webhookUrl: `https://${host}/`, service: "page-service-v2" };
      expect(await site.call("createProgrammaticWebhook", { body })).toMatchObject({ status: 400, fields: ["webhookUrl"] });
    }
  });

  test("must be one that the resolver knows and can tell of", async () => {
    const nowhere = newHost();
    publishAddresses(nowhere, []);
    for (const host of [nowhere, `unreachable.${newHost()}`, `broken.${newHost()}`, `garbled.${newHost()}`]) {
      const answer = await site.call("createWebhooks", { body: settings(`https://${host}/`) });
      expect(answer).toMatchObject({ status: 400, fields: ["webhooks.webhookUrl"] });
    }
  });

  test("is looked at again before each delivery: one that leads inside since it was saved gets nothing", async () => {
    const host = newHost();
    publishAddresses(host, ["93.184.215.14"], 0);
    const inbox = new WebhookInbox(randomHex(6), `https://${host}`);
    await subscribe(inbox);
    await createOverlay();
    await inbox.holds(1);
    publishAddresses(host, ["10.0.0.8"], 0);
    later(2_000);
    await createOverlay("Unheard");
    const { _id, attempts } = await delivery("pending", 1);
    expect(attempts[0]?.status).toBeNull();
    expect(attempts[0]?.error).toContain("may not be called");
    expect(inbox.received).toHaveLength(1);
    publishAddresses(host, ["93.184.215.14"], 0);
    later(4_000);
    await site.call("redeliver", { params: { id: _id } });
    expect((await inbox.holds(2)).at(-1)?.payload.eventData.data.name).toBe("Unheard");
  });

  test("is asked for once as long as the answer holds, however much is delivered", async () => {
    const host = newHost();
    publishAddresses(host, ["93.184.215.14", "2606:4700::1111"]);
    const inbox = new WebhookInbox(randomHex(6), `https://${host}`);
    await subscribe(inbox);
    for (const name of ["First", "Second", "Third"]) await createOverlay(name);
    await inbox.holds(3);
    // For IPv4 and for IPv6.
    expect(timesAsked(host)).toBe(2);
  });
});

describe("programmatic webhooks", () => {
  test("get the events of one service, signed with a secret of their own, until they are deleted", async () => {
    const [own, first] = [newInbox(), newInbox()];
    const siteSecret = await subscribe(own);
    const made = await site.call("createProgrammaticWebhook", { body: { webhookUrl: first.url, service: "overlay-service-v1" } });
    const { id, secret } = made.as(ProgrammaticWebhook);
    expect(made.status).toBe(201);
    expect(secret).not.toBe(siteSecret);
    await createOverlay();
    const [got] = await first.holds(1);
    expect(new Webhook(secret).verify(got?.body ?? "", got?.headers ?? {})).toMatchObject({
      service: "overlay-service-v1",
      webhookUrl: first.url,
    });
    expect((await deliveries({ webhookId: id })).pagination.totalCount).toBe(1);
    expect((await site.call("deleteProgrammaticWebhook", { params: { id } })).status).toBe(204);
    await createOverlay("Unheard");
    await own.holds(2);
    expect(first.received).toHaveLength(1);
    expect((await site.call("deleteProgrammaticWebhook", { params: { id } })).status).toBe(404);
  });

  test("are refused without a URL or a service that exists, and the id of their deletion must be one", async () => {
    const missing = await site.call("createProgrammaticWebhook", { body: { service: "page-service-v2" } });
    expect(missing).toMatchObject({ status: 400, fields: ["webhookUrl"], problem: { issues: [{ message: "Missing Webhooks Url" }] } });
    const unknown = await site.call("createProgrammaticWebhook", { body: { webhookUrl: URL, service: "chat-service-v1" } });
    expect(unknown).toMatchObject({ status: 400, fields: ["service"] });
    const noId = await site.call("deleteProgrammaticWebhook", { params: { id: "none" } });
    expect(noId).toMatchObject({ status: 400, problem: { issues: [{ message: "Missing Webhooks Id" }] } });
  });

  test("can't be the site's own endpoint, or another site's", async () => {
    await site.call("createWebhooks", { body: settings() });
    const { _id } = (await site.call("getWebhooks")).as(Webhooks);
    expect((await site.call("deleteProgrammaticWebhook", { params: { id: _id ?? "" } })).status).toBe(404);
    const other = await newSite();
    const made = await other.call("createProgrammaticWebhook", { body: { webhookUrl: URL, service: "page-service-v2" } });
    const { id } = made.as(ProgrammaticWebhook);
    expect((await site.call("deleteProgrammaticWebhook", { params: { id } })).status).toBe(404);
  });

  test("are 50 at most, however many are made at once", async () => {
    const body = { webhookUrl: URL, service: "wallet-service-v1" };
    const answers = await Promise.all(Array.from({ length: 53 }, () => site.call("createProgrammaticWebhook", { body })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(50);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(3);
  });
});

describe("a test", () => {
  test("sends the site's own endpoint a sample that is not in the log", async () => {
    const inbox = newInbox();
    await subscribe(inbox);
    const answer = await site.call("testWebhooks", { body: { sampleName: "entitlement_purchased" } });
    expect(answer.status).toBe(202);
    await site.call("testWebhooks");
    await inbox.holds(2);
    expect(inbox.types.toSorted()).toEqual(["entitlement_purchased", "webhook.test"]);
    expect(inbox.received.map(({ payload }) => payload.eventData.sequence)).toEqual([0, 0]);
    const { results } = (await site.call("listEvents")).as(EventList);
    expect(results.map(({ type }) => type)).toEqual(["webhook.created"]);
  });

  test("waits for no test before it, whatever became of that", async () => {
    const inbox = newInbox();
    await subscribe(inbox);
    inbox.next = [500];
    const send = async () =>
      z.object({ eventId: z.string() }).parse((await site.call("testWebhooks", { body: { sampleName: "new_account" } })).body);
    const first = await send();
    await inbox.holds(1);
    const second = await send();
    const received = (await inbox.holds(2)).map(({ payload }) => payload.eventData);
    expect(received.map(({ id }) => id)).toEqual([first.eventId, second.eventId]);
    expect(received.map(({ resource }) => resource)).toEqual([`test/${first.eventId}`, `test/${second.eventId}`]);
  });

  test("needs an endpoint that is on", async () => {
    expect((await site.call("testWebhooks")).status).toBe(404);
    await site.call("createWebhooks", { body: settings(URL, [], false) });
    expect((await site.call("testWebhooks")).status).toBe(409);
  });
});
