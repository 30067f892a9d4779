import type { z } from "@hono/zod-openapi";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { streamProviders } from "#db/schema/streams/streams.ts";
import { type ApiResponse, newSite, type TestSite } from "#test/harness.ts";
import { providerInput, registerProvider, providerCalls } from "#test/streams.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { ChangedProvider, RegisteredProvider, StreamProvider } from "#worker/services/stream-providers/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const ProviderList = listOf(StreamProvider);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const register = (body: Record<string, unknown>, on = site): Promise<ApiResponse> =>
  on.call("registerStreamProvider", { as: "developer", body });

/** Calls as the provider itself, which sends no client id. */
const change = (authorization: string, body: Record<string, unknown>, headers: Record<string, string> = {}): Promise<ApiResponse> =>
  site.call("registerStreamProvider", { as: "nobody", body, headers: { Authorization: `Bearer ${authorization}`, ...headers } });

async function providersOf(on: TestSite): Promise<z.output<typeof StreamProvider>[]> {
  return (await on.call("listStreamProviders")).as(ProviderList).results;
}

describe("a registration", () => {
  test("returns an id and a UUID, which no response or event contains again", async () => {
    const own = await newSite();
    const response = await register(providerInput(own), own);
    expect(response.status).toBe(201);
    expect(response.log.d1.roundTrips).toBeLessThanOrEqual(2);
    const { id, authorization } = response.as(RegisteredProvider);
    const list = await own.call("listStreamProviders");
    expect(list.as(ProviderList).results).toMatchObject([{ ...providerInput(own), _id: id, siteId: own.id }]);
    const events = await own.call("listEvents");
    expect(events.as(EventList).results).toMatchObject([
      { type: "stream.providerRegistered", resource: `streamprovider/${id}`, data: { name: "wowza" } },
    ]);
    const rows = await createDb(siteStore).select().from(streamProviders).where(eq(streamProviders.id, id));
    for (const text of [list.text, events.text, JSON.stringify(rows), JSON.stringify(response.log)])
      expect(text).not.toContain(authorization);
  });

  test("defaults its flags to false", async () => {
    await register({ ...providerInput(site, "plain"), canGenerateCaptions: undefined, canSupport4K: undefined });
    expect((await providersOf(site)).find(({ name }) => name === "plain")).toMatchObject({
      canGenerateCaptions: false,
      canSupport4K: false,
    });
  });

  test("with a taken name is rejected, and only one of eight concurrent ones succeeds", async () => {
    const responses = await Promise.all(Array.from({ length: 8 }, () => register(providerInput(site, "raced"))));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
    const other = await newSite();
    expect((await register(providerInput(other, "raced"), other)).status).toBe(201);
  });

  test.each([
    ["no URL", { createStream: undefined }, "createStream"],
    ["what is no URL", { deleteStream: "wowza" }, "deleteStream"],
    ["http", { startStream: "http://streams.demo.example/start" }, "startStream"],
    ["a private address", { stopStream: "https://10.0.0.7/stop" }, "stopStream"],
    ["the loopback address", { createStream: "https://127.0.0.1/create" }, "createStream"],
    ["a name of the inside", { createStream: "https://encoder.internal/create" }, "createStream"],
    ["credentials in a URL", { createStream: "https://a:b@streams.demo.example/create" }, "createStream"],
    ["a name with spaces", { name: "my provider" }, "name"],
    ["a flag that is none", { canSupport4K: "yes" }, "canSupport4K"],
    ["an unknown field", { region: "eu" }, "region"],
  ])("with %s is an 'Assertion Error'", async (_, wrong, field) => {
    const response = await register({ ...providerInput(site, "wrong"), ...wrong });
    expect(response.problem).toMatchObject({ status: 400, message: "Assertion Error" });
    expect(response.fields).toEqual([field]);
  });
});

