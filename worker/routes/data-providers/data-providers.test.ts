import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { dataProviders } from "#db/schema/data-providers.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { dataProviderInput, goal, newDataProvider, signatureOf, sendProviderEvent, type TestProvider } from "#test/providers.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { recheckSchemas } from "#worker/services/data-providers/data-providers.ts";
import { pruneProviderEvents } from "#worker/services/data-providers/provider-events.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import {
  AvailableProviders,
  ChangedDataProvider,
  ProviderEvent,
  ReceivedEvent,
  RotatedSecret,
} from "#worker/services/data-providers/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const Events = listOf(ProviderEvent);
const db = createDb(siteStore);

let site: TestSite;
let provider: TestProvider;

beforeAll(async () => {
  site = await newSite();
  provider = await newDataProvider(site);
});

async function eventsOf(of = provider) {
  return (await site.call("listProviderEvents", { params: { providerId: of.id } })).as(Events).results;
}

describe("a data provider registration", () => {
  test("returns a secret that is never shown or published again", async () => {
    const own = await newSite();
    const { id, secret } = await newDataProvider(own);
    const [row] = await db.select().from(dataProviders).where(eq(dataProviders.id, id));
    const available = await own.call("listAvailableDataProviders");
    const events = await own.call("listEvents");
    expect(events.as(EventList).results).toMatchObject([{ type: "dataprovider.providerRegistered", resource: `dataprovider/${id}` }]);
    for (const text of [JSON.stringify(row), available.text, events.text]) expect(text).not.toContain(secret);
  });

  test("turns the schema's fields into facts, with their types", async () => {
    const own = await newSite();
    const { id } = await newDataProvider(own, { ttl: 60, tags: ["football"] });
    const [listed] = (await own.call("listAvailableDataProviders", { as: "reader" })).as(AvailableProviders).results;
    expect(listed).toMatchObject({ _id: id, name: "Match data", ttl: 60, tags: ["football"], realtime: true });
    expect(listed?.facts).toEqual(["match.minute", "match.kind", "match.scorer", "match.score.home", "match.score.away"]);
    expect(listed?.factTypes["match.score.home"]).toBe("number");
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["no name", { name: undefined }, "name"],
    ["no description", { description: undefined }, "description"],
    ["no schema", { schema: undefined }, "schema"],
    ["no owner", { ownerName: undefined }, "ownerName"],
    ["no address", { ownerEmail: undefined }, "ownerEmail"],
    ["an invalid address", { ownerEmail: "desk" }, "ownerEmail"],
    ["no realtime", { realtime: undefined }, "realtime"],
    ["a ttl of zero", { ttl: 0 }, "ttl"],
    ["an invalid schema", { schema: { type: "object", properties: { a: { type: "float" } } } }, "schema.properties.a.type"],
    ["a schema whose root isn't an object", { schema: { type: "array" } }, "schema.type"],
    ["a malformed reference", { schema: { type: "object", $ref: "#/%" } }, "schema.$ref"],
    ["an infinitely recursive schema", { schema: { type: "object", allOf: [{ $ref: "#" }] } }, "schema.allOf.0.$ref"],
    ["an external reference", { schema: { type: "object", $ref: "https://schemas.example" } }, "schema.$ref"],
  ])("with %s is rejected with the field's path", async (_, change, path) => {
    const response = await site.call("registerDataProvider", { body: dataProviderInput(change) });
    expect(response.problem).toMatchObject({ status: 400, success: false });
    expect(response.problem?.errorMessage).toBe(response.problem?.message);
    expect(response.fields).toEqual([path]);
  });

  test("list is a 404 if the site has none", async () => {
    expect((await (await newSite()).call("listAvailableDataProviders")).problem?.status).toBe(404);
  });
});

