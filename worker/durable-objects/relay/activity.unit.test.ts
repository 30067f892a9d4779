import { describe, expect, test } from "vitest";
import { minutesBetween, type PlaybackPosition, RelayActivity, watchedBetween, watchingAt, type Watching } from "./activity.ts";

const SECOND = 1_000;

function at(seconds: number, mediaTime: number, videoId = "match") {
  return { videoId, mediaTime, at: seconds * SECOND };
}

describe("watchedBetween", () => {
  test.for<[name: string, before: ReturnType<typeof at> | null, after: ReturnType<typeof at>, seconds: number]>([
    ["counts the time elapsed", at(0, 100), at(10, 110), 10],
    ["counts nothing for the first report", null, at(10, 110), 0],
    ["counts nothing while the video is paused", at(0, 100), at(10, 100), 0],
    ["counts nothing for a seek backwards", at(0, 100), at(10, 40), 0],
    ["counts no more than the time elapsed, however far the viewer seeks ahead", at(0, 100), at(10, 4000), 10],
    ["counts the media time played if that is less than the time elapsed", at(0, 100), at(10, 104), 4],
    ["counts nothing across different videos", at(0, 100, "trailer"), at(10, 110), 0],
    ["counts nothing after a gap of more than a minute", at(0, 100), at(61, 161), 0],
    ["counts a gap of exactly a minute", at(0, 100), at(60, 160), 60],
    ["counts nothing if no time has elapsed", at(5, 100), at(5, 900), 0],
  ])("%s", ([, before, after, seconds]) => {
    expect(watchedBetween(before, after)).toBe(seconds);
  });
});

/** Has a player report these positions, one after the other. */
function watch(activity: RelayActivity, ...positions: PlaybackPosition[]): void {
  let before: Watching | null = null;
  for (const position of positions) {
    const after = watchingAt(before, position);
    activity.watched("ada", before, after);
    before = after;
  }
}

describe("a relay's activity rows", () => {
  test("sum what an account watches, with one row per video", () => {
    const activity = new RelayActivity("channel");
    watch(activity, at(0, 0), at(10, 10), at(15, 15), at(20, 0, "trailer"), at(22, 2, "trailer"));
    const row = { accountId: "ada", kind: "watch", channelId: "channel" };
    expect(activity.take()).toEqual([
      { ...row, targetId: "match", seconds: 15, since: 0, firstAt: 0, lastAt: 15 * SECOND },
      { ...row, targetId: "trailer", seconds: 2, since: 20 * SECOND, firstAt: 20 * SECOND, lastAt: 22 * SECOND },
    ]);
    expect(activity.size).toBe(0);
  });

  test("separate what was watched before and after a break", () => {
    const activity = new RelayActivity("channel");
    watch(activity, at(0, 0), at(30, 30), at(60, 60), at(600, 60), at(630, 90));
    expect(activity.take()).toMatchObject([
      { seconds: 60, firstAt: 0, lastAt: 60 * SECOND },
      { seconds: 30, firstAt: 600 * SECOND, lastAt: 630 * SECOND },
    ]);
  });

  test("separate consecutive quarters of an hour, and keep their start after being written", () => {
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

  test("count two screens of the same account once", () => {
    const activity = new RelayActivity("channel");
    watch(activity, at(0, 0), at(10, 10));
    watch(activity, at(1, 500), at(11, 510));
    expect(activity.take()).toMatchObject([{ seconds: 11, firstAt: 0, lastAt: 11 * SECOND }]);
  });

  test("separate panel openings by minute and visits by start, and keep each visit's duration", () => {
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

  test("are kept for the next write if a write fails", () => {
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

describe("whole minutes of watching", () => {
  const minutesOf = (...positions: PlaybackPosition[]): number[] => {
    let before: Watching | null = null;
    const minutes: number[] = [];
    for (const position of positions) {
      const after: Watching = watchingAt(before, position);
      if (before && watchedBetween(before, position) > 0) minutes.push(...minutesBetween(before, after));
      before = after;
    }
    return minutes;
  };
  /** Watching without a break, reported every ten seconds. */
  const watchedFor = (start: number, seconds: number) => Array.from({ length: seconds / 10 + 1 }, (_, n) => at(start + n * 10, n * 10));

  test("are counted from the start of a streak, in different minutes of the clock", () => {
    expect(minutesOf(...watchedFor(30, 50))).toEqual([]);
    expect(minutesOf(...watchedFor(30, 190))).toEqual([1, 2, 3]);
  });

  test("don't restart with the quarters of an hour", () => {
    expect(minutesOf(...watchedFor(30, 3_600))).toEqual(Array.from({ length: 60 }, (_, n) => n + 1));
  });

  test("start again after a break", () => {
    expect(
      minutesOf(...watchedFor(0, 50), at(200, 50), ...watchedFor(210, 50).map((one) => ({ ...one, mediaTime: one.mediaTime + 60 }))),
    ).toEqual([4]);
  });

  test("are part of what is written to the database, and kept if that fails", () => {
    const activity = new RelayActivity("channel");
    watch(activity, ...watchedFor(0, 130));
    const rows = activity.take();
    expect(rows.flatMap(({ minutes = [] }) => minutes)).toEqual([1, 2]);
    activity.putBack(rows);
    expect(activity.take().flatMap(({ minutes = [] }) => minutes)).toEqual([1, 2]);
  });
});
