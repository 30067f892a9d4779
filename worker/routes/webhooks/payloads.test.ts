import { beforeEach, expect, test } from "vitest";
import { newSite, PASSWORD, type TestSite } from "#test/harness.ts";
import { createOverlay, delivery, DeliveryList, newInbox, subscribe } from "#test/webhook-calls.ts";
import type { InboxResponse, WebhookInbox } from "#test/webhook-inbox.ts";
import { DeliveryPayload } from "#worker/services/webhooks/delivery-schemas.ts";
import { Account } from "#worker/services/accounts/schemas.ts";
import { ProgrammaticWebhook } from "#worker/services/webhooks/endpoint-schemas.ts";

let site: TestSite;
let inbox: WebhookInbox;

beforeEach(async () => {
  site = await newSite();
  inbox = newInbox();
});

async function payloadOf(id: string, of = site) {
  return (await of.call("getDeliveryPayload", { params: { id } })).as(DeliveryPayload);
}

/** The response that is kept of a delivery's first attempt. */
async function keptOf(response: InboxResponse): Promise<string | null> {
  inbox.next = [response];
  await subscribe(site, inbox);
  await createOverlay(site);
  const { _id } = await delivery(site, "pending", 1);
  return (await payloadOf(_id)).attempts[0]?.response ?? null;
}

const text = (body: BodyInit | null, headers: Record<string, string> = {}, status = 500) => new Response(body, { status, headers });

test("the payload of a delivery is the body that was sent, whether it was accepted at once or sent again", async () => {
  await subscribe(site, inbox);
  await createOverlay(site);
  const { _id, attempts } = await delivery(site, "delivered", 1);
  const [first] = await inbox.waitFor(1);
  const { webhookId, ...payload } = await payloadOf(_id);
  expect(payload).toEqual({ _id, payload: first?.payload, attempts: attempts.map((attempt) => ({ ...attempt, response: null })) });
  await site.call("redeliver", { params: { id: _id } });
  const again = await delivery(site, "delivered", 2);
  expect(await payloadOf(_id)).toEqual({
    ...{ _id, webhookId, payload: first?.payload },
    attempts: again.attempts.map((attempt) => ({ ...attempt, response: null })),
  });
});

test("the payload of a programmatic webhook's delivery names its endpoint", async () => {
  const body = { webhookUrl: inbox.url, service: "overlay-service-v1" };
  const { id } = (await site.call("createProgrammaticWebhook", { body })).as(ProgrammaticWebhook);
  await createOverlay(site);
  await inbox.waitFor(1);
  const { results } = (await site.call("listDeliveries", { query: { webhookId: id } })).as(DeliveryList);
  const found = await payloadOf(results[0]?._id ?? "");
  expect([found.webhookId, found.payload.webhookUrl]).toEqual([id, inbox.url]);
});

test("the beginning of the response to a failed attempt is kept, and lists don't have it", async () => {
  inbox.next = [() => text("Column “score” is missing\u0000\n".repeat(100)), () => text("{}", { "Content-Type": "application/json" }, 404)];
  await subscribe(site, inbox);
  await createOverlay(site);
  const { _id } = await delivery(site, "pending", 1);
  await site.call("redeliver", { params: { id: _id } });
  const listed = await delivery(site, "pending", 2);
  expect(listed.attempts.every((attempt) => !("response" in attempt))).toBe(true);
  const { attempts } = await payloadOf(_id);
  expect(attempts.map(({ status, response }) => [status, response])).toEqual([
    [500, "Column “score” is missing\n".repeat(100).slice(0, 1_000)],
    [404, "{}"],
  ]);
});

test.each<[string, InboxResponse, string | null]>([
  ["is empty", () => text(null), null],
  ["is an image", () => text("GIF89a", { "Content-Type": "image/gif" }), null],
  ["is HTML", () => text("<h1>Bad gateway</h1>", { "Content-Type": "text/html; charset=utf-8" }, 502), "<h1>Bad gateway</h1>"],
  ["is a problem", () => text("{}", { "Content-Type": "application/problem+json" }, 422), "{}"],
  [
    "never ends",
    () => text(new ReadableStream({ pull: (body) => body.enqueue(new TextEncoder().encode("no ")) })),
    "no ".repeat(334).slice(0, 1_000),
  ],
])("of a failed response that %s, only text is kept", async (_, response, expected) => {
  expect(await keptOf(response)).toBe(expected);
});

test("a failed response that stops in the middle of its body keeps its status and what has arrived", async () => {
  const stalled = new ReadableStream({ start: (body) => body.enqueue(new TextEncoder().encode("Database ")) });
  inbox.next = [() => text(stalled, {}, 503)];
  await subscribe(site, inbox);
  await createOverlay(site);
  const { _id } = await delivery(site, "pending", 1);
  expect((await payloadOf(_id)).attempts).toMatchObject([{ status: 503, error: "Responded with 503", response: "Database " }]);
});

test("the payload of another site's delivery, or of none, is a 404", async () => {
  await subscribe(site, inbox);
  await createOverlay(site);
  const { _id } = await delivery(site, "delivered", 1);
  const other = await newSite();
  await subscribe(other, newInbox());
  for (const caller of [other, site])
    expect((await caller.call("getDeliveryPayload", { params: { id: caller === other ? _id : site.id } })).status).toBe(404);
});

test("a key that may not read accounts gets neither a person's data nor what a receiver made of it", async () => {
  inbox.next = [() => text("vera@people.example is unknown")];
  await subscribe(site, inbox, "account-service-v3");
  await site.call("createAccount", { body: { email: "vera@people.example", password: PASSWORD, name: "Vera Secret" } });
  const { _id } = await delivery(site, "pending", 1);
  const read = async (roles: string[]) => {
    const headers = { "Tifo-Developer-Key": await site.addKey(roles) };
    return site.call("getDeliveryPayload", { params: { id: _id }, as: "client", headers });
  };
  const full = (await read(["webhooks:read", "account:read"])).as(DeliveryPayload);
  expect(full.payload).toEqual(inbox.received[0]?.payload);
  expect(full.attempts[0]?.response).toBe("vera@people.example is unknown");
  const reduced = await read(["webhooks:read"]);
  for (const secret of ["vera@people.example", "Vera Secret"]) expect(reduced.text).not.toContain(secret);
  const { payload, attempts } = reduced.as(DeliveryPayload);
  expect([payload.signature, attempts[0]?.response, payload.eventData.data]).toEqual([
    null,
    null,
    { _id: full.payload.eventData.data._id, siteId: site.id },
  ]);
});

test("deleting a person erases the data in the payload, and what receivers responded", async () => {
  inbox.otherwise = 500;
  inbox.next = [() => text("vera@people.example is unknown")];
  await subscribe(site, inbox, "account-service-v3");
  const account = { email: "vera@people.example", password: PASSWORD, name: "Vera Secret" };
  const { _id: id } = (await site.call("createAccount", { body: account })).as(Account);
  const { _id } = await delivery(site, "pending", 1, "new_account");
  expect((await site.call("deleteAccount", { params: { id } })).status).toBe(200);
  await expect.poll(async () => (await payloadOf(_id)).payload.eventData.data).toEqual({ erased: true });
  expect((await payloadOf(_id)).attempts).toMatchObject([{ status: 500, response: null }]);
});
