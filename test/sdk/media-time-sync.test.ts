import { describe, expect, test, vi } from "vitest";
import type { ServerFrame } from "#sdk/channel/index.ts";
import { expiry, goal, setUp, welcome } from "./media-time-world.ts";

const shown = (seen: { frame: ServerFrame }[]) =>
  seen.flatMap(({ frame }) => (frame.type === "welcome" ? frame.overlays.map(({ broadcastId }) => broadcastId) : []));

describe("a broadcast with a timecode", () => {
  test("waits until the video reaches its timecode, and keeps its full duration", async () => {
    const { time, seen, sync, player, started } = setUp();
    sync.setPlayer(player(30));
    await time.advance(60_000);
    sync.accept(goal("goal", 59, time.now));
    await time.advance(28_000);
    expect(seen).toEqual([]);
    await time.advance(1_500);
    expect(seen).toHaveLength(1);
    const { at, frame } = seen[0] ?? { at: 0, frame: undefined };
    expect(at - started).toBeGreaterThanOrEqual(89_000);
    expect(at - started).toBeLessThanOrEqual(89_200);
    expect(frame).toMatchObject({ broadcastId: "goal", startsAt: at, endsAt: at + 8_000 });
  });

  test("stays beyond its end on the server's clock, whether released before or after, and then ends by itself", async () => {
    const { time, seen, sync, player, ids, started } = setUp();
    sync.setPlayer(player(5));
    await time.advance(10_000);
    sync.accept(goal("slightly delayed", 10, time.now));
    sync.accept(goal("much delayed", 20, time.now));
    sync.accept(goal("without a timecode", undefined, time.now));
    await time.advance(8_000);
    sync.accept(expiry("slightly delayed", "much delayed", "without a timecode"));
    expect(ids()).toEqual(["without a timecode", "slightly delayed", "overlay.clear"]);
    expect(seen[2]?.frame).toEqual(expiry("without a timecode"));
    await time.advance(30_000);
    const rest = seen.slice(3).map(({ at, frame }) => ({ after: Math.floor((at - started) / 1000), frame }));
    expect(rest).toMatchObject([
      { after: 23, frame: { type: "overlay.clear", broadcastIds: ["slightly delayed"], ended: true } },
      { after: 25, frame: { type: "overlay.show", broadcastId: "much delayed" } },
      { after: 33, frame: { type: "overlay.clear", broadcastIds: ["much delayed"], ended: true } },
    ]);
  });

  test("is removed immediately when it is cleared", async () => {
    const { time, sync, player, ids } = setUp();
    sync.setPlayer(player(5));
    await time.advance(5_000);
    sync.accept(goal("a", 2, time.now));
    await time.advance(3_000);
    sync.accept({ type: "overlay.clear", seq: 2, upTo: 2, broadcastIds: ["a"] });
    await time.advance(20_000);
    expect(ids()).toEqual(["a", "overlay.clear"]);
  });

  test("is shown immediately without a player, or if the video is past it", async () => {
    const { time, sync, player, ids } = setUp();
    sync.accept(goal("no player", 5, time.now));
    sync.setPlayer(player(0));
    await time.advance(10_000);
    sync.accept(goal("past", 5, time.now));
    expect(ids()).toEqual(["no player", "past"]);
  });

  test.each([
    [10, true],
    [10.0004, true],
    [10.001, false],
    [10.04, false],
  ])("at %d s comes with the picture of 10 s, whose clock is rounded to milliseconds: %s", (timecode, comes) => {
    const { time, sync, ids } = setUp();
    sync.setPlayer({ mediaTime: () => 10, playing: () => true });
    sync.accept(goal("goal", timecode, time.now));
    expect(ids()).toEqual(comes ? ["goal"] : []);
  });

  test("waits for a player that has no time yet", async () => {
    const { time, sync, player, ids } = setUp();
    let ready = false;
    sync.setPlayer({ mediaTime: () => (ready ? player(0).mediaTime() : null), playing: () => ready });
    sync.accept(goal("spoiler", 5, time.now));
    await time.advance(3_000);
    ready = true;
    await time.advance(1_500);
    expect(ids()).toEqual([]);
    await time.advance(1_000);
    expect(ids()).toEqual(["spoiler"]);
  });

  test("is released even while other frames arrive continuously", async () => {
    const { time, sync, player, ids } = setUp();
    sync.setPlayer(player(0));
    sync.accept(goal("goal", 1, time.now));
    for (let count = 0; count < 30; count++) {
      sync.accept({ type: "concurrents", upTo: 1, count });
      await time.advance(50);
    }
    expect(ids()).toContain("goal");
  });

  test("delays nothing else, and is released in the order of media time", async () => {
    const { time, sync, player, ids } = setUp();
    sync.setPlayer(player(0));
    sync.accept(goal("second", 4, time.now));
    sync.accept(goal("first", 2, time.now));
    sync.accept(goal("now", undefined, time.now));
    await time.advance(5_000);
    expect(ids()).toEqual(["now", "first", "second"]);
  });

  test("is never released if it is cleared first", async () => {
    const { time, sync, player, ids } = setUp();
    sync.setPlayer(player(0));
    sync.accept(goal("mistake", 4, time.now));
    sync.accept({ type: "overlay.clear", seq: 2, upTo: 2, broadcastIds: ["mistake"] });
    await time.advance(10_000);
    expect(ids()).toEqual(["overlay.clear"]);
  });

  test("is released immediately when the viewer seeks there, or the player is removed", async () => {
    const { time, sync, ids } = setUp();
    let mediaTime = 0;
    const jumps = new Set<() => void>();
    sync.setPlayer({
      mediaTime: () => mediaTime,
      playing: () => true,
      onChange: (listener) => {
        jumps.add(listener);
        return () => jumps.delete(listener);
      },
    });
    sync.accept(goal("a", 50, time.now));
    mediaTime = 55;
    for (const jump of jumps) jump();
    expect(ids()).toEqual(["a"]);
    sync.accept(goal("b", 90, time.now));
    sync.setPlayer(null);
    expect(ids()).toEqual(["a", "b"]);
    expect(jumps.size).toBe(0);
  });

  test("is dropped if a full state doesn't contain it", async () => {
    const { time, seen, sync, player, ids } = setUp();
    sync.setPlayer(player(0));
    sync.accept(goal("cleared while away", 4, time.now));
    sync.accept(goal("still to come", 5, time.now));
    sync.accept(welcome([goal("still to come", 5, time.now), goal("on", undefined, time.now)], time.now));
    expect(shown(seen)).toEqual(["on"]);
    await time.advance(10_000);
    expect(ids()).toEqual(["welcome", "still to come"]);
  });

  test("that has ended is kept from a full state only if the video hasn't reached it yet", async () => {
    const { time, seen, sync, player, ids } = setUp();
    sync.setPlayer(player(30));
    await time.advance(60_000);
    const ended = [goal("seen long ago", 20, time.now - 20_000), goal("not yet", 40, time.now - 20_000)];
    sync.accept(welcome(ended, time.now));
    expect(shown(seen)).toEqual([]);
    await time.advance(11_000);
    expect(ids()).toEqual(["welcome", "not yet"]);
    // A reconnect while it is shown.
    sync.accept(welcome(ended, time.now));
    expect(seen.at(-1)?.frame).toMatchObject({ overlays: [{ broadcastId: "not yet", endsAt: (seen[1]?.at ?? 0) + 8_000 }] });
    await time.advance(10_000);
    expect(ids().at(-1)).toBe("overlay.clear");
  });
});

