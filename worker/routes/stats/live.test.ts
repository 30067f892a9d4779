import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { newSite, openSocket, type TestSite } from "#test/harness.ts";
import type { TestViewer } from "#test/isolated/relay-viewer.ts";
import { newDataProvider, sendProviderEvent, type TestProvider } from "#test/providers.ts";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import { StatBoard } from "#worker/durable-objects/stat-board.ts";
import { statBoardOf } from "#worker/durable-objects/stubs.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { KeyPlay, StatEntity } from "#worker/services/stats/schemas.ts";

const schema = { type: "object", properties: { players: { type: "array" }, play: { type: "object" }, elsewhere: { type: "array" } } };
const facts = { goals: "goals", position: "position" };

let site: TestSite;
let provider: TestProvider;

beforeAll(async () => {
  site = await newSite();
  const [first, second] = site.channels;
  provider = await newDataProvider(site, { schema });
  const player = { entityType: "player", id: "id", name: "name", facts };
  const body = {
    entities: [
      { channelId: first, each: "players", ...player },
      { channelId: second, each: "elsewhere", ...player },
    ],
    keyPlays: [{ channelId: first, id: "play.id", kind: "play.kind", title: "play.title", mediaTime: "play.time" }],
  };
  await site.call("setStatMapping", { params: { providerId: provider.id }, body });
});

async function enter(channelId = site.channels[0]): Promise<TestViewer> {
  const viewer = await openSocket(site, channelId);
  await viewer.first("welcome");
  return viewer;
}

/** Sends an event, and waits until its effect has run and viewers know. */
async function send(event: Record<string, unknown>): Promise<void> {
  expect((await sendProviderEvent(site, provider, event)).status).toBe(202);
  await env.SITE_LOG.getByName(site.id).nudge();
}

const entitiesOf = (viewer: TestViewer, externalId: string) =>
  viewer.frames.flatMap((frame) => (frame.type === "entity.updated" && frame.entity.externalId === externalId ? [frame.entity] : []));
const playsOf = (viewer: TestViewer) => viewer.frames.flatMap((frame) => (frame.type === "keyPlay.updated" ? [frame.keyPlay] : []));
const goalsOf = (viewer: TestViewer, externalId: string) => entitiesOf(viewer, externalId).map((entity) => entity.facts.goals?.value);
const ada = (goals: number) => ({ id: "ada", name: "Ada Moreno", position: "forward", goals });

/** Runs the board's alarm until nothing is left to send. */
async function drain(channelId = site.channels[0]): Promise<void> {
  while (await runDurableObjectAlarm(statBoardOf(env, site.id, channelId)));
}

