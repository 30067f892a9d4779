import { afterEach, describe, expect, test, vi } from "vitest";
import { browserEnvironment, type OverlayShow, syncToMediaTime, type ServerFrame } from "#sdk/channel/index.ts";
import { Network, VirtualTime } from "./world.ts";

/** `listen` is the host's own code, which may fail. */
function setUp(listen: (frame: ServerFrame) => void = () => {}) {
  const time = new VirtualTime();
  const network = new Network(time, () => 0, { connect: () => null });
  const seen: { at: number; frame: ServerFrame }[] = [];
  const sync = syncToMediaTime({ ...browserEnvironment, ...network.environment() }, (frame) => {
    seen.push({ at: time.now, frame });
    listen(frame);
  });
  /** A video that lags `delay` seconds behind what happens. */
  const started = time.now;
  const player = (delay: number) => ({ mediaTime: () => (time.now - started) / 1000 - delay, playing: () => true });
  const ids = () => seen.map(({ frame }) => (frame.type === "overlay.show" ? frame.broadcastId : frame.type));
  return { time, seen, sync, player, ids, started };
}

function goal(id: string, timecode: number | undefined, startsAt: number): OverlayShow {
  return {
    type: "overlay.show",
    seq: 1,
    upTo: 1,
    broadcastId: id,
    overlayId: "o",
    startsAt,
    endsAt: startsAt + 8_000,
    position: "center",
    contents: [],
    cta: null,
    variables: {},
    priority: 0,
    ...(timecode === undefined ? {} : { timecode }),
  };
}

/** The server's word that a broadcast's time is over, as opposed to a clear that somebody asked for. */
function expiry(...broadcastIds: string[]): ServerFrame {
  return { type: "overlay.clear", seq: 2, upTo: 2, broadcastIds, ended: true };
}

function welcome(overlays: OverlayShow[], now: number): ServerFrame {
  const state = { overlays, rules: [], concurrents: 1, heartbeat: 30, now };
  return { type: "welcome", epoch: "e1", seq: 9, upTo: 9, recovered: false, ...state };
}

const shown = (seen: { frame: ServerFrame }[]) =>
  seen.flatMap(({ frame }) => (frame.type === "welcome" ? frame.overlays.map(({ broadcastId }) => broadcastId) : []));

afterEach(() => vi.restoreAllMocks());

