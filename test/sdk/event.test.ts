import { beforeEach, describe, expect, test, vi } from "vitest";
import type { TrackedAction } from "#sdk/model/event-delegate.ts";
import { CHANNEL, EventWorld, POLL, ApiError } from "./event-world.ts";

let world: EventWorld;

beforeEach(() => {
  world = new EventWorld();
  vi.stubGlobal("fetch", world.fetch);
});

describe("the state of an event", () => {
  test("goes from connecting to live, with the page's contents", async () => {
    const event = world.watch();
    expect(event.getSnapshot()).toMatchObject({ channelId: CHANNEL, connection: "connecting", panels: [], title: "", theme: null });
    await world.until(() => event.getSnapshot().polls[POLL] !== undefined);
    expect(event.getSnapshot()).toMatchObject({ connection: "live", concurrents: 1, title: "Main stage", theme: { name: "Floodlight" } });
  });

  test("is the same object until something changes, and unchanged parts keep their identity", async () => {
    const event = await world.watchLoaded();
    const before = event.getSnapshot();
    const listener = vi.fn();
    const end = event.subscribe(listener);
    expect(event.getSnapshot()).toBe(before);
    world.channel.send({ type: "concurrents", count: 512 });
    await world.until(() => listener.mock.calls.length > 0);
    expect(event.getSnapshot()).toMatchObject({ concurrents: 512 });
    expect(event.getSnapshot().panels).toBe(before.panels);
    end();
    world.channel.send({ type: "concurrents", count: 1 });
    await world.until(() => event.getSnapshot().concurrents === 1);
    expect(listener).toHaveBeenCalledTimes(1);
  });

  test("contains the reason if the connection is rejected", async () => {
    world.channel.rejectWith = 4403;
    const event = world.watch();
    await world.until(() => event.getSnapshot().connection === "offline");
    expect(event.getSnapshot().reason).toBe("The gate is closed");
  });

  test("shows whether the stream is live", async () => {
    const event = await world.watchLoaded();
    world.channel.send({ type: "stream.live", seq: 1, upTo: 1, data: {} });
    await world.until(() => event.getSnapshot().live);
    world.channel.send({ type: "stream.offline", seq: 2, upTo: 2, data: {} });
    await world.until(() => !event.getSnapshot().live);
  });

  test("keeps receiving frames if the page can't be loaded", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    world.rest[`GET /page/v2/configuration/${CHANNEL}`] = () => new ApiError(404, "not_found");
    const event = world.watch();
    await world.until(() => event.getSnapshot().connection === "live" && warn.mock.calls.length > 0);
    world.channel.send({ type: "concurrents", count: 7 });
    await world.until(() => event.getSnapshot().concurrents === 7);
  });

  test("reloads the page when it changed, and after a gap that can't be filled", async () => {
    await world.watchLoaded();
    const loads = () => world.requests.filter((request) => request.includes("/configuration/")).length;
    world.channel.send({ type: "page.updated", seq: 1, upTo: 1, data: {} });
    await world.until(() => loads() === 2);
    world.channel.epoch = "another";
    world.channel.cut(() => true);
    await world.until(() => loads() === 3);
  });

  test("reloads the page if the first connection is much later, but not if it follows immediately", async () => {
    const loads = () => world.requests.filter((request) => request.includes("/configuration/")).length;
    world.channel.down = true;
    const event = world.watch();
    await world.until(() => event.getSnapshot().polls[POLL] !== undefined);
    await world.advance(30_000);
    expect(loads()).toBe(1);
    world.channel.down = false;
    await world.until(() => loads() === 2, "the current page");
    const another = await world.watchLoaded();
    await world.advance(10_000);
    expect(another.getSnapshot().connection).toBe("live");
    expect(loads()).toBe(3);
  });

  test("loads the page with the next connection if the first request failed", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const configuration = `GET /page/v2/configuration/${CHANNEL}`;
    const page = world.rest[configuration];
    world.rest[configuration] = () => new ApiError(404, "not_found");
    const event = world.watch();
    await world.until(() => event.getSnapshot().connection === "live" && world.requests.includes(configuration));
    await world.advance(1_000);
    world.rest[configuration] = page ?? (() => undefined);
    world.channel.cut(() => true);
    await world.until(() => event.getPanels().length > 0 && event.getSnapshot().polls[POLL] !== undefined, "panels");
  });

  test("retries loading the page after a server error", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    const configuration = `GET /page/v2/configuration/${CHANNEL}`;
    const page = world.rest[configuration];
    world.rest[configuration] = () => new ApiError(500, "internal");
    const event = world.watch();
    await world.until(() => world.requests.includes(configuration));
    await world.advance(1_000);
    world.rest[configuration] = page ?? (() => undefined);
    await world.until(() => event.getPanels().length > 0, "panels");
    expect(world.requests.filter((request) => request === configuration)).toHaveLength(2);
  });

  test("retries with growing intervals while the server fails", async () => {
    vi.spyOn(console, "warn").mockReturnValue();
    world.rest[`GET /poll/v3/${POLL}`] = () => new ApiError(500, "internal");
    world.watch();
    for (let seconds = 0; seconds < 600; seconds++) await world.advance(1_000);
    const requests = world.requests.filter((request) => request === "GET /poll/v3/states").length;
    expect(requests).toBeGreaterThan(3);
    expect(requests).toBeLessThan(8);
  });

  test("reloads the page once for many changes, and again for one during the reload", async () => {
    const event = await world.watchLoaded();
    const loads = () => world.requests.filter((request) => request.includes("/configuration/")).length;
    for (let seq = 1; seq <= 20; seq++) world.channel.send({ type: "page.updated", seq, upTo: seq, data: {} });
    const before = event.getPanels();
    await world.until(() => event.getPanels() !== before);
    expect(loads()).toBe(2);
    world.channel.send({ type: "page.updated", seq: 21, upTo: 21, data: {} });
    await world.until(() => loads() === 3);
  });

  test("reloads with a random delay after a change that all viewers receive at once", async () => {
    const worlds = [new EventWorld(1), new EventWorld(2), new EventWorld(3)];
    const moments = [];
    for (const one of worlds) {
      vi.stubGlobal("fetch", one.fetch);
      const event = await one.watchLoaded();
      const before = event.getPanels();
      const sentAt = one.time.now;
      one.channel.send({ type: "page.updated", seq: 1, upTo: 1, data: {} });
      await one.until(() => event.getPanels() !== before);
      moments.push(one.time.now - sentAt);
      event.stop();
    }
    expect(new Set(moments).size).toBe(worlds.length);
  });

  test("stays offline and empty after a stop, which leaves the channel", async () => {
    const event = await world.watchLoaded();
    event.stop();
    const last = event.getSnapshot();
    expect(last).toMatchObject({ connection: "offline", overlays: [] });
    await world.until(() => world.channel.viewers.size === 0);
    await world.advance(60_000);
    expect(event.getSnapshot()).toBe(last);
  });
});

