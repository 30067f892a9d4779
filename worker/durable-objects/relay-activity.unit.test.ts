import { describe, expect, test } from "vitest";
import { RelayActivity, watchedBetween } from "./relay-activity.ts";

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

describe("the rows of a relay", () => {
  test("add up what an account watches, one row for each video", () => {
    const activity = new RelayActivity("channel");
    activity.watched("ada", at(0, 0), at(10, 10));
    activity.watched("ada", at(10, 10), at(15, 15));
    activity.watched("ada", at(20, 0, "trailer"), at(22, 2, "trailer"));
    const row = { accountId: "ada", kind: "watch", channelId: "channel" };
    expect(activity.take()).toEqual([
      { ...row, targetId: "match", seconds: 15, firstAt: 0, lastAt: 15 * SECOND },
      { ...row, targetId: "trailer", seconds: 2, firstAt: 20 * SECOND, lastAt: 22 * SECOND },
    ]);
    expect(activity.size).toBe(0);
  });

  test("tell apart what was watched in one quarter of an hour and in the next", () => {
    const activity = new RelayActivity("channel");
    activity.watched("ada", at(880, 0), at(890, 10));
    activity.watched("ada", at(890, 10), at(901, 21));
    activity.watched("ada", at(901, 21), at(905, 25));
    expect(activity.take()).toMatchObject([
      { seconds: 10, firstAt: 880 * SECOND, lastAt: 890 * SECOND },
      { seconds: 15, firstAt: 890 * SECOND, lastAt: 905 * SECOND },
    ]);
  });

  test("count two screens of one account once", () => {
    const activity = new RelayActivity("channel");
    activity.watched("ada", at(0, 0), at(10, 10));
    activity.watched("ada", at(1, 500), at(11, 510));
    expect(activity.take()).toMatchObject([{ seconds: 11, firstAt: 0, lastAt: 11 * SECOND }]);
  });

  test("go with the next when they could not be written", () => {
    const activity = new RelayActivity("channel");
    activity.watched("ada", at(0, 0), at(10, 10));
    const rows = activity.take();
    activity.watched("ada", at(10, 10), at(12, 12));
    activity.opened("ada", "lineup", 9 * SECOND);
    activity.putBack(rows);
    expect(activity.take()).toMatchObject([
      { targetId: "match", seconds: 12, firstAt: 0, lastAt: 12 * SECOND },
      { kind: "panel", targetId: "lineup", seconds: 0 },
    ]);
  });
});