describe("a viewer who seeks", () => {
  /** A player that stands where the test puts it. */
  function setUpSeeking() {
    const world = setUp();
    let mediaTime: number | null = 0;
    const listeners = new Set<() => void>();
    world.sync.setPlayer({
      mediaTime: () => mediaTime,
      playing: () => true,
      onChange: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    });
    const seek = (seconds: number | null) => {
      mediaTime = seconds;
      for (const listener of listeners) listener();
    };
    return { ...world, seek };
  }

  test("back before a broadcast no longer sees it, and sees it again when the video reaches it again", async () => {
    const { time, sync, seek, ids } = setUpSeeking();
    seek(20);
    sync.accept(goal("goal", 20, time.now));
    seek(5);
    expect(ids()).toEqual(["goal", "overlay.clear"]);
    await time.advance(2_000);
    seek(19.9);
    expect(ids()).toEqual(["goal", "overlay.clear"]);
    seek(20);
    expect(ids()).toEqual(["goal", "overlay.clear", "goal"]);
  });

  test("back into a broadcast that has ended sees the rest of it", async () => {
    const { time, seen, sync, seek, ids } = setUpSeeking();
    sync.accept(goal("goal", 20, time.now));
    seek(20);
    await time.advance(9_000);
    seek(30);
    expect(ids()).toEqual(["goal", "overlay.clear"]);
    seek(25);
    expect(seen.at(-1)?.frame).toMatchObject({ broadcastId: "goal", startsAt: time.now, endsAt: time.now + 3_000 });
  });

  test("within a broadcast that is shown doesn't see it enter again", () => {
    const { time, sync, seek, ids } = setUpSeeking();
    sync.accept(goal("goal", 20, time.now));
    seek(20);
    seek(26);
    seek(22);
    expect(ids()).toEqual(["goal"]);
  });

  test("forward over a broadcast doesn't see it, and into one sees the rest of it", () => {
    const { time, seen, sync, seek, ids } = setUpSeeking();
    sync.accept(goal("over", 10, time.now));
    sync.accept(goal("still on", 50, time.now));
    seek(55);
    expect(ids()).toEqual(["still on"]);
    expect(seen[0]?.frame).toMatchObject({ startsAt: time.now, endsAt: time.now + 3_000 });
  });

  test("doesn't see what was cleared when going back", () => {
    const { time, sync, seek, ids } = setUpSeeking();
    sync.accept(goal("mistake", 20, time.now));
    seek(20);
    sync.accept({ type: "overlay.clear", seq: 2, upTo: 2, broadcastIds: ["mistake"] });
    seek(10);
    seek(21);
    expect(ids()).toEqual(["mistake", "overlay.clear"]);
  });

  test("sees nothing before the player knows its new time", () => {
    const { time, sync, seek, ids } = setUpSeeking();
    sync.accept(goal("goal", 20, time.now));
    seek(null);
    expect(ids()).toEqual([]);
    seek(19);
    expect(ids()).toEqual([]);
    seek(20);
    expect(ids()).toEqual(["goal"]);
  });

  test("in a recording sees the broadcasts of the minute that the video is at", () => {
    const { time, sync, seek, ids } = setUpSeeking();
    const recordedAt = time.now - 86_400_000;
    sync.replay([goal("first", 10, recordedAt), goal("second", 60, recordedAt), goal("third", 120, recordedAt)]);
    expect(ids()).toEqual([]);
    seek(61);
    seek(121);
    seek(11);
    expect(ids()).toEqual(["second", "overlay.clear", "third", "overlay.clear", "overlay.clear", "first"]);
  });
});

