import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { dataProviders } from "#db/schema/index.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { dataProviderInput, goal, newDataProvider, signatureOf, tell, type TestProvider } from "#test/providers.ts";
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

const Events = listOf(ProviderEvent);
const db = createDb(env.DB);

let site: TestSite;
let provider: TestProvider;

beforeAll(async () => {
  site = await newSite();
  provider = await newDataProvider(site);
});

async function eventsOf(of = provider) {
  return (await site.call("listProviderEvents", { params: { providerId: of.id } })).as(Events).results;
}

describe("a registration", () => {
  test("answers a secret that nothing shows or tells again", async () => {
    const own = await newSite();
    const { id, secret } = await newDataProvider(own);
    const [row] = await db.select().from(dataProviders).where(eq(dataProviders.id, id));
    const available = await own.call("listAvailableDataProviders");
    const events = await own.call("listEvents");
    expect(events.as(EventList).results).toMatchObject([{ type: "dataprovider.providerRegistered", resource: `dataprovider/${id}` }]);
    for (const text of [JSON.stringify(row), available.text, events.text]) expect(text).not.toContain(secret);
  });

  test("lists the schema's fields as facts, with their types", async () => {
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
    ["no address that is one", { ownerEmail: "desk" }, "ownerEmail"],
    ["no word on realtime", { realtime: undefined }, "realtime"],
    ["a ttl of nothing", { ttl: 0 }, "ttl"],
    ["what is no schema", { schema: { type: "object", properties: { a: { type: "float" } } } }, "schema.properties.a.type"],
    ["a schema of no object", { schema: { type: "array" } }, "schema.type"],
    ["a reference that can't be read", { schema: { type: "object", $ref: "#/%" } }, "schema.$ref"],
    ["a schema that never ends", { schema: { type: "object", allOf: [{ $ref: "#" }] } }, "schema.allOf.0.$ref"],
    ["a schema that leads elsewhere", { schema: { type: "object", $ref: "https://schemas.example" } }, "schema.$ref"],
  ])("with %s is a 400 that names it", async (_, change, path) => {
    const answer = await site.call("registerDataProvider", { body: dataProviderInput(change) });
    expect(answer.problem).toMatchObject({ status: 400, success: false });
    expect(answer.problem?.errorMessage).toBe(answer.problem?.message);
    expect(answer.fields).toEqual([path]);
  });

  test("is a 404 to ask for where there is none", async () => {
    expect((await (await newSite()).call("listAvailableDataProviders")).problem?.status).toBe(404);
  });
});

