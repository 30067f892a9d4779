import { beforeEach, describe, expect, test, vi } from "vitest";
import { createTifo, type Renderer } from "#sdk/core/core.ts";
import { CHANNEL, EventWorld, HOME, POLL, progress, QUEST, SITE } from "./event-world.ts";

const RENDERER: Renderer = {
  mountPanel: () => ({ unmount: () => {}, focus: () => {} }),
  mountChat: () => ({ unmount: () => {}, focus: () => {} }),
  mountOverlay: () => ({ unmount: () => {}, focus: () => {}, setSafeArea: () => {} }),
};
const ORIGIN = "https://tifo.example";

let world: EventWorld;

beforeEach(() => {
  world = new EventWorld();
  vi.stubGlobal("fetch", world.fetch);
});

function tifo(scriptOrigin?: string) {
  return createTifo(RENDERER, scriptOrigin, world.environment);
}

/** A storage like the browser's. */
function storage(entries: Record<string, string> = {}) {
  const stored = new Map(Object.entries(entries));
  return { getItem: (key: string) => stored.get(key) ?? null, setItem: (key: string, value: string) => void stored.set(key, value) };
}

describe("configure", () => {
  test.each(["", "demo", "5EED00000000000000000001", `${SITE}0`])("rejects the client id %j", (clientId) => {
    expect(() => tifo().configure({ clientId, origin: ORIGIN })).toThrow(TypeError);
  });

  test.each(["tifo.example", "ftp://tifo.example", ""])("rejects the origin %j", (origin) => {
    expect(() => tifo().configure({ clientId: SITE, origin })).toThrow(TypeError);
  });

  test("requires an origin unless a script provides one", () => {
    expect(() => tifo().configure({ clientId: SITE })).toThrow(TypeError);
    expect(() => tifo(ORIGIN).configure({ clientId: SITE })).not.toThrow();
  });

  test("keeps the current configuration if the next one is invalid", async () => {
    const core = tifo(ORIGIN);
    core.configure({ clientId: SITE });
    const event = await core.userDidStartWatchingEvent({ channelId: CHANNEL });
    expect(() => core.configure({ clientId: "nobody" })).toThrow(TypeError);
    expect(core.getTifoEventViewModel()).toBe(event);
    core.userDidStopWatchingEvent();
  });

  test("must be called before everything else", async () => {
    const core = tifo(ORIGIN);
    await expect(core.userDidStartWatchingEvent({ channelId: CHANNEL })).rejects.toThrow("call configure first");
    // Node has no elements, but the argument isn't used.
    expect(() => void Reflect.apply(core.renderPanel, undefined, [{}])).toThrow("call userDidStartWatchingEvent first");
  });

  test("uses the same device id on every visit, or a new one if nothing can be stored", async () => {
    const deviceOf = async () => {
      const core = tifo(ORIGIN);
      core.configure({ clientId: SITE });
      await core.userDidStartWatchingEvent({ channelId: CHANNEL });
      await world.until(() => world.channel.viewers.size === 1);
      const [viewer] = world.channel.viewers;
      core.userDidStopWatchingEvent();
      await world.until(() => world.channel.viewers.size === 0);
      return viewer?.wire.url.searchParams.get("deviceId");
    };
    vi.stubGlobal("localStorage", storage());
    const first = await deviceOf();
    expect(first).toMatch(/^[\w-]{8,}$/);
    expect(await deviceOf()).toBe(first);
    vi.stubGlobal("localStorage", undefined);
    expect(await deviceOf()).not.toBe(first);
  });
});

describe("events", () => {
  test("have one view model per channel, and the last one started is the default", async () => {
    const core = tifo(ORIGIN);
    core.configure({ clientId: SITE });
    expect(core.getTifoEventViewModel()).toBeNull();
    const main = await core.userDidStartWatchingEvent({ channelId: CHANNEL });
    const back = await core.userDidStartWatchingEvent({ channelId: "5eed0000000000000000c002" });
    expect(core.getTifoEventViewModel()).toBe(back);
    expect(await core.userDidStartWatchingEvent({ channelId: CHANNEL })).toBe(main);
    expect(core.getTifoEventViewModel()).toBe(main);
    core.userDidStopWatchingEvent(CHANNEL);
    core.userDidStopWatchingEvent(CHANNEL);
    expect(core.getTifoEventViewModel(CHANNEL)).toBeNull();
    expect(core.getTifoEventViewModel()).toBe(back);
    core.configure({ clientId: SITE });
    expect(core.getTifoEventViewModel()).toBeNull();
    expect(back.getSnapshot().connection).toBe("offline");
  });
});

describe("frame listeners", () => {
  test("receive every frame in both directions, and stop nothing by throwing", async () => {
    const reported = vi.fn();
    vi.stubGlobal("reportError", reported);
    const [received, sent]: string[][] = [[], []];
    const core = tifo(ORIGIN);
    core.configure({ clientId: SITE });
    const onFrame = (type: string) => {
      received?.push(type);
      throw new Error("from the host app");
    };
    const event = await core.userDidStartWatchingEvent({
      channelId: CHANNEL,
      onFrame: ({ type }) => onFrame(type),
      onSent: ({ type }) => void sent?.push(type),
    });
    await world.until(() => event.getSnapshot().concurrents === 1 && sent?.length === 1);
    expect(received).toEqual(["welcome"]);
    expect(sent).toEqual(["panel"]);
    expect(reported).toHaveBeenCalledTimes(1);
    core.userDidStopWatchingEvent();
  });
});

