import { beforeEach, describe, expect, test, vi } from "vitest";
import type { TifoEventDelegate, TrackedAction, TrackedImpression } from "#sdk/model/event-delegate.ts";
import { CHANNEL, EventWorld, HOME, POLL, QUESTS } from "./event-world.ts";

const SIGNED_IN: TifoEventDelegate = { getUserToken: () => "a.b.c" };

let world: EventWorld;

beforeEach(() => {
  world = new EventWorld();
  vi.stubGlobal("fetch", world.fetch);
});

describe("the host app's delegate", () => {
  test("may throw in any method, and the event works as if it were absent", async () => {
    const report = vi.spyOn(console, "error").mockReturnValue();
    const fail = () => {
      throw new Error("from the host app");
    };
    const event = await world.watchLoaded({ getUserToken: fail, userIsAuthenticated: fail, onPanelEvent: fail, trackAction: fail });
    expect(event.getSnapshot()).toMatchObject({ connection: "live", authenticated: false });
    expect(event.openPanel(QUESTS)).toBe(true);
    await expect(event.answerPoll(POLL, HOME)).rejects.toMatchObject({ code: "unauthenticated" });
    expect(report).toHaveBeenCalled();
  });

  test.each([
    ["an id of its own", () => "swid-7", { panelId: QUESTS, swid: "swid-7" }],
    ["an id that arrives later", () => Promise.resolve("swid-7"), { panelId: QUESTS, swid: "swid-7" }],
    ["no id", () => null, { panelId: QUESTS }],
  ])("receives actions with %s", async (_, getUserSWID, properties) => {
    const actions: TrackedAction[] = [];
    const event = await world.watchLoaded({ getUserSWID, trackAction: (action) => void actions.push(action) });
    event.openPanel(QUESTS);
    await world.until(() => actions.length > 0);
    expect(actions).toEqual([{ name: "panel.open", properties }]);
  });

  test("receives each impression once, however often it is rendered", async () => {
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

  test("may reject, for example if it can't play a clip", async () => {
    const report = vi.spyOn(console, "error").mockReturnValue();
    const event = await world.watchLoaded({ playClip: () => Promise.reject(new Error("from the host app")) });
    await event.playClip({ videoId: "v1", title: "Goal", url: "https://vod.example/1" });
    expect(report).toHaveBeenCalledTimes(1);
  });

  test("plays clips", async () => {
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
  ])("without playClip opens %s in a new tab, and watching still counts for the event", async (url, opened) => {
    const tabs: string[] = [];
    vi.stubGlobal("open", (address: string) => void tabs.push(address));
    const event = await world.watchLoaded();
    event.setPlayer({ mediaTime: () => 12, playing: () => true });
    await event.playClip({ videoId: "v1", title: "Goal", url });
    expect(tabs).toEqual(opened);
    expect(event.getSnapshot().playingClipId).toBeNull();
    await world.until(() => world.channel.received.some((frame) => frame.type === "watch" && frame.videoId === CHANNEL));
  });

  test("is asked for a token before each connection, to get a ticket", async () => {
    await world.watchLoaded(SIGNED_IN);
    expect([...world.channel.viewers].map(({ wire }) => wire.url.searchParams.get("ticket"))).toEqual(["once"]);
    world.channel.cut(() => true);
    await world.until(() => world.requests.filter((request) => request === "POST /realtime/v1/tickets").length === 2);
  });
});

describe("playback", () => {
  test("provides the media time, and reports what is watched while the video plays", async () => {
    let playing = true;
    const event = await world.watchLoaded();
    event.setPlayer({ mediaTime: () => 12.5, playing: () => playing });
    expect(event.getSnapshot().mediaTime).toBe(12.5);
    const watched = () => world.channel.received.filter((frame) => frame.type === "watch");
    await world.until(() => watched().length === 2);
    expect(watched()[0]).toEqual({ type: "watch", videoId: CHANNEL, mediaTime: 12.5 });
    playing = false;
    await world.advance(60_000);
    expect(watched().length).toBe(2);
    event.setPlayer(null);
    expect(event.getSnapshot().mediaTime).toBeNull();
  });

  test("continues after a player that fails, and uses its time as soon as it has one", async () => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const event = await world.watchLoaded();
    let fails = true;
    const failing = <T>(value: T) => {
      if (fails) throw new Error("from the player");
      return value;
    };
    event.setPlayer({ mediaTime: () => failing(7), playing: () => true, onChange: () => failing(() => {}) });
    expect(event.getSnapshot().mediaTime).toBeNull();
    await world.advance(5_000);
    expect(error).toHaveBeenCalled();
    fails = false;
    await world.until(() => event.getSnapshot().mediaTime === 7, "a media time");
    event.setPlayer({ mediaTime: () => 8, playing: () => failing(true) });
    fails = true;
    await world.advance(15_000);
    fails = false;
    await world.until(() => world.channel.received.some((frame) => frame.type === "watch" && frame.mediaTime === 8), "a watch report");
  });

  test("controls the host app's player", async () => {
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
