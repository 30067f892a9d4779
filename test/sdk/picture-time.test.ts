import { describe, expect, test } from "vitest";
import { browserEnvironment, type OverlayShow, pictureTime, type ServerFrame } from "../../sdk/channel/index.ts";
import { Network, VirtualTime } from "./world.ts";

function setUp() {
  const time = new VirtualTime();
  const network = new Network(time, () => 0, { connect: () => null });
  const seen: { at: number; frame: ServerFrame }[] = [];
  const picture = pictureTime({ ...browserEnvironment, ...network.environment() }, (frame) => seen.push({ at: time.now, frame }));
  /** A picture that runs `delay` seconds behind what happens. */
  const started = time.now;
  const player = (delay: number) => ({ mediaTime: () => (time.now - started) / 1000 - delay, playing: () => true });
  const ids = () => seen.map(({ frame }) => (frame.type === "overlay.show" ? frame.broadcastId : frame.type));
  return { time, seen, picture, player, ids, started };
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

describe("a broadcast with a timecode", () => {
  test("waits until the picture is there, and keeps its whole duration", async () => {
    const { time, seen, picture, player, started } = setUp();
    picture.setPlayer(player(30));
    await time.pass(60_000);
    picture.take(goal("goal", 59, time.now));
    await time.pass(28_000);
    expect(seen).toEqual([]);
    await time.pass(1_500);
    expect(seen).toHaveLength(1);
    const { at, frame } = seen[0] ?? { at: 0, frame: undefined };
    expect(at - started).toBeGreaterThanOrEqual(89_000);
    expect(at - started).toBeLessThanOrEqual(89_200);
    expect(frame).toMatchObject({ broadcastId: "goal", startsAt: at, endsAt: at + 8_000 });
  });

  test("is shown at once without a player, without a time, or when the picture is past it", async () => {
    const { time, picture, player, ids } = setUp();
    picture.take(goal("no player", 5, time.now));
    picture.setPlayer({ mediaTime: () => null, playing: () => false });
    picture.take(goal("no time", 5, time.now));
    picture.setPlayer(player(0));
    await time.pass(10_000);
    picture.take(goal("past", 5, time.now));
    expect(ids()).toEqual(["no player", "no time", "past"]);
  });

  test("holds up nothing else, and comes in the order of the picture", async () => {
    const { time, picture, player, ids } = setUp();
    picture.setPlayer(player(0));
    picture.take(goal("second", 4, time.now));
    picture.take(goal("first", 2, time.now));
    picture.take(goal("now", undefined, time.now));
    await time.pass(5_000);
    expect(ids()).toEqual(["now", "first", "second"]);
  });

  test("never comes when it is cleared first", async () => {
    const { time, picture, player, ids } = setUp();
    picture.setPlayer(player(0));
    picture.take(goal("mistake", 4, time.now));
    picture.take({ type: "overlay.clear", seq: 2, upTo: 2, broadcastIds: ["mistake"] });
    await time.pass(10_000);
    expect(ids()).toEqual(["overlay.clear"]);
  });

  test("comes at once when the viewer seeks there, or the player goes away", async () => {
    const { time, picture, ids } = setUp();
    let mediaTime = 0;
    const jumps = new Set<() => void>();
    picture.setPlayer({
      mediaTime: () => mediaTime,
      playing: () => true,
      onChange: (listener) => {
        jumps.add(listener);
        return () => jumps.delete(listener);
      },
    });
    picture.take(goal("a", 50, time.now));
    mediaTime = 60;
    for (const jump of jumps) jump();
    expect(ids()).toEqual(["a"]);
    picture.take(goal("b", 90, time.now));
    picture.setPlayer(null);
    expect(ids()).toEqual(["a", "b"]);
    expect(jumps.size).toBe(0);
  });
});