describe("an event that was rejected permanently", () => {
  test("is replaced when it is started again", async () => {
    const core = tifo(ORIGIN);
    core.configure({ clientId: SITE });
    world.channel.rejectWith = 4403;
    const rejected = await core.userDidStartWatchingEvent({ channelId: CHANNEL });
    await world.until(() => rejected.getSnapshot().connection === "offline");
    world.channel.rejectWith = null;
    const event = await core.userDidStartWatchingEvent({ channelId: CHANNEL });
    expect(event).not.toBe(rejected);
    expect(core.getTifoEventViewModel()).toBe(event);
    await world.until(() => event.getSnapshot().connection === "live");
    core.userDidStopWatchingEvent();
  });
});

describe("a viewer who signs in while they watch", () => {
  test("reconnects with a ticket and sees their quests, until they sign out", async () => {
    let token: string | null = null;
    const core = tifo(ORIGIN);
    core.configure({ clientId: SITE, delegate: { getUserToken: () => token } });
    const event = await core.userDidStartWatchingEvent({ channelId: CHANNEL });
    const loads = () => world.requests.filter((request) => request.includes("/configuration/")).length;
    await world.until(() => event.getSnapshot().connection === "live" && event.getSnapshot().polls[POLL] !== undefined);
    token = "a.b.c";
    const changed = core.userDidChange();
    await world.until(() => event.getSnapshot().quests[QUEST] !== undefined && event.getSnapshot().connection === "live");
    await changed;
    expect(event.getSnapshot().authenticated).toBe(true);
    expect([...world.channel.viewers].map(({ wire }) => wire.url.searchParams.get("ticket"))).toEqual(["once"]);
    const vote = event.answerPoll(POLL, HOME);
    await world.until(() => event.getSnapshot().polls[POLL]?.myAnswerId === HOME);
    await vote;
    expect(loads()).toBe(2);
    token = null;
    const left = core.userDidChange();
    expect(event.getSnapshot().polls[POLL]?.myAnswerId).toBeUndefined();
    await world.until(() => !event.getSnapshot().authenticated && event.getSnapshot().connection === "live");
    await left;
    expect(event.getSnapshot().quests).toEqual({});
    expect([...world.channel.viewers].map(({ wire }) => wire.url.searchParams.get("ticket"))).toEqual([null]);
    core.userDidStopWatchingEvent();
  });

  test("doesn't see what was requested for another viewer", async () => {
    let token: string | null = "a.b.c";
    let respond = () => {};
    const late = new Promise<void>((resolve) => (respond = resolve));
    world.rest[`GET /quest/v2/${QUEST}/progress`] = () => late.then(() => progress(4));
    const core = tifo(ORIGIN);
    core.configure({ clientId: SITE, delegate: { getUserToken: () => token } });
    const event = await core.userDidStartWatchingEvent({ channelId: CHANNEL });
    await world.until(() => world.requests.includes("GET /quest/v2/states"));
    token = null;
    await Promise.all([core.userDidChange(), world.advance(1_000)]);
    respond();
    await world.advance(1_000);
    expect(event.getSnapshot()).toMatchObject({ authenticated: false, quests: {} });
    core.userDidStopWatchingEvent();
  });

  test("changes nothing if no event is watched", async () => {
    await expect(tifo(ORIGIN).userDidChange()).resolves.toBeUndefined();
  });
});

describe("user settings", () => {
  test("are stored for the next visit, and limited to their bounds", () => {
    vi.stubGlobal("localStorage", storage());
    expect(tifo().updateUserSettings({ overlays: false, textScale: 9 })).toMatchObject({ overlays: false, textScale: 1.6 });
    expect(tifo().getUserSettings()).toMatchObject({ overlays: false, textScale: 1.6 });
  });

  test("apply to the page if nothing can be stored", () => {
    const fail = () => {
      throw new Error("Storage is disabled");
    };
    vi.stubGlobal("localStorage", { getItem: fail, setItem: fail });
    const core = tifo();
    expect(core.getUserSettings()).toEqual({ overlays: true, reducedMotion: false, textScale: 1 });
    expect(core.updateUserSettings({ reducedMotion: true }).reducedMotion).toBe(true);
    expect(core.getUserSettings().reducedMotion).toBe(true);
  });

  test.each(["no json", "7", "null", '{"overlays":"yes","textScale":null,"more":1}'])("ignore %j in the storage", (stored) => {
    vi.stubGlobal("localStorage", storage({ "tifo.userSettings": stored }));
    expect(tifo().getUserSettings()).toEqual({ overlays: true, reducedMotion: false, textScale: 1 });
  });

  test("start with the browser's motion preference", () => {
    vi.stubGlobal("matchMedia", (query: string) => ({ matches: query.includes("prefers-reduced-motion") }));
    expect(tifo().getUserSettings().reducedMotion).toBe(true);
  });
});