describe("client rules", () => {
  const rule = (_id: string, active: boolean, name = _id) => ({ type: "rule", data: { _id, active, name } });

  test("are those of the welcome, updated by each change", async () => {
    const event = await world.watchLoaded();
    const names = () => event.getSnapshot().rules.map(({ name }) => name);
    const state = { epoch: "e1", seq: 0, upTo: 0, now: world.time.now, overlays: [], concurrents: 1, heartbeat: 30 };
    const rules = [rule("a", true), rule("b", true)];
    world.channel.send({ type: "welcome", recovered: false, ...state, rules });
    await world.until(() => names().length === 2);
    world.channel.send({ ...rule("a", true, "a once more"), seq: 1, upTo: 1 });
    world.channel.send({ ...rule("b", false), seq: 2, upTo: 2 });
    await world.until(() => names().length === 1);
    expect(names()).toEqual(["a once more"]);
    world.channel.send({ type: "welcome", recovered: true, ...state, upTo: 2, rules: [], concurrents: 9 });
    await world.until(() => event.getSnapshot().concurrents === 9);
    expect(names()).toEqual(["a once more"]);
  });
});

describe("overlays", () => {
  function overlay(id: string, changes: object = {}) {
    const html = { kind: "html", html: id, position: "center" };
    const times = { startsAt: world.time.now, endsAt: world.time.now + 5_000 };
    const rest = { overlayId: "goal", position: "center", contents: [html], cta: null, variables: {}, priority: 0 };
    return { type: "overlay.show", broadcastId: id, ...times, ...rest, ...changes };
  }

  test.each([
    ["ahead", 300_000],
    ["behind", -300_000],
  ])("are shown for their full duration on a device whose clock is minutes %s", async (_, wrong) => {
    const event = await world.watchLoaded(undefined, wrong);
    const state = { epoch: world.channel.epoch, seq: 0, upTo: 0, recovered: true, rules: [], overlays: [], concurrents: 1, heartbeat: 30 };
    world.channel.send({ type: "welcome", now: world.time.now, ...state });
    world.channel.send({ ...overlay("a", { startsAt: world.time.now - 2_000, endsAt: world.time.now + 5_000 }), seq: 1, upTo: 1 });
    await world.until(() => event.getSnapshot().overlays.length === 1);
    const since = world.time.now;
    await world.until(() => event.getSnapshot().overlays.length === 0);
    expect(Math.abs(world.time.now - since - 5_000)).toBeLessThan(500);
  });

  test("each appear in the state at twenty a second, and none remains in the end", async () => {
    const event = await world.watchLoaded();
    const seen = new Set<string>();
    event.subscribe(() => event.getSnapshot().overlays.forEach(({ broadcastId }) => seen.add(broadcastId)));
    for (let seq = 1; seq <= 100; seq++) {
      world.channel.send({ ...overlay(`${seq}`, { endsAt: world.time.now + 1_000 }), seq, upTo: seq });
      await world.advance(50);
    }
    await world.until(() => event.getSnapshot().overlays.length === 0);
    expect(seen.size).toBe(100);
  });

  test.each([
    [false, 1_000],
    [true, 0],
  ])("wait for rendering only while the page is visible (hidden: %s)", async (hidden, least) => {
    const event = await world.watchLoaded();
    event.attachRenderer();
    world.hidden = hidden;
    const since = world.time.now;
    for (const [index, id] of ["a", "b"].entries()) world.channel.send({ ...overlay(id), seq: index + 1, upTo: index + 1 });
    await world.until(() => event.getSnapshot().overlays[0]?.broadcastId === "b");
    expect(world.time.now - since).toBeGreaterThanOrEqual(least);
    expect(world.time.now - since).toBeLessThan(least + 500);
  });

  test("stay removed after a stop, even if rendering completes later", async () => {
    const event = await world.watchLoaded();
    world.channel.send({ ...overlay("a"), seq: 1, upTo: 1 });
    await world.until(() => event.getSnapshot().overlays.length === 1);
    event.stop();
    event.overlayRendered("a");
    expect(event.getSnapshot().overlays).toEqual([]);
  });

  test("that were dropped because too many arrived at once are reported to the host app", async () => {
    const actions: TrackedAction[] = [];
    await world.watchLoaded({ trackAction: (action) => void actions.push(action) });
    for (let seq = 1; seq <= 250; seq++) world.channel.send({ ...overlay(`${seq}`), seq, upTo: seq });
    await world.until(() => actions.length > 0);
    expect(actions[0]).toEqual({ name: "overlay.dropped", properties: { overlayId: "goal", broadcastId: "2" } });
  });
});

test("nothing changes after a frame listener has stopped the event", async () => {
  const event = world.watch({}, 0, { onFrame: ({ type }) => type === "concurrents" && event.stop() });
  await world.until(() => event.getSnapshot().connection === "live");
  const before = event.getSnapshot().concurrents;
  world.channel.send({ type: "concurrents", count: before + 7 });
  await world.until(() => event.isClosed(), "the end");
  expect(event.getSnapshot()).toMatchObject({ connection: "offline", concurrents: before });
});
