import { describe, expect, test } from "vitest";
import { type Place, RelayActivity, watchedBetween, watchingAt, type Watching } from "./activity.ts";

const SECOND = 1_000;

function at(seconds: number, mediaTime: number, videoId = "match") {
  return { videoId, mediaTime, at: seconds * SECOND };
}

describe("what was watched between two reports", () => {
  test.for<[name: string, before: ReturnType<typeof at> | null, after: ReturnType<typeof at>, seconds: number]>([
    ["is the time that has passed", at(0, 100), at(10, 110), 10],
    ["is nothing for the first report", null, at(10, 110), 0],
    ["is nothing while the picture stands", at(0, 100), at(10, 100), 0],
    ["is nothing for a jump back", at(0, 100), at(10, 40), 0],
    ["is no more than has passed, however far the viewer jumps ahead", at(0, 100), at(10, 4000), 10],
    ["is what was seen, if that is less than has passed", at(0, 100), at(10, 104), 4],
    ["is nothing of another video", at(0, 100, "trailer"), at(10, 110), 0],
    ["is nothing after a silence of more than a minute", at(0, 100), at(61, 161), 0],
    ["is a minute after a minute", at(0, 100), at(60, 160), 60],
    ["is nothing if no time has passed", at(5, 100), at(5, 900), 0],
  ])("%s", ([, before, after, seconds]) => {
    expect(watchedBetween(before, after)).toBe(seconds);
  });
});

/** Has a player tell of these places, one after the other. */
function watch(activity: RelayActivity, ...places: Place[]): void {
  let before: Watching | null = null;
  for (const place of places) {
    const after = watchingAt(before, place);
    activity.watched("ada", before, after);
    before = after;
  }
}

describe("the rows of a relay", () => {
  test("add up what an account watches, one row for each video", () => {
    const activity = new RelayActivity("channel");
    watch(activity, at(0, 0), at(10, 10), at(15, 15), at(20, 0, "trailer"), at(22, 2, "trailer"));
    const row = { accountId: "ada", kind: "watch", channelId: "channel" };
    expect(activity.take()).toEqual([
      { ...row, targetId: "match", seconds: 15, since: 0, firstAt: 0, lastAt: 15 * SECOND },
      { ...row, targetId: "trailer", seconds: 2, since: 20 * SECOND, firstAt: 20 * SECOND, lastAt: 22 * SECOND },
    ]);
    expect(activity.size).toBe(0);
  });

  test("tell apart what was watched before a break and after it", () => {
    const activity = new RelayActivity("channel");
    watch(activity, at(0, 0), at(30, 30), at(60, 60), at(600, 60), at(630, 90));
    expect(activity.take()).toMatchObject([
      { seconds: 60, firstAt: 0, lastAt: 60 * SECOND },
      { seconds: 30, firstAt: 600 * SECOND, lastAt: 630 * SECOND },
    ]);
  });

  test("tell apart what was watched in one quarter of an hour and in the next, and go on where they began after they were written", () => {
    const activity = new RelayActivity("channel");
    watch(activity, at(800, 0), at(840, 40), at(890, 90), at(901, 101), at(905, 105));
    expect(activity.take()).toMatchObject([
      { seconds: 101, since: 800 * SECOND, firstAt: 800 * SECOND, lastAt: 901 * SECOND },
      { seconds: 4, since: 901 * SECOND, firstAt: 901 * SECOND, lastAt: 905 * SECOND },
    ]);
    const before = watchingAt(watchingAt(null, at(0, 0)), at(40, 40));
    activity.watched("ada", before, watchingAt(before, at(80, 80)));
    expect(activity.take()).toMatchObject([{ seconds: 40, since: 0, firstAt: 40 * SECOND, lastAt: 80 * SECOND }]);
  });

  test("count two screens of one account once", () => {
    const activity = new RelayActivity("channel");
    watch(activity, at(0, 0), at(10, 10));
    watch(activity, at(1, 500), at(11, 510));
    expect(activity.take()).toMatchObject([{ seconds: 11, firstAt: 0, lastAt: 11 * SECOND }]);
  });

  test("keep each minute's openings and each visit apart, and of a visit how long it has been", () => {
    const activity = new RelayActivity("channel");
    for (const minute of [0, 5, 14]) activity.opened("ada", "lineup", minute * 60 * SECOND);
    activity.visited("ada", 0, 30 * SECOND);
    activity.visited("ada", 0, 600 * SECOND);
    activity.visited("ada", 700 * SECOND, 710 * SECOND);
    const moments = activity.take().map(({ kind, seconds, firstAt, lastAt }) => [kind, seconds, firstAt / SECOND, lastAt / SECOND]);
    expect(moments).toEqual([
      ["panel", 0, 0, 0],
      ["panel", 0, 300, 300],
      ["panel", 0, 840, 840],
      ["channel", 600, 0, 600],
      ["channel", 10, 700, 710],
    ]);
  });

  test("go with the next when they could not be written", () => {
    const activity = new RelayActivity("channel");
    watch(activity, at(0, 0), at(10, 10));
    const rows = activity.take();
    const before = watchingAt(watchingAt(null, at(0, 0)), at(10, 10));
    activity.watched("ada", before, watchingAt(before, at(12, 12)));
    activity.opened("ada", "lineup", 9 * SECOND);
    activity.putBack(rows);
    expect(activity.take()).toMatchObject([
      { targetId: "match", seconds: 12, firstAt: 0, lastAt: 12 * SECOND },
      { kind: "panel", targetId: "lineup", seconds: 0 },
    ]);
  });
});