describe("a data provider's signature", () => {
  const body = goal(0);
  const text = JSON.stringify(body);
  const now = (): number => Math.floor(Date.now() / 1000);
  const send = async (headers: Record<string, string>, of = provider, on = site) =>
    on.call("ingestProviderEvent", { as: "client", params: { providerId: of.id }, body, headers });

  test("of the body is accepted, with or without a timestamp", async () => {
    expect((await send(await signatureOf(provider.secret, text))).status).toBe(202);
    expect((await send(await signatureOf(provider.secret, text, null))).status).toBe(202);
    expect((await send(await signatureOf(provider.secret, text, now() - 290))).status).toBe(202);
  });

  test.each([
    ["by another secret", () => signatureOf("tifo_dp_wrong", text)],
    ["of another body", () => signatureOf(provider.secret, text.replace("0", "1"))],
    ["with an old timestamp", () => signatureOf(provider.secret, text, now() - 310)],
    ["with a future timestamp", () => signatureOf(provider.secret, text, now() + 310)],
    ["with an invalid timestamp", () => signatureOf(provider.secret, text, Number.NaN)],
    ["that isn't hex", () => Promise.resolve({ "Tifo-Signature": "goal" })],
    ["with another timestamp", async () => ({ ...(await signatureOf(provider.secret, text)), "Tifo-Timestamp": String(now() - 1) })],
    ["with its timestamp removed", async () => ({ "Tifo-Signature": (await signatureOf(provider.secret, text))["Tifo-Signature"] ?? "" })],
  ])("%s is a 401", async (_, headers) => {
    const response = await send(await headers());
    expect(response.problem).toMatchObject({ status: 401, message: "Invalid signature", errorMessage: "Invalid signature" });
  });

  test("is checked before the body is parsed", async () => {
    const response = await site.call("ingestProviderEvent", {
      as: "client",
      params: { providerId: provider.id },
      body: new Blob(["{"], { type: "application/json" }),
      headers: await signatureOf("tifo_dp_wrong", "{"),
    });
    expect(response.problem?.status).toBe(401);
  });

  test("of another site's provider is a 404", async () => {
    const other = await newSite();
    const foreign = await newDataProvider(other);
    expect((await send(await signatureOf(foreign.secret, text), foreign)).problem?.status).toBe(404);
  });

  test("by the previous secret is accepted for a day after a rotation, by an older one it isn't", async () => {
    const own = await newDataProvider(site);
    const params = { id: own.id };
    const rotated = (await site.call("rotateDataProviderSecret", { params })).as(RotatedSecret);
    for (const secret of [own.secret, rotated.secret]) expect((await send(await signatureOf(secret, text), own)).status).toBe(202);
    await db
      .update(dataProviders)
      .set({ previousExpires: Date.now() - 1 })
      .where(eq(dataProviders.id, own.id));
    expect((await send(await signatureOf(own.secret, text), own)).problem?.status).toBe(401);
    const again = (await site.call("rotateDataProviderSecret", { params })).as(RotatedSecret);
    expect((await send(await signatureOf(rotated.secret, text), own)).status).toBe(202);
    expect((await send(await signatureOf(again.secret, text), own)).status).toBe(202);
  });
});

describe("a data provider", () => {
  test("updates its own registration, and its facts with its schema", async () => {
    const own = await newDataProvider(site);
    const body = dataProviderInput({ name: "Clock", schema: { type: "object", properties: { minute: { type: "integer" } } } });
    const headers = await signatureOf(own.secret, JSON.stringify(body));
    const response = await site.call("updateDataProvider", { as: "client", params: { id: own.id }, body, headers });
    expect(response.as(ChangedDataProvider).result).toMatchObject({ _id: own.id, name: "Clock", facts: ["minute"] });
    expect((await sendProviderEvent(site, own, { minute: 3 })).status).toBe(202);
    expect((await sendProviderEvent(site, own, { minute: "3" })).fields).toEqual(["minute"]);
  });

  test("has its events validated by its schema, regardless of examples and ids in it", async () => {
    const properties = { a: { type: "string", example: { id: "7" } }, b: { type: "string", example: { id: "7" } } };
    const own = await newDataProvider(site, { schema: { $id: "http://[", type: "object", properties } });
    expect((await sendProviderEvent(site, own, { a: "x", b: "y" })).status).toBe(202);
    expect((await sendProviderEvent(site, own, { a: 1 })).fields).toEqual(["a"]);
  });

  test("is deleted only with a signature of its id", async () => {
    const own = await newDataProvider(site);
    const params = { id: own.id };
    const wrong = await site.call("deleteDataProvider", { as: "client", params, headers: await signatureOf(own.secret, "") });
    expect(wrong.problem?.status).toBe(401);
    const headers = await signatureOf(own.secret, own.id, null);
    expect((await site.call("deleteDataProvider", { as: "client", params, headers })).body).toEqual({ success: true, message: "Deleted" });
    expect((await site.call("deleteDataProvider", { as: "client", params, headers })).problem?.status).toBe(404);
    expect((await sendProviderEvent(site, own, goal(1))).problem?.status).toBe(404);
  });
});

