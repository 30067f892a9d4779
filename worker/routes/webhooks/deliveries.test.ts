import { z } from "@hono/zod-openapi";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { newSite, type TestSite } from "#test/harness.ts";
import { publishAddresses, queryCount } from "#test/dns-resolver.ts";
import { createOverlay, deliveries, delivery, DeliveryList, newInbox, settings, subscribe, URL } from "#test/webhook-calls.ts";
import { WebhookInbox } from "#test/webhook-inbox.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { signEventData, signingKeys } from "#worker/services/webhooks/signature.ts";
import { Webhooks } from "#worker/services/webhooks/endpoint-schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";

let site: TestSite;

beforeEach(async () => {
  site = await newSite();
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** Moves the clock forward by this many ms until the test ends. */
function later(ms: number): void {
  vi.spyOn(Date, "now").mockImplementation(() => new Date().getTime() + ms);
}

describe("a delivery", () => {
  test("has the event and its request, and is authenticated by both signatures", async () => {
    const inbox = newInbox();
    const secret = await subscribe(site, inbox);
    const overlayId = await createOverlay(site);
    const [got] = await inbox.waitFor(1);
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

  test("is only sent for subscribed services, and not while webhooks are disabled", async () => {
    const inbox = newInbox();
    await subscribe(site, inbox, "overlay-service-v1");
    await site.call("updatePage", { params: { id: site.channels[0] }, body: { slug: "moved", data: { name: "Moved" } } });
    await createOverlay(site, "First");
    await inbox.waitFor(1);
    await site.call("replaceWebhooks", { body: settings(inbox.url, ["overlay-service-v1"], false) });
    await createOverlay(site, "Unheard");
    await site.call("replaceWebhooks", { body: settings(inbox.url, ["overlay-service-v1"]) });
    await createOverlay(site, "Last");
    await inbox.waitFor(2);
    expect(inbox.received.map(({ payload }) => payload.eventData.data.name)).toEqual(["First", "Last"]);
  });

  test("names the account that it is about, or the one that caused it", async () => {
    const inbox = newInbox();
    await subscribe(site, inbox, "account-service-v3", "page-service-v2");
    const { viewer, admin } = site.accounts;
    await site.call("updateAccount", { params: { id: viewer.id }, body: { name: "Vera" }, as: "admin" });
    await site.call("updatePage", { as: "admin", params: { id: site.channels[0] }, body: { slug: "moved", data: { name: "Moved" } } });
    await inbox.waitFor(2);
    expect(inbox.received.map(({ payload }) => [payload.eventData.type, payload.account])).toEqual([
      ["account.updated", viewer.id],
      ["admin.channelUpdated", admin.id],
    ]);
  });

  test.each([500, 301, 404])("with a response of %i is shown as failed and retried", async (status) => {
    const inbox = newInbox();
    await subscribe(site, inbox);
    inbox.next = [status];
    const before = Date.now();
    await createOverlay(site);
    const row = await delivery(site, "pending", 1);
    expect(row).toMatchObject({ type: "overlay.created", attempts: [{ status, error: `Responded with ${status}` }] });
    expect(row.nextTry).toBeGreaterThanOrEqual(before + 5_000);
    expect(row.nextTry).toBeLessThan(Date.now() + 6_000);
    expect((await site.call("redeliver", { params: { id: row._id } })).status).toBe(202);
    expect((await delivery(site, "delivered", 2)).attempts.map((attempt) => attempt.status)).toEqual([status, 204]);
    const [first, second] = inbox.received;
    expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
  });

  test("that succeeded is sent again on request", async () => {
    const inbox = newInbox();
    await subscribe(site, inbox);
    await createOverlay(site);
    const { _id } = await delivery(site, "delivered", 1);
    await site.call("redeliver", { params: { id: _id } });
    await delivery(site, "delivered", 2);
    expect(inbox.received).toHaveLength(2);
  });

  test("of a disabled endpoint is not sent again, neither now nor once it is enabled", async () => {
    const inbox = newInbox();
    await subscribe(site, inbox);
    await createOverlay(site);
    const { _id } = await delivery(site, "delivered", 1);
    await site.call("replaceWebhooks", { body: settings(inbox.url, ["overlay-service-v1"], false) });
    expect((await site.call("redeliver", { params: { id: _id } })).status).toBe(409);
    expect((await site.call("redeliver", { params: { id: site.id } })).status).toBe(404);
    await delivery(site, "delivered", 1);
    await site.call("replaceWebhooks", { body: settings(inbox.url) });
    await createOverlay(site, "Next");
    await inbox.waitFor(2);
    expect(inbox.received.map(({ payload }) => payload.eventData.data.name)).toEqual(["Goal", "Next"]);
  });

  test("is listed in pages whose cursor has one sort direction", async () => {
    const inbox = newInbox();
    await subscribe(site, inbox);
    for (const name of ["First", "Second", "Third"]) await createOverlay(site, name);
    await inbox.waitFor(3);
    const page = (query: Record<string, string>) => site.call("listDeliveries", { query: { limit: "2", ...query } });
    const first = (await page({ sortDirection: "1" })).as(DeliveryList);
    const cursor = new URLSearchParams(first.pagination.next?.split("?")[1]).get("cursor") ?? "";
    const rest = (await page({ sortDirection: "1", cursor })).as(DeliveryList);
    expect(new Set([...first.results, ...rest.results].map(({ _id }) => _id)).size).toBe(3);
    expect((await page({ sortDirection: "-1", cursor })).status).toBe(400);
    expect((await page({ cursor })).status).toBe(400);
  });

  test("of another site can't be sent again or read", async () => {
    await subscribe(site, newInbox());
    await createOverlay(site);
    const { _id } = await delivery(site, "delivered", 1);
    const other = await newSite();
    await other.call("createWebhooks", { body: settings() });
    expect((await other.call("redeliver", { params: { id: _id } })).status).toBe(404);
    expect((await other.call("listDeliveries")).as(DeliveryList).results).toEqual([]);
    const { _id: webhookId } = (await site.call("getWebhooks")).as(Webhooks);
    expect((await other.call("listDeliveries", { query: { webhookId: webhookId ?? "" } })).status).toBe(404);
  });

  test("list pages through all deliveries, in either order, and filters", async () => {
    const inbox = newInbox();
    await subscribe(site, inbox);
    for (let i = 0; i < 5; i++) await createOverlay(site, `Overlay ${i}`);
    await inbox.waitFor(5);
    const all = (await deliveries(site)).results.map(({ _id }) => _id);
    expect(all).toHaveLength(5);
    const seen: string[] = [];
    let query: Record<string, string | number> = { limit: 2 };
    for (;;) {
      const { results, pagination } = await deliveries(site, query);
      seen.push(...results.map(({ _id }) => _id));
      expect(pagination.totalCount).toBe(5);
      if (pagination.next === null) break;
      query = Object.fromEntries(new URLSearchParams(pagination.next.split("?")[1]));
    }
    expect(seen).toEqual(all);
    expect((await deliveries(site, { sortDirection: 1 })).results.map(({ _id }) => _id)).toEqual(all.toReversed());
    expect((await deliveries(site, { type: "overlay.updated" })).results).toEqual([]);
    expect((await deliveries(site, { state: "failed" })).results).toEqual([]);
    expect((await deliveries(site, { search: "OVERLAY.created" })).results).toHaveLength(5);
  });

  test("ends with a 410: the endpoint is disabled and an event is published", async () => {
    const inbox = newInbox();
    await subscribe(site, inbox);
    inbox.otherwise = 410;
    await createOverlay(site);
    const off = await vi.waitUntil(async () => {
      const read = (await site.call("getWebhooks")).as(Webhooks);
      return read.enabled ? undefined : read;
    });
    expect(off.disabled).toMatchObject({ reason: "gone" });
    const { results } = (await site.call("listEvents", { query: { types: "webhook.disabled" } })).as(EventList);
    expect(results).toMatchObject([
      { resource: `webhook/${off._id}`, actor: "system", data: { enabled: false, disabled: { reason: "gone" } } },
    ]);
    await createOverlay(site, "Unheard");
    inbox.otherwise = 204;
    await site.call("replaceWebhooks", { body: settings(inbox.url) });
    expect((await site.call("getWebhooks")).as(Webhooks)).toMatchObject({ enabled: true, disabled: null });
    await delivery(site, "delivered", 2);
    expect(inbox.received.map(({ payload }) => payload.eventData.data.name)).toEqual(["Goal", "Goal"]);
  });
});

describe("the host of a URL", () => {
  const inside = ["10.0.0.8", "127.0.0.1", "169.254.169.254", "100.64.0.1", "::1", "fd00::8", "::ffff:10.0.0.8"];
  const newHost = () => `hooks-${randomHex(6)}.demo.example`;

  test.each(inside)("may not resolve to %s, not even in addition to a public address", async (address) => {
    for (const addresses of [[address], ["93.184.215.14", "2606:4700::1111", address]]) {
      const host = newHost();
      publishAddresses(host, addresses);
      const own = await site.call("createWebhooks", { body: settings(`https://${host}/`) });
      expect(own).toMatchObject({ status: 400, fields: ["webhooks.webhookUrl"] });
      const body = { webhookUrl: `https://${host}/`, service: "page-service-v2" };
      expect(await site.call("createProgrammaticWebhook", { body })).toMatchObject({ status: 400, fields: ["webhookUrl"] });
    }
  });

  test("must be resolvable", async () => {
    const nowhere = newHost();
    publishAddresses(nowhere, []);
    for (const host of [nowhere, `unreachable.${newHost()}`, `broken.${newHost()}`, `garbled.${newHost()}`]) {
      const response = await site.call("createWebhooks", { body: settings(`https://${host}/`) });
      expect(response).toMatchObject({ status: 400, fields: ["webhooks.webhookUrl"] });
    }
  });

  test("must be resolvable again to turn the endpoint on, but not to turn it off", async () => {
    const host = newHost();
    const url = `https://${host}/`;
    publishAddresses(host, ["93.184.215.14"], 0);
    await site.call("createWebhooks", { body: settings(url) });
    publishAddresses(host, [], 0);
    later(2_000);
    expect((await site.call("replaceWebhooks", { body: settings(url, [], false) })).status).toBe(200);
    for (const body of [settings(url), settings(`${url}other`, [], false)])
      expect(await site.call("replaceWebhooks", { body })).toMatchObject({ status: 400, fields: ["webhooks.webhookUrl"] });
  });

  test("is resolved again before each delivery, and nothing is sent if it has become private", async () => {
    const host = newHost();
    publishAddresses(host, ["93.184.215.14"], 0);
    const inbox = new WebhookInbox(randomHex(6), `https://${host}`);
    await subscribe(site, inbox);
    await createOverlay(site);
    await inbox.waitFor(1);
    publishAddresses(host, ["10.0.0.8"], 0);
    later(2_000);
    await createOverlay(site, "Unheard");
    const { _id, attempts } = await delivery(site, "pending", 1);
    expect(attempts[0]?.status).toBeNull();
    expect(attempts[0]?.error).toContain("may not be called");
    expect(inbox.received).toHaveLength(1);
    publishAddresses(host, ["93.184.215.14"], 0);
    later(4_000);
    await site.call("redeliver", { params: { id: _id } });
    expect((await inbox.waitFor(2)).at(-1)?.payload.eventData.data.name).toBe("Unheard");
  });

  test("is resolved once per TTL, however much is delivered", async () => {
    const host = newHost();
    publishAddresses(host, ["93.184.215.14", "2606:4700::1111"]);
    const inbox = new WebhookInbox(randomHex(6), `https://${host}`);
    await subscribe(site, inbox);
    for (const name of ["First", "Second", "Third"]) await createOverlay(site, name);
    await inbox.waitFor(3);
    // For IPv4 and for IPv6.
    expect(queryCount(host)).toBe(2);
  });
});

describe("a test event", () => {
  test("is sent to the site's own endpoint and isn't in the log", async () => {
    const inbox = newInbox();
    await subscribe(site, inbox);
    const response = await site.call("testWebhooks", { body: { sampleName: "entitlement_purchased" } });
    expect(response.status).toBe(202);
    await site.call("testWebhooks");
    await inbox.waitFor(2);
    expect(inbox.types.toSorted()).toEqual(["entitlement_purchased", "webhook.test"]);
    expect(inbox.received.map(({ payload }) => payload.eventData.sequence)).toEqual([0, 0]);
    const { results } = (await site.call("listEvents")).as(EventList);
    expect(results.map(({ type }) => type)).toEqual(["webhook.created"]);
  });

  test("has the time when it was sent", async () => {
    const inbox = newInbox();
    await subscribe(site, inbox);
    await site.call("testWebhooks");
    const [got] = await inbox.waitFor(1);
    const { created, data } = got?.payload.eventData ?? {};
    expect(data).toEqual({ sentAt: created });
    expect(got?.payload).toMatchObject({ method: "POST", originPath: "/webhooks/v1/test" });
  });

  test("doesn't wait for an earlier test event", async () => {
    const inbox = newInbox();
    await subscribe(site, inbox);
    inbox.next = [500];
    const send = async () =>
      z.object({ eventId: z.string() }).parse((await site.call("testWebhooks", { body: { sampleName: "new_account" } })).body);
    const first = await send();
    await inbox.waitFor(1);
    const second = await send();
    const received = (await inbox.waitFor(2)).map(({ payload }) => payload.eventData);
    expect(received.map(({ id }) => id)).toEqual([first.eventId, second.eventId]);
    expect(received.map(({ resource }) => resource)).toEqual([`test/${first.eventId}`, `test/${second.eventId}`]);
  });

  test("requires an enabled endpoint", async () => {
    expect((await site.call("testWebhooks")).status).toBe(404);
    await site.call("createWebhooks", { body: settings(URL, [], false) });
    expect((await site.call("testWebhooks")).status).toBe(409);
  });
});