describe("a broadcast with a timecode", () => {
  test("waits until the video reaches its timecode, and keeps its whole duration", async () => {
    const { time, seen, sync, player, started } = setUp();
    sync.setPlayer(player(30));
    await time.pass(60_000);
    sync.accept(goal("goal", 59, time.now));
    await time.pass(28_000);
    expect(seen).toEqual([]);
    await time.pass(1_500);
    expect(seen).toHaveLength(1);
    const { at, frame } = seen[0] ?? { at: 0, frame: undefined };
    expect(at - started).toBeGreaterThanOrEqual(89_000);
    expect(at - started).toBeLessThanOrEqual(89_200);
    expect(frame).toMatchObject({ broadcastId: "goal", startsAt: at, endsAt: at + 8_000 });
  });

  test("outlives its end by the server's clock, before its release and after, and then ends by itself", async () => {
    const { time, seen, sync, player, ids, started } = setUp();
    sync.setPlayer(player(5));
    await time.pass(10_000);
    sync.accept(goal("lags a little", 10, time.now));
    sync.accept(goal("lags much", 20, time.now));
    sync.accept(goal("none waits for it", undefined, time.now));
    await time.pass(8_000);
    sync.accept(expiry("lags a little", "lags much", "none waits for it"));
    expect(ids()).toEqual(["none waits for it", "lags a little", "overlay.clear"]);
    expect(seen[2]?.frame).toEqual(expiry("none waits for it"));
    await time.pass(30_000);
    const rest = seen.slice(3).map(({ at, frame }) => ({ after: Math.floor((at - started) / 1000), frame }));
    expect(rest).toMatchObject([
      { after: 23, frame: { type: "overlay.clear", broadcastIds: ["lags a little"], ended: true } },
      { after: 25, frame: { type: "overlay.show", broadcastId: "lags much" } },
      { after: 33, frame: { type: "overlay.clear", broadcastIds: ["lags much"], ended: true } },
    ]);
  });

  test("is taken off late or early by whoever clears it", async () => {
    const { time, sync, player, ids } = setUp();
    sync.setPlayer(player(5));
    await time.pass(5_000);
    sync.accept(goal("a", 2, time.now));
    await time.pass(3_000);
    sync.accept({ type: "overlay.clear", seq: 2, upTo: 2, broadcastIds: ["a"] });
    await time.pass(20_000);
    expect(ids()).toEqual(["a", "overlay.clear"]);
  });

  test("is shown at once without a player, or when the video is past it", async () => {
    const { time, sync, player, ids } = setUp();
    sync.accept(goal("no player", 5, time.now));
    sync.setPlayer(player(0));
    await time.pass(10_000);
    sync.accept(goal("past", 5, time.now));
    expect(ids()).toEqual(["no player", "past"]);
  });

  test("waits for a player that has no time yet", async () => {
    const { time, sync, player, ids } = setUp();
    let ready = false;
    sync.setPlayer({ mediaTime: () => (ready ? player(0).mediaTime() : null), playing: () => ready });
    sync.accept(goal("spoiler", 5, time.now));
    await time.pass(3_000);
    ready = true;
    await time.pass(1_500);
    expect(ids()).toEqual([]);
    await time.pass(1_000);
    expect(ids()).toEqual(["spoiler"]);
  });

  test("comes while other frames come without a pause", async () => {
    const { time, sync, player, ids } = setUp();
    sync.setPlayer(player(0));
    sync.accept(goal("goal", 1, time.now));
    for (let count = 0; count < 30; count++) {
      sync.accept({ type: "concurrents", upTo: 1, count });
      await time.pass(50);
    }
    expect(ids()).toContain("goal");
  });

  test("holds up nothing else, and comes in the order of media time", async () => {
    const { time, sync, player, ids } = setUp();
    sync.setPlayer(player(0));
    sync.accept(goal("second", 4, time.now));
    sync.accept(goal("first", 2, time.now));
    sync.accept(goal("now", undefined, time.now));
    await time.pass(5_000);
    expect(ids()).toEqual(["now", "first", "second"]);
  });

  test("never comes when it is cleared first", async () => {
    const { time, sync, player, ids } = setUp();
    sync.setPlayer(player(0));
    sync.accept(goal("mistake", 4, time.now));
    sync.accept({ type: "overlay.clear", seq: 2, upTo: 2, broadcastIds: ["mistake"] });
    await time.pass(10_000);
    expect(ids()).toEqual(["overlay.clear"]);
  });

  test("comes at once when the viewer seeks there, or the player goes away", async () => {
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
    mediaTime = 60;
    for (const jump of jumps) jump();
    expect(ids()).toEqual(["a"]);
    sync.accept(goal("b", 90, time.now));
    sync.setPlayer(null);
    expect(ids()).toEqual(["a", "b"]);
    expect(jumps.size).toBe(0);
  });

  test("is forgotten when the whole state comes without it", async () => {
    const { time, seen, sync, player, ids } = setUp();
    sync.setPlayer(player(0));
    sync.accept(goal("cleared while away", 4, time.now));
    sync.accept(goal("still to come", 5, time.now));
    sync.accept(welcome([goal("still to come", 5, time.now), goal("on", undefined, time.now)], time.now));
    expect(shown(seen)).toEqual(["on"]);
    await time.pass(10_000);
    expect(ids()).toEqual(["welcome", "still to come"]);
  });

  test("that has ended is in the whole state for those alone whose sync is behind it", async () => {
    const { time, seen, sync, player, ids } = setUp();
    sync.setPlayer(player(30));
    await time.pass(60_000);
    const ended = [goal("seen long ago", 20, time.now - 20_000), goal("not yet", 40, time.now - 20_000)];
    sync.accept(welcome(ended, time.now));
    expect(shown(seen)).toEqual([]);
    await time.pass(11_000);
    expect(ids()).toEqual(["welcome", "not yet"]);
    // Back after a break, while it is on.
    sync.accept(welcome(ended, time.now));
    expect(seen.at(-1)?.frame).toMatchObject({ overlays: [{ broadcastId: "not yet", endsAt: (seen[1]?.at ?? 0) + 8_000 }] });
    await time.pass(10_000);
    expect(ids().at(-1)).toBe("overlay.clear");
  });
});

describe("a host whose code fails", () => {
  test("misses nothing by it", async () => {
    const told = vi.spyOn(console, "error").mockReturnValue();
    const { time, sync, player, ids } = setUp((frame) => {
      if (frame.type === "overlay.show" && frame.broadcastId === "first") throw new Error("the host's");
    });
    sync.setPlayer(player(0));
    for (const [id, timecode] of [
      ["first", 1],
      ["second", 1],
      ["third", 2],
    ] as const)
      sync.accept(goal(id, timecode, time.now));
    await time.pass(3_000);
    expect(ids()).toEqual(["first", "second", "third"]);
    expect(told).toHaveBeenCalledTimes(1);
  });

  test("in its player holds broadcasts as a player without a time does, and is told so once", async () => {
    const told = vi.spyOn(console, "error").mockReturnValue();
    const { time, sync, player, ids } = setUp();
    let fails = true;
    sync.setPlayer({
      mediaTime: () => {
        if (fails) throw new Error("the host's");
        return player(0).mediaTime();
      },
      playing: () => true,
    });
    sync.accept(goal("goal", 1, time.now));
    await time.pass(3_000);
    expect(ids()).toEqual([]);
    fails = false;
    await time.pass(500);
    expect(ids()).toEqual(["goal"]);
    expect(told).toHaveBeenCalledTimes(1);
  });
});