describe("a data provider whose stored schema is no longer accepted", () => {
  const bomb = {
    type: "object",
    $ref: "#/$defs/d20",
    $defs: Object.fromEntries(
      Array.from({ length: 21 }, (_, level) => {
        const ref = { $ref: `#/$defs/d${level - 1}` };
        return [`d${level}`, level === 0 ? {} : { allOf: [ref, ref] }];
      }),
    ),
  };
  const stored = async (own: TestSite, schema: Record<string, unknown>) => {
    const registered = await newDataProvider(own);
    await db.update(dataProviders).set({ schema, schemaChecks: 0 }).where(eq(dataProviders.id, registered.id));
    return registered;
  };

  test("has its events validated within a step limit until the sweep finds it", async () => {
    const own = await stored(site, bomb);
    const response = await sendProviderEvent(site, own, { a: 1 });
    expect(response.problem?.status).toBe(400);
    expect(response.problem?.issues?.[0]?.message).toContain("too many steps");
    await recheckSchemas({ env, db, shard: 1, now: Date.now() });
  });

  test("is disabled by the sweep, once, and the site is notified", async () => {
    const own = await newSite();
    const [bad, good] = [await stored(own, bomb), await stored(own, { type: "object" })];
    await Promise.all([1, 2].map(() => recheckSchemas({ env, db, shard: 1, now: Date.now() })));
    await recheckSchemas({ env, db, shard: 1, now: Date.now() });
    const disabled = (await own.call("listEvents")).as(EventList).results.filter(({ type }) => type === "dataprovider.providerDisabled");
    expect(disabled).toMatchObject([{ resource: `dataprovider/${bad.id}`, data: { _id: bad.id } }]);
    expect(disabled[0]?.data.disabledReason).toContain("schema.");
    expect((await sendProviderEvent(own, good, { a: 1 })).status).toBe(202);
    const rejected = await sendProviderEvent(own, bad, { a: 1 });
    expect(rejected.problem).toMatchObject({ status: 409, code: "conflict" });
    expect(rejected.problem?.message).toContain("registers another schema");
  });

  test("can send events again once it has registered another schema", async () => {
    const own = await stored(site, { type: "object", properties: { a: { pattern: "^a$" } } });
    await recheckSchemas({ env, db, shard: 1, now: Date.now() });
    expect((await sendProviderEvent(site, own, { a: "a" })).problem?.status).toBe(409);
    const body = dataProviderInput({ schema: { type: "object", properties: { a: { enum: ["a"] } } } });
    const headers = await signatureOf(own.secret, JSON.stringify(body));
    const changed = await site.call("updateDataProvider", { as: "client", params: { id: own.id }, body, headers });
    expect(changed.as(ChangedDataProvider).result.disabledReason).toBeNull();
    expect((await sendProviderEvent(site, own, { a: "a" })).status).toBe(202);
  });

  test("can't be registered again", async () => {
    const response = await site.call("registerDataProvider", { body: dataProviderInput({ schema: bomb }) });
    expect(response.problem?.status).toBe(400);
    expect(response.fields[0]).toMatch(/^schema\./);
  });
});

describe("a data provider's event", () => {
  test("is listed as the provider sent it", async () => {
    const own = await newDataProvider(site);
    const sent = await sendProviderEvent(site, own, goal(2), { "Tifo-Event-Id": "goal-2" });
    expect(sent.status).toBe(202);
    expect(sent.log.d1.roundTrips).toBeLessThanOrEqual(3);
    const { eventId } = sent.as(ReceivedEvent);
    expect(await eventsOf(own)).toMatchObject([{ _id: eventId, providerId: own.id, externalId: "goal-2", event: goal(2), fired: [] }]);
  });

  test("that doesn't match the schema is rejected with the field's path, and not stored", async () => {
    const own = await newDataProvider(site);
    const response = await sendProviderEvent(site, own, goal(1, { minute: "17" }));
    expect(response.problem).toMatchObject({ status: 400, code: "invalid_request" });
    expect(response.fields).toEqual(["match.minute"]);
    expect((await sendProviderEvent(site, own, { match: {} })).fields).toEqual(["match.minute"]);
    expect((await sendProviderEvent(site, own, { ...goal(1), surprise: 1 })).fields).toEqual(["surprise"]);
    expect(await eventsOf(own)).toEqual([]);
  });

  test("with an already used id counts once, also in concurrent requests", async () => {
    const own = await newDataProvider(site);
    const headers = { "Tifo-Event-Id": "goal-1" };
    const responses = await Promise.all(Array.from({ length: 8 }, () => sendProviderEvent(site, own, goal(1), headers)));
    expect(responses.map(({ status }) => status).sort()).toEqual([...Array.from({ length: 7 }, () => 200), 202]);
    expect(new Set(responses.map((response) => response.as(ReceivedEvent).eventId)).size).toBe(1);
    expect(await eventsOf(own)).toHaveLength(1);
  });

  test("with an id that another provider has used is a separate event", async () => {
    const [one, two] = [await newDataProvider(site), await newDataProvider(site)];
    const headers = { "Tifo-Event-Id": "shared" };
    expect((await sendProviderEvent(site, one, goal(1), headers)).status).toBe(202);
    expect((await sendProviderEvent(site, two, goal(1), headers)).status).toBe(202);
  });

  test("of more than 64 kB is a 413", async () => {
    const response = await sendProviderEvent(site, provider, goal(1, { scorer: "a".repeat(66_000) }));
    expect(response.problem?.status).toBe(413);
  });

  test("is pruned after a week", async () => {
    const own = await newDataProvider(site);
    await sendProviderEvent(site, own, goal(1));
    await pruneProviderEvents({ db, now: Date.now() + 6 * 86_400_000 });
    expect(await eventsOf(own)).toHaveLength(1);
    await pruneProviderEvents({ db, now: Date.now() + 8 * 86_400_000 });
    expect(await eventsOf(own)).toEqual([]);
  });
});