describe("viewers of the channel", () => {
  test("receive an entity and a key play as the lists return them, and those of no other channel", async () => {
    const [viewer, elsewhere] = [await enter(), await enter(site.channels[1])];
    await send({ players: [ada(1)], play: { id: "g1", kind: "goal", title: "1:0 Moreno", time: 1020 } });
    await vi.waitFor(() => expect(goalsOf(viewer, "ada").at(-1)).toBe(1));
    await vi.waitFor(() => expect(playsOf(viewer)).toHaveLength(1));
    const read = { as: "client", params: { channelId: site.channels[0] } } as const;
    expect((await site.call("listStatEntities", read)).as(listOf(StatEntity)).results).toEqual(entitiesOf(viewer, "ada").slice(-1));
    expect((await site.call("listKeyPlays", read)).as(listOf(KeyPlay)).results).toEqual(playsOf(viewer));
    await send({ elsewhere: [{ id: "bo", name: "Bo", goals: 2 }] });
    await vi.waitFor(() => expect(goalsOf(elsewhere, "bo")).toEqual([2]));
    expect(entitiesOf(elsewhere, "ada")).toEqual([]);
    expect(entitiesOf(viewer, "bo")).toEqual([]);
  });

  test("receive nothing from an event that only repeats what is known", async () => {
    const viewer = await enter();
    const players = [ada(2), { id: "cleo", name: "Cleo", goals: 0 }];
    await send({ players });
    await vi.waitFor(() => expect(goalsOf(viewer, "cleo")).toEqual([0]));
    await send({ players });
    await send({ players: [...players, { id: "dana", name: "Dana", goals: 1 }] });
    await vi.waitFor(() => expect(goalsOf(viewer, "dana")).toEqual([1]));
    await drain();
    expect(goalsOf(viewer, "cleo")).toEqual([0]);
    expect(goalsOf(viewer, "ada")).toEqual([2]);
  });

  test("receive the changes of many events in few messages, the last one complete", async () => {
    const viewer = await enter();
    const notified = vi.spyOn(Channel.prototype, "transientStates");
    for (let goals = 10; goals < 30; goals++) await sendProviderEvent(site, provider, { players: [{ id: "eve", name: "Eve", goals }] });
    await env.SITE_LOG.getByName(site.id).nudge();
    await vi.waitFor(() => expect(goalsOf(viewer, "eve").at(-1)).toBe(29));
    const calls = notified.mock.calls.length;
    notified.mockRestore();
    expect(calls).toBeLessThan(20);
  });

  test("receive what a failed notification was about with the next one", async () => {
    const viewer = await enter();
    const failing = vi.spyOn(Channel.prototype, "transientStates").mockRejectedValueOnce(new Error("A relay did not accept the states"));
    await send({ players: [{ id: "fay", name: "Fay", goals: 3 }] });
    await vi.waitFor(() => expect(failing).toHaveBeenCalled());
    await drain();
    await vi.waitFor(() => expect(goalsOf(viewer, "fay").at(-1)).toBe(3));
    failing.mockRestore();
  });

  test("receive a change and its correction, although both say what was known before", async () => {
    const viewer = await enter();
    for (const goals of [1, 2, 1]) {
      await send({ players: [{ id: "gil", name: "Gil", goals }] });
      await vi.waitFor(() => expect(goalsOf(viewer, "gil").at(-1)).toBe(goals));
    }
  });

  test("receive at most 64,000 characters of facts at once, and the rest with the next notification", async () => {
    const position = "x".repeat(500);
    const player = (index: number) => ({ id: `p${index}`, name: `Player ${index}`, position, goals: index });
    for (const from of [0, 70]) await send({ players: Array.from({ length: 70 }, (_, index) => player(from + index)) });
    const read = { as: "client", params: { channelId: site.channels[0] }, query: { limit: 200, search: "Player" } } as const;
    const { results } = (await site.call("listStatEntities", read)).as(listOf(StatEntity));
    expect(results).toHaveLength(140);
    await drain();
    const viewer = await enter();
    const board = statBoardOf(env, site.id, site.channels[0]);
    // What viewers have is forgotten, so all of it is news.
    await board.clear();
    await board.reported(results.map(({ _id }) => _id));
    await drain();
    const received = () => viewer.frames.flatMap((frame) => (frame.type === "entity.updated" ? [frame.entity._id] : []));
    await vi.waitFor(() => expect(new Set(received())).toEqual(new Set(results.map(({ _id }) => _id))));
    const sizes = viewer.messages.map((frames) => JSON.stringify(frames.filter(({ type }) => type === "entity.updated")).length);
    expect(Math.max(...sizes)).toBeLessThan(75_000);
    expect(sizes.filter((size) => size > 2).length).toBeGreaterThan(1);
  });
});

test("an event without mapped facts calls no board", async () => {
  const reported = vi.spyOn(StatBoard.prototype, "reported");
  await send({ players: [] });
  await send({ players: [{ id: "hal", name: "Hal", goals: 0 }] });
  await vi.waitFor(() => expect(reported).toHaveBeenCalled());
  const calls = reported.mock.calls.length;
  reported.mockRestore();
  expect(calls).toBe(1);
});

test("a deleted channel's board forgets what it has sent", async () => {
  const channelId = await site.addChannel("stats-gone");
  const board = statBoardOf(env, site.id, channelId);
  const remembered = () =>
    runInDurableObject(board, (_, { storage }) => storage.sql.exec<{ count: number }>("SELECT count(*) AS count FROM sent").one().count);
  await runInDurableObject(
    board,
    (_, { storage }) => void storage.sql.exec("INSERT INTO sent VALUES ('5eed00000000000000000aaa', 'digest')"),
  );
  expect(await remembered()).toBe(1);
  await site.call("deletePage", { params: { id: channelId } });
  await env.SITE_LOG.getByName(site.id).nudge();
  await vi.waitFor(async () => expect(await remembered()).toBe(0));
});
