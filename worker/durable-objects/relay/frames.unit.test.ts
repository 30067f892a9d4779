import { describe, expect, test } from "vitest";
import type { LogFrame } from "#worker/durable-objects/channel/channel.protocol.ts";
import { RelayCache } from "./cache.ts";
import { concurrentsFrame, drainFrame, errorFrame, joinBodies, messageByAudience, pongFrame, stateFrames, welcomeFrame } from "./frames.ts";
import { isTooSlow, mayTarget, takeToken, toViewer } from "./sockets.ts";
import { ServerFrame } from "./relay.protocol.ts";

function frame(seq: number, change: Partial<LogFrame> = {}): LogFrame {
  return {
    seq,
    body: JSON.stringify({ type: "rule", seq, upTo: seq, data: {} }),
    tags: null,
    shows: null,
    clears: [],
    rule: null,
    ...change,
  };
}

function show(seq: number, broadcastId: string, until: number): LogFrame {
  return frame(seq, { shows: { broadcastId, at: 0, until } });
}

describe("relay frames", () => {
  test("match the protocol's schemas", () => {
    const welcome = { epoch: "e", seq: 4, upTo: 2, now: 1_000, recovered: true, overlays: [], rules: [], concurrents: 3, heartbeat: 30 };
    const frames = [
      welcomeFrame(welcome),
      concurrentsFrame(4, 9),
      ...stateFrames(4, [
        { key: "a", type: "poll.updated", at: 1, data: '{"total":1}' },
        { key: "b", type: "poll.updated", at: 1, data: null },
      ]),
      drainFrame(4, 250),
      pongFrame(4),
      errorFrame("forbidden", "No"),
    ];
    expect(frames.map((text) => ServerFrame.parse(JSON.parse(text)))).toEqual([
      { type: "welcome", ...welcome },
      { type: "concurrents", upTo: 4, count: 9 },
      { type: "poll.updated", upTo: 4, data: { total: 1 } },
      { type: "drain", upTo: 4, reconnectIn: 250 },
      { type: "pong", upTo: 4 },
      { type: "error", code: "forbidden", message: "No" },
    ]);
  });

  test("are sent as is when alone and as a list when several", () => {
    expect(joinBodies(["{}"])).toBe("{}");
    expect(joinBodies(["{}", "[]"])).toBe("[{},[]]");
  });
});

describe("messageByAudience", () => {
  test("shares one text among viewers that receive the same frames, and returns null for those that receive none", () => {
    const messageFor = messageByAudience([frame(1, { tags: ["red"] }), frame(2, { tags: ["blue"] })], [], 2);
    expect(messageFor(["red", "old"])).toBe(messageFor(["red"]));
    expect(messageFor(["red"])).toEqual({ text: frame(1).body, upTo: 1 });
    expect(messageFor(["red", "blue"])).toEqual({ text: `[${frame(1).body},${frame(2).body}]`, upTo: 2 });
    expect(messageFor([])).toBeNull();
  });

  test("moves the viewer to the head when there is a state, whatever frames it skips", () => {
    expect(messageByAudience([frame(7, { tags: ["red"] })], ["{}"], 7)([])).toEqual({ text: "{}", upTo: 7 });
  });
});

describe("RelayCache", () => {
  const empty = { epoch: "e", head: 0, rules: [], states: [], gate: null, tail: [], concurrents: 0 };

  test("returns the frames after a position, or null if it doesn't reach back that far", () => {
    const cache = new RelayCache({ ...empty, head: 4, tail: [frame(3), frame(4)] }, []);
    cache.apply([frame(5)]);
    expect(cache.after(2)?.map((each) => each.seq)).toEqual([3, 4, 5]);
    expect(cache.after(4)?.map((each) => each.seq)).toEqual([5]);
    expect(cache.after(5)).toEqual([]);
    expect(cache.after(1)).toBeNull();
  });

  test("applies no frame twice and none out of order", () => {
    const cache = new RelayCache(empty, []);
    cache.apply([frame(1), frame(1), frame(3), frame(2)]);
    expect(cache.head).toBe(2);
    expect(cache.after(0)?.map((each) => each.seq)).toEqual([1, 2]);
  });

  test("keeps the latest state of each key, in whatever order they arrive", () => {
    const state = (key: string, at: number) => ({ key, type: "poll.updated" as const, at, data: String(at) });
    const cache = new RelayCache({ ...empty, states: [state("a", 2), state("b", 1)] }, []);
    cache.applyStates([state("a", 1), state("b", 3)]);
    expect(cache.states().map(({ data }) => data)).toEqual(["2", "3"]);
  });

  test("stays bounded and contiguous", () => {
    const cache = new RelayCache(empty, []);
    for (let seq = 1; seq <= 2_000; seq++) cache.apply([frame(seq)]);
    expect(cache.after(1_000)).toBeNull();
    expect(cache.after(1_800)?.map((each) => each.seq)).toEqual(Array.from({ length: 200 }, (_, i) => 1_801 + i));
  });

  test("lists the overlays that were shown and neither cleared nor expired", () => {
    const cache = new RelayCache({ ...empty, head: 1 }, [show(1, "a", 500)]);
    cache.apply([show(2, "b", 1_000), show(3, "c", 1_000), frame(4, { clears: ["b"] })]);
    expect(cache.overlays(400).map((each) => each.seq)).toEqual([1, 3]);
    expect(cache.overlays(500).map((each) => each.seq)).toEqual([3]);
  });
});

describe("a viewer", () => {
  const viewer = () =>
    toViewer(
      {
        accountId: null,
        sessionId: null,
        outputId: null,
        until: null,
        device: null,
        network: null,
        tags: [],
        segments: [],
        counted: 0,
        watching: null,
        joinedAt: 0,
        lastActiveAt: 0,
        language: null,
        country: null,
        chat: null,
      },
      0,
    );

  test("may send a burst of 60 frames and then 20 per second", () => {
    const talker = viewer();
    const sent = (count: number, now: number) => Array.from({ length: count }, () => takeToken(talker, now)).filter(Boolean).length;
    expect(sent(100, 0)).toBe(60);
    expect(sent(100, 1_000)).toBe(20);
    expect(sent(100, 60_000)).toBe(60);
  });

  test("may reference a hundred videos and panels, each any number of times", () => {
    const curious = viewer();
    const accepted = Array.from({ length: 150 }, (_, i) => mayTarget(curious, `panel-${i}`));
    expect(accepted.filter(Boolean)).toHaveLength(100);
    expect([mayTarget(curious, "panel-99"), mayTarget(curious, "panel-100")]).toEqual([true, false]);
  });

  test("that acknowledges is too slow if it stays more than 500 frames behind for 30 seconds", () => {
    const slow = { ...viewer(), acked: 10, sent: 511 };
    expect(isTooSlow(slow, 0)).toBe(false);
    expect(isTooSlow(slow, 30_000)).toBe(false);
    expect(isTooSlow(slow, 30_001)).toBe(true);
  });

  test("that catches up in between or never acknowledges is not too slow", () => {
    const catching = { ...viewer(), acked: 10, sent: 511 };
    isTooSlow(catching, 0);
    catching.acked = 11;
    expect(isTooSlow(catching, 40_000)).toBe(false);
    catching.sent = 600;
    expect(isTooSlow(catching, 50_000)).toBe(false);
    expect(isTooSlow({ ...viewer(), sent: 5_000 }, 90_000)).toBe(false);
  });
});
