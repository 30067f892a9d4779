import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { type ApiResponse, newSite, type TestSite } from "#test/harness.ts";
import { newDataProvider, sendProviderEvent, type TestProvider } from "#test/providers.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { KeyPlay, ProviderMapping, StatEntity, StatHistoryEntry } from "#worker/services/stats/schemas.ts";

const Entities = listOf(StatEntity);
const schema = {
  type: "object",
  properties: { at: { type: "number" }, players: { type: "array" }, play: { type: "object" }, kind: { type: "string" } },
};

let site: TestSite;
let provider: TestProvider;
let channelId: string;

beforeAll(async () => {
  site = await newSite();
  [channelId] = site.channels;
  provider = await newMapped();
});

async function newMapped(on = site): Promise<TestProvider> {
  const created = await newDataProvider(on, { schema });
  await on.call("setStatMapping", { params: { providerId: created.id }, body: mappingOf(on) });
  return created;
}

function mappingOf(on: TestSite) {
  const at = "at";
  const [channel] = on.channels;
  return {
    entities: [
      { channelId: channel, each: "players", entityType: "player", id: "id", name: "name", team: "team", at, facts: { goals: "goals" } },
    ],
    keyPlays: [
      {
        channelId: channel,
        when: { fact: "kind", equals: "goal" },
        id: "play.id",
        kind: "kind",
        title: "play.title",
        mediaTime: "play.time",
      },
    ],
  };
}

/** Sends an event and waits until its effect has run. */
async function send(event: Record<string, unknown>): Promise<void> {
  expect((await sendProviderEvent(site, provider, event)).status).toBe(202);
  const log = env.SITE_LOG.getByName(site.id);
  await log.nudge();
}

const player = (id: string, goals: unknown, change: Record<string, unknown> = {}) => ({
  id,
  name: `Player ${id}`,
  team: "Home",
  goals,
  ...change,
});
const entities = async (query: Record<string, string> = {}) =>
  (await site.call("listStatEntities", { as: "client", params: { channelId }, query })).as(Entities).results;
const one = async (externalId: string) => (await entities({ externalId }))[0];
const factOf = async (externalId: string) => (await one(externalId))?.facts.goals?.value;
async function historyOf(externalId: string) {
  const id = (await one(externalId))?._id ?? "";
  return (await site.call("listStatHistory", { as: "client", params: { channelId, id } })).as(listOf(StatHistoryEntry)).results;
}

describe("match facts", () => {
  test("are the latest of each entity, with their changes", async () => {
    await send({ players: [player("ada", 0), player("bo", 1)] });
    await send({ players: [player("ada", 1)] });
    await send({ players: [player("ada", 1)] });
    await vi.waitFor(async () => expect(await factOf("ada")).toBe(1));
    expect(await one("bo")).toMatchObject({ name: "Player bo", team: "Home", entityType: "player", facts: { goals: { value: 1 } } });
    expect((await historyOf("ada")).map(({ value }) => value)).toEqual([1, 0]);
  });

  test("don't go back to what a late event says, which only enters the history", async () => {
    const at = Date.now() - 60_000;
    await send({ at, players: [player("late", 2, { at })] });
    await send({ at: at - 1_000, players: [player("late", 1, { at: at - 1_000 })] });
    await vi.waitFor(async () => expect(await historyOf("late")).toHaveLength(2));
    expect(await factOf("late")).toBe(2);
  });

  test("ignore a provider's time in the future, which would block all that follows", async () => {
    await send({ players: [player("future", 1, { at: Date.now() + 86_400_000 })] });
    await send({ players: [player("future", 2)] });
    await vi.waitFor(async () => expect(await factOf("future")).toBe(2));
  });

  test("leave out what doesn't have the mapped form", async () => {
    await send({ players: [null, "x", { name: "nobody" }, player("odd", { nested: true }), player("", 1), player("__proto__", 1)] });
    await vi.waitFor(async () => expect(await one("odd")).toBeDefined());
    expect((await one("odd"))?.facts).toEqual({});
    expect(await one("")).toBeUndefined();
  });

  test("count an event once, however often its effect runs", async () => {
    const event = { players: [player("twice", 5)] };
    const headers = { "Tifo-Event-Id": "event-twice" };
    await sendProviderEvent(site, provider, event, headers);
    await sendProviderEvent(site, provider, event, headers);
    await env.SITE_LOG.getByName(site.id).nudge();
    await vi.waitFor(async () => expect(await historyOf("twice")).toHaveLength(1));
  });

  test("are gated as their channel is", async () => {
    const gated = await site.addChannel("gated-stats", { gate: { type: "login", skus: [] } });
    for (const id of ["listStatEntities", "listKeyPlays"])
      expect((await site.call(id, { as: "client", params: { channelId: gated } })).status).toBe(401);
    expect((await site.call("listStatEntities", { as: "viewer", params: { channelId: gated } })).status).toBe(200);
  });

  test("of one channel can't be read through another, or from another site", async () => {
    await send({ players: [player("own", 1)] });
    await vi.waitFor(async () => expect(await one("own")).toBeDefined());
    const id = (await one("own"))?._id ?? "";
    expect((await site.call("getStatEntity", { as: "client", params: { channelId: site.channels[1], id } })).status).toBe(404);
    const other = await newSite();
    expect((await other.call("getStatEntity", { as: "client", params: { channelId: other.channels[0], id } })).status).toBe(404);
    const body = mappingOf(other);
    const response: ApiResponse = await site.call("setStatMapping", { params: { providerId: provider.id }, body });
    expect([response.status, response.fields]).toEqual([400, ["entities.0.channelId", "keyPlays.0.channelId"]]);
  });
});

describe("a mapping", () => {
  test("is returned as it was set, and keeps nothing once it is empty", async () => {
    const other = await newMapped();
    const read = async () => (await site.call("getStatMapping", { params: { providerId: other.id } })).as(ProviderMapping).mapping;
    expect(await read()).toEqual(mappingOf(site));
    await site.call("setStatMapping", { params: { providerId: other.id }, body: {} });
    expect(await read()).toBeNull();
  });
});

describe("key plays", () => {
  test("have the media time to jump to, and are corrected by their id", async () => {
    await send({ kind: "goal", play: { id: "g1", title: "Goal: Ada", time: 1020 } });
    await send({ kind: "goal", play: { id: "g1", title: "Goal: Bo", time: 1021 } });
    await send({ kind: "corner", play: { id: "c1", title: "Corner", time: 30 } });
    const plays = async () => (await site.call("listKeyPlays", { as: "client", params: { channelId } })).as(listOf(KeyPlay)).results;
    await vi.waitFor(async () => expect((await plays()).map(({ title, mediaTime }) => [title, mediaTime])).toEqual([["Goal: Bo", 1021]]));
  });
});