test("a recording's broadcasts aren't affected by the state of the channel", () => {
  const { time, seen, sync } = setUp();
  let mediaTime = 0;
  const player = { mediaTime: () => mediaTime, playing: () => true };
  sync.setPlayer(player);
  sync.replay([goal("on", 10, 0), goal("to come", 60, 0)]);
  mediaTime = 10;
  sync.setPlayer(player);
  sync.accept(welcome([], time.now));
  expect(shown(seen)).toEqual(["on"]);
  mediaTime = 60;
  sync.setPlayer(player);
  expect(seen.at(-1)?.frame).toMatchObject({ type: "overlay.show", broadcastId: "to come" });
});

describe("a broadcast's moment", () => {
  test("is met within 20 ms at any speed of the video, never before it", async () => {
    for (const rate of [0.5, 1, 2]) {
      const { time, seen, sync, started } = setUp();
      sync.setPlayer({ mediaTime: () => ((time.now - started) / 1000) * rate, playing: () => true, rate: () => rate });
      sync.accept(goal("goal", 7.123, time.now));
      await time.advance(20_000);
      const late = (((seen[0]?.at ?? 0) - started) / 1000) * rate - 7.123;
      expect(late).toBeGreaterThanOrEqual(-0.001);
      expect(late).toBeLessThan(0.02 * rate);
    }
  });
});

describe("a host app that throws", () => {
  test("misses nothing because of it", async () => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const { time, sync, player, ids } = setUp((frame) => {
      if (frame.type === "overlay.show" && frame.broadcastId === "first") throw new Error("from the host app");
    });
    sync.setPlayer(player(0));
    for (const [id, timecode] of [
      ["first", 1],
      ["second", 1],
      ["third", 2],
    ] as const)
      sync.accept(goal(id, timecode, time.now));
    await time.advance(3_000);
    expect(ids()).toEqual(["first", "second", "third"]);
    expect(error).toHaveBeenCalledTimes(1);
  });

  test("in its player holds broadcasts like a player without a time, and the error is reported once", async () => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const { time, sync, player, ids } = setUp();
    let fails = true;
    sync.setPlayer({
      mediaTime: () => {
        if (fails) throw new Error("from the host app");
        return player(0).mediaTime();
      },
      playing: () => true,
    });
    sync.accept(goal("goal", 1, time.now));
    await time.advance(3_000);
    expect(ids()).toEqual([]);
    fails = false;
    await time.advance(500);
    expect(ids()).toEqual(["goal"]);
    expect(error).toHaveBeenCalledTimes(1);
  });
});