describe("a signature", () => {
  const body = goal(0);
  const text = JSON.stringify(body);
  const now = (): number => Math.floor(Date.now() / 1000);
  const send = async (headers: Record<string, string>, of = provider, on = site) =>
    on.call("ingestProviderEvent", { as: "client", params: { providerId: of.id }, body, headers });

  test("of the body is taken, with a timestamp or without", async () => {
    expect((await send(await signatureOf(provider.secret, text))).status).toBe(202);
    expect((await send(await signatureOf(provider.secret, text, null))).status).toBe(202);
    expect((await send(await signatureOf(provider.secret, text, now() - 290))).status).toBe(202);
  });

  test.each([
    ["by another secret", () => signatureOf("tifo_dp_wrong", text)],
    ["of another body", () => signatureOf(provider.secret, text.replace("0", "1"))],
    ["of an old moment", () => signatureOf(provider.secret, text, now() - 310)],
    ["of a moment to come", () => signatureOf(provider.secret, text, now() + 310)],
    ["of a moment that is none", () => signatureOf(provider.secret, text, Number.NaN)],
    ["that is no hex", () => Promise.resolve({ "Tifo-Signature": "goal" })],
    ["with the timestamp of another", async () => ({ ...(await signatureOf(provider.secret, text)), "Tifo-Timestamp": String(now() - 1) })],
    [
      "whose timestamp was taken away",
      async () => ({ "Tifo-Signature": (await signatureOf(provider.secret, text))["Tifo-Signature"] ?? "" }),
    ],
  ])("%s is a 401", async (_, headers) => {
    const answer = await send(await headers());
    expect(answer.problem).toMatchObject({ status: 401, message: "Invalid signature", errorMessage: "Invalid signature" });
  });

  test("is asked for before the body is looked at", async () => {
    const answer = await site.call("ingestProviderEvent", {
      as: "client",
      params: { providerId: provider.id },
      body: new Blob(["{"], { type: "application/json" }),
      headers: await signatureOf("tifo_dp_wrong", "{"),
    });
    expect(answer.problem?.status).toBe(401);
  });

  test("of a provider that another site has is a 404", async () => {
    const other = await newSite();
    const foreign = await newDataProvider(other);
    expect((await send(await signatureOf(foreign.secret, text), foreign)).problem?.status).toBe(404);
  });

  test("by the secret before works for a day after a rotation, and by the one before that no more", async () => {
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

describe("a provider", () => {
  test("changes its own registration, and facts with its schema", async () => {
    const own = await newDataProvider(site);
    const body = dataProviderInput({ name: "Clock", schema: { type: "object", properties: { minute: { type: "integer" } } } });
    const headers = await signatureOf(own.secret, JSON.stringify(body));
    const answer = await site.call("updateDataProvider", { as: "client", params: { id: own.id }, body, headers });
    expect(answer.as(ChangedDataProvider).result).toMatchObject({ _id: own.id, name: "Clock", facts: ["minute"] });
    expect((await tell(site, own, { minute: 3 })).status).toBe(202);
    expect((await tell(site, own, { minute: "3" })).fields).toEqual(["minute"]);
  });

  test("is heard by the schema that it registered, whatever examples and ids stand in it", async () => {
    const properties = { a: { type: "string", example: { id: "7" } }, b: { type: "string", example: { id: "7" } } };
    const own = await newDataProvider(site, { schema: { $id: "http://[", type: "object", properties } });
    expect((await tell(site, own, { a: "x", b: "y" })).status).toBe(202);
    expect((await tell(site, own, { a: 1 })).fields).toEqual(["a"]);
  });

  test("leaves by a signature of its id, and of nothing else", async () => {
    const own = await newDataProvider(site);
    const params = { id: own.id };
    const wrong = await site.call("deleteDataProvider", { as: "client", params, headers: await signatureOf(own.secret, "") });
    expect(wrong.problem?.status).toBe(401);
    const headers = await signatureOf(own.secret, own.id, null);
    expect((await site.call("deleteDataProvider", { as: "client", params, headers })).body).toEqual({ success: true, message: "Deleted" });
    expect((await site.call("deleteDataProvider", { as: "client", params, headers })).problem?.status).toBe(404);
    expect((await tell(site, own, goal(1))).problem?.status).toBe(404);
  });
});

describe("a provider whose stored schema is no longer accepted", () => {
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
    const made = await newDataProvider(own);
    await db.update(dataProviders).set({ schema, schemaChecks: 0 }).where(eq(dataProviders.id, made.id));
    return made;
  };

  test("has its events checked within a budget until the sweep finds it", async () => {
    const own = await stored(site, bomb);
    const answer = await tell(site, own, { a: 1 });
    expect(answer.problem?.status).toBe(400);
    expect(answer.problem?.issues?.[0]?.message).toContain("too many steps");
    await recheckSchemas({ env, db, now: Date.now() });
  });

  test("is disabled by the sweep, once, and the site is notified", async () => {
    const own = await newSite();
    const [bad, good] = [await stored(own, bomb), await stored(own, { type: "object" })];
    await Promise.all([1, 2].map(() => recheckSchemas({ env, db, now: Date.now() })));
    await recheckSchemas({ env, db, now: Date.now() });
    const told = (await own.call("listEvents")).as(EventList).results.filter(({ type }) => type === "dataprovider.providerDisabled");
    expect(told).toMatchObject([{ resource: `dataprovider/${bad.id}`, data: { _id: bad.id } }]);
    expect(told[0]?.data.disabledReason).toContain("schema.");
    expect((await tell(own, good, { a: 1 })).status).toBe(202);
    const refused = await tell(own, bad, { a: 1 });
    expect(refused.problem).toMatchObject({ status: 409, code: "conflict" });
    expect(refused.problem?.message).toContain("registers another schema");
  });

  test("sends events again once it has registered another schema", async () => {
    const own = await stored(site, { type: "object", properties: { a: { pattern: "^a$" } } });
    await recheckSchemas({ env, db, now: Date.now() });
    expect((await tell(site, own, { a: "a" })).problem?.status).toBe(409);
    const body = dataProviderInput({ schema: { type: "object", properties: { a: { enum: ["a"] } } } });
    const headers = await signatureOf(own.secret, JSON.stringify(body));
    const changed = await site.call("updateDataProvider", { as: "client", params: { id: own.id }, body, headers });
    expect(changed.as(ChangedDataProvider).result.disabledReason).toBeNull();
    expect((await tell(site, own, { a: "a" })).status).toBe(202);
  });

  test("can't be registered anew", async () => {
    const answer = await site.call("registerDataProvider", { body: dataProviderInput({ schema: bomb }) });
    expect(answer.problem?.status).toBe(400);
    expect(answer.fields[0]).toMatch(/^schema\./);
  });
});

describe("an event", () => {
  test("is listed with what the provider sent", async () => {
    const own = await newDataProvider(site);
    const sent = await tell(site, own, goal(2), { "Tifo-Event-Id": "goal-2" });
    expect(sent.status).toBe(202);
    expect(sent.log.d1.roundTrips).toBeLessThanOrEqual(3);
    const { eventId } = sent.as(ReceivedEvent);
    expect(await eventsOf(own)).toMatchObject([{ _id: eventId, providerId: own.id, externalId: "goal-2", event: goal(2), fired: [] }]);
  });

  test("that doesn't fit the schema is a 400 that names the path, and is not kept", async () => {
    const own = await newDataProvider(site);
    const answer = await tell(site, own, goal(1, { minute: "17" }));
    expect(answer.problem).toMatchObject({ status: 400, code: "invalid_request" });
    expect(answer.fields).toEqual(["match.minute"]);
    expect((await tell(site, own, { match: {} })).fields).toEqual(["match.minute"]);
    expect((await tell(site, own, { ...goal(1), surprise: 1 })).fields).toEqual(["surprise"]);
    expect(await eventsOf(own)).toEqual([]);
  });

  test("of an id that was sent before counts once, also when all come together", async () => {
    const own = await newDataProvider(site);
    const headers = { "Tifo-Event-Id": "goal-1" };
    const answers = await Promise.all(Array.from({ length: 8 }, () => tell(site, own, goal(1), headers)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array.from({ length: 7 }, () => 200), 202]);
    expect(new Set(answers.map((answer) => answer.as(ReceivedEvent).eventId)).size).toBe(1);
    expect(await eventsOf(own)).toHaveLength(1);
  });

  test("of an id that another provider has sent is another event", async () => {
    const [one, two] = [await newDataProvider(site), await newDataProvider(site)];
    const headers = { "Tifo-Event-Id": "shared" };
    expect((await tell(site, one, goal(1), headers)).status).toBe(202);
    expect((await tell(site, two, goal(1), headers)).status).toBe(202);
  });

  test("of more than 64 kB is a 413, whoever signs it", async () => {
    const answer = await tell(site, provider, goal(1, { scorer: "a".repeat(66_000) }));
    expect(answer.problem?.status).toBe(413);
  });

  test("is forgotten after a week", async () => {
    const own = await newDataProvider(site);
    await tell(site, own, goal(1));
    await pruneProviderEvents({ db, now: Date.now() + 6 * 86_400_000 });
    expect(await eventsOf(own)).toHaveLength(1);
    await pruneProviderEvents({ db, now: Date.now() + 8 * 86_400_000 });
    expect(await eventsOf(own)).toEqual([]);
  });
});