describe("a provider with its authorization", () => {
  test("changes its registration without a new authorization", async () => {
    const own = await newSite();
    const { id, authorization } = await registerProvider(own);
    const moved = { ...providerInput(own), createStream: "https://new.demo.example/create", canSupport4K: true };
    const response = await change(authorization, moved);
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ id });
    expect(ChangedProvider.strict().safeParse(response.body).success).toBe(true);
    expect(await providersOf(own)).toMatchObject([{ _id: id, ...moved }]);
    const { results } = (await own.call("listEvents")).as(EventList);
    expect(results.at(-1)).toMatchObject({ type: "stream.providerChanged", actor: `provider:${id}`, data: { canSupport4K: true } });
  });

  test("may also send its client id, but no other site's", async () => {
    const { authorization } = await registerProvider(site, "named");
    const shown = (id: string) => change(authorization, providerInput(site, "named"), { "Tifo-Client-Id": id });
    expect((await shown(site.id)).status).toBe(200);
    expect((await shown((await newSite()).id)).status).toBe(401);
  });

  test("can't change its name, and is validated by the same rules", async () => {
    const { authorization } = await registerProvider(site, "kept");
    const renamed = await change(authorization, providerInput(site, "other"));
    expect([renamed.problem?.message, renamed.fields]).toEqual(["Assertion Error", ["name"]]);
    const inside = await change(authorization, { ...providerInput(site, "kept"), stopStream: "https://192.168.1.1/stop" });
    expect([inside.problem?.message, inside.fields]).toEqual(["Assertion Error", ["stopStream"]]);
  });

  test("is rejected with 401 if the authorization is wrong, malformed or removed", async () => {
    const { id, authorization } = await registerProvider(site, "leaving");
    const input = providerInput(site, "leaving");
    expect((await change(crypto.randomUUID(), input)).status).toBe(401);
    expect((await change(authorization.slice(1), input)).status).toBe(401);
    await site.call("removeStreamProvider", { params: { id } });
    expect((await change(authorization, input)).status).toBe(401);
  });

  test("has no access to other operations", async () => {
    const { id, authorization } = await registerProvider(site, "modest");
    const headers = { Authorization: `Bearer ${authorization}` };
    expect((await site.call("listStreamProviders", { as: "client", headers })).status).toBe(401);
    expect((await site.call("removeStreamProvider", { as: "client", headers, params: { id } })).status).toBe(401);
  });
});

describe("removing a provider", () => {
  test("is rejected while a stream uses it", async () => {
    const own = await newSite();
    const { id } = await registerProvider(own);
    const created = await own.call("createStream", { body: { title: "Derby" } });
    const rejected = await own.call("removeStreamProvider", { params: { id } });
    expect(rejected.problem).toMatchObject({ status: 409, message: "Streams still use this provider" });
    const [call] = await providerCalls(own);
    await own.call("deleteStream", { params: { id: call?.streamId ?? "" } });
    expect(created.status).toBe(201);
    expect((await own.call("removeStreamProvider", { params: { id } })).body).toEqual({ success: true, _id: id });
    expect(await providersOf(own)).toEqual([]);
    const { results } = (await own.call("listEvents")).as(EventList);
    expect(results.at(-1)).toMatchObject({ type: "stream.providerRemoved", resource: `streamprovider/${id}` });
  });
});

describe("the list", () => {
  test("can be searched by name, and has no other site's providers", async () => {
    const [own, other] = [await newSite(), await newSite()];
    for (const name of ["mux", "mux-staging", "wowza"]) await registerProvider(own, name);
    await registerProvider(other, "mux");
    const names = async (query: Record<string, string>) =>
      (await own.call("listStreamProviders", { query })).as(ProviderList).results.map(({ name }) => name);
    expect(await names({ search: "mux", sortBy: "name" })).toEqual(["mux", "mux-staging"]);
    expect(await names({})).toEqual(["wowza", "mux-staging", "mux"]);
  });
});
