import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { TifoEventDelegate, TrackedAction, TrackedImpression } from "#sdk/model/event-delegate.ts";
import { CHANNEL, EventWorld, HOME, POLL, QUESTS } from "./event-world.ts";

const SIGNED_IN: TifoEventDelegate = { getUserToken: () => "a.b.c" };

let world: EventWorld;

beforeEach(() => {
  world = new EventWorld();
  vi.stubGlobal("fetch", world.fetch);
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe("the host app's delegate", () => {
  test("may throw in any method: the event works as if it were absent", async () => {
    const report = vi.spyOn(console, "error").mockReturnValue();
    const fail = () => {
      throw new Error("The host app's own");
    };
    const event = await world.watchLoaded({ getUserToken: fail, userIsAuthenticated: fail, onPanelEvent: fail, trackAction: fail });
    expect(event.getSnapshot()).toMatchObject({ connection: "live", authenticated: false });
    expect(event.openPanel(QUESTS)).toBe(true);
    await expect(event.answerPoll(POLL, HOME)).rejects.toMatchObject({ code: "unauthenticated" });
    expect(report).toHaveBeenCalled();
  });

  test.each([
    ["an id of its own", () => "swid-7", { panelId: QUESTS, swid: "swid-7" }],
    ["an id that takes a while", () => Promise.resolve("swid-7"), { panelId: QUESTS, swid: "swid-7" }],
    ["no id", () => null, { panelId: QUESTS }],
  ])("hears of actions with %s", async (_, getUserSWID, properties) => {
    const actions: TrackedAction[] = [];
    const event = await world.watchLoaded({ getUserSWID, trackAction: (action) => void actions.push(action) });
    event.openPanel(QUESTS);
    await world.until(() => actions.length > 0);
    expect(actions).toEqual([{ name: "panel.open", properties }]);
  });

  test("hears once of what is shown, however often it is drawn", async () => {
    const impressions: TrackedImpression[] = [];
    const event = await world.watchLoaded({ trackImpression: (impression) => void impressions.push(impression) });
    const all: TrackedImpression[] = [
      { kind: "poll", id: POLL },
      { kind: "overlay", id: "goal", broadcastId: "first" },
      { kind: "overlay", id: "goal", broadcastId: "second" },
    ];
    for (const impression of [...all, ...all]) event.trackImpression(impression);
    expect(impressions).toEqual(all);
  });

  test("may reject, as when it can’t show a clip", async () => {
    const report = vi.spyOn(console, "error").mockReturnValue();
    const event = await world.watchLoaded({ playClip: () => Promise.reject(new Error("The host app's own")) });
    await event.playClip({ videoId: "v1", title: "Goal", url: "https://vod.example/1" });
    expect(report).toHaveBeenCalledTimes(1);
  });

  test("shows clips", async () => {
    const shown: string[] = [];
    const event = await world.watchLoaded({ playClip: ({ videoId }) => void shown.push(videoId) });
    await event.playClip({ videoId: "v1", title: "Goal", url: "https://vod.example/1" });
    expect(shown).toEqual(["v1"]);
    expect(event.getSnapshot().playingClipId).toBe("v1");
    event.stopPlayingClip();
    expect(event.getSnapshot().playingClipId).toBeNull();
  });

  test.each([
    ["https://vod.example/1", ["https://vod.example/1"]],
    ["javascript:alert(1)", []],
  ])("opens %s in a tab of its own where it doesn't show clips, and goes on crediting the event", async (url, opened) => {
    const tabs: string[] = [];
    vi.stubGlobal("open", (address: string) => void tabs.push(address));
    const event = await world.watchLoaded();
    event.setPlayer({ mediaTime: () => 12, playing: () => true });
    await event.playClip({ videoId: "v1", title: "Goal", url });
    expect(tabs).toEqual(opened);
    expect(event.getSnapshot().playingClipId).toBeNull();
    await world.until(() => world.channel.heard.some((frame) => frame.type === "watch" && frame.videoId === CHANNEL));
  });

  test("is asked for a token before each connection, which a ticket stands for", async () => {
    await world.watchLoaded(SIGNED_IN);
    expect([...world.channel.viewers].map(({ wire }) => wire.url.searchParams.get("ticket"))).toEqual(["once"]);
    world.channel.cut(() => true);
    await world.until(() => world.requests.filter((request) => request === "POST /realtime/v1/tickets").length === 2);
  });
});

describe("playback", () => {
  test("tells the picture's time, and the server what is watched while it moves", async () => {
    let playing = true;
    const event = await world.watchLoaded();
    event.setPlayer({ mediaTime: () => 12.5, playing: () => playing });
    expect(event.getSnapshot().mediaTime).toBe(12.5);
    const watched = () => world.channel.heard.filter((frame) => frame.type === "watch");
    await world.until(() => watched().length === 2);
    expect(watched()[0]).toEqual({ type: "watch", videoId: CHANNEL, mediaTime: 12.5 });
    playing = false;
    await world.pass(60_000);
    expect(watched().length).toBe(2);
    event.setPlayer(null);
    expect(event.getSnapshot().mediaTime).toBeNull();
  });

  test("goes on after a player that fails, whose time is told as soon as it has one", async () => {
    const told = vi.spyOn(console, "error").mockReturnValue();
    const event = await world.watchLoaded();
    let fails = true;
    const failing = <T>(value: T) => {
      if (fails) throw new Error("the player's");
      return value;
    };
    event.setPlayer({ mediaTime: () => failing(7), playing: () => true, onChange: () => failing(() => {}) });
    expect(event.getSnapshot().mediaTime).toBeNull();
    await world.pass(5_000);
    expect(told).toHaveBeenCalled();
    fails = false;
    await world.until(() => event.getSnapshot().mediaTime === 7, "the picture's time");
    event.setPlayer({ mediaTime: () => 8, playing: () => failing(true) });
    fails = true;
    await world.pass(15_000);
    fails = false;
    await world.until(() => world.channel.heard.some((frame) => frame.type === "watch" && frame.mediaTime === 8), "what is watched");
  });

  test("moves the host app's player", async () => {
    const calls: string[] = [];
    const event = await world.watchLoaded();
    event.setPlayer({
      mediaTime: () => 0,
      playing: () => false,
      play: () => void calls.push("play"),
      pause: () => void calls.push("pause"),
      seek: (seconds) => void calls.push(`seek ${seconds}`),
    });
    await event.play();
    event.seek(30);
    event.pause();
    expect(calls).toEqual(["play", "seek 30", "pause"]);
  });
});
