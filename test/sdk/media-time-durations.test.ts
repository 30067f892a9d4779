import { describe, expect, test } from "vitest";
import { expiry, goal, setUp } from "./media-time-world.ts";

describe("a broadcast that the video has reached", () => {
  /** A video that plays while `rate` isn't 0. */
  function setUpPlaying(rate: number) {
    const world = setUp();
    let [mediaTime, since, speed] = [0, world.time.now, rate];
    const at = () => mediaTime + ((world.time.now - since) / 1000) * speed;
    world.sync.setPlayer({ mediaTime: at, playing: () => speed > 0 });
    const play = (next: number) => {
      [mediaTime, since, speed] = [at(), world.time.now, next];
    };
    return { ...world, play };
  }

  test("stays while the video pauses, and then for the rest of its duration", async () => {
    const { time, sync, ids, play } = setUpPlaying(1);
    sync.accept(goal("goal", 2, time.now));
    await time.advance(5_000);
    play(0);
    await time.advance(3_600_000);
    sync.accept(expiry("goal"));
    expect([ids(), sync.endsWithVideo("goal")]).toEqual([["goal"], true]);
    play(1);
    await time.advance(4_500);
    expect(ids()).toEqual(["goal"]);
    await time.advance(1_000);
    expect([ids(), sync.endsWithVideo("goal")]).toEqual([["goal", "overlay.clear"], false]);
  });

  test("is on for half as long while the video plays twice as fast", async () => {
    const { time, seen, sync, started } = setUpPlaying(2);
    sync.accept(goal("goal", 2, time.now));
    await time.advance(20_000);
    const seconds = seen.map(({ at }) => (at - started) / 1000);
    expect(seconds[0]).toBeCloseTo(1, 1);
    expect(Math.abs((seconds[1] ?? 0) - 5)).toBeLessThan(0.3);
  });

  test("of a recording runs by the clock of that time, and stands still with the video", async () => {
    const { time, sync, play } = setUpPlaying(1);
    const recordedAt = time.now - 86_400_000;
    sync.replay([goal("goal", 2, recordedAt)]);
    expect(sync.timeOf("goal")).toBeNull();
    await time.advance(5_000);
    play(0);
    const stopped = sync.timeOf("goal");
    expect(stopped).toBe(recordedAt + 3_000);
    await time.advance(60_000);
    expect(sync.timeOf("goal")).toBe(stopped);
  });

  test("of a recording is removed with the player", async () => {
    const { time, sync, ids } = setUpPlaying(1);
    sync.replay([goal("goal", 2, 0)]);
    await time.advance(3_000);
    sync.setPlayer(null);
    expect(ids()).toEqual(["goal", "overlay.clear"]);
  });
});
