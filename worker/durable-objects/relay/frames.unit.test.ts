import { describe, expect, test } from "vitest";
import type { LogFrame } from "#worker/durable-objects/channel/channel.protocol.ts";
import { RelayCache } from "./cache.ts";
import { concurrentsFrame, drainFrame, errorFrame, joinBodies, messageByTags, pongFrame, stateFrames, welcomeFrame } from "./frames.ts";
import { isTooSlow, mayName, maySpeak, toViewer } from "./sockets.ts";
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

describe("frames", () => {
  test("are as the protocol says", () => {
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

  test("travel alone as they are and together as a list", () => {
    expect(joinBodies(["{}"])).toBe("{}");
    expect(joinBodies(["{}", "[]"])).toBe("[{},[]]");
  });
});

describe("a message", () => {
  test("is one text for all whom the same frames reach, and nothing for whom none does", () => {
    const messageFor = messageByTags([frame(1, { tags: ["red"] }), frame(2, { tags: ["blue"] })], [], 2);
    expect(messageFor(["red", "old"])).toBe(messageFor(["red"]));
    expect(messageFor(["red"])).toEqual({ text: frame(1).body, upTo: 1 });
    expect(messageFor(["red", "blue"])).toEqual({ text: `[${frame(1).body},${frame(2).body}]`, upTo: 2 });
    expect(messageFor([])).toBeNull();
  });

  test("with a state brings the viewer to the head, whatever it was not meant to see", () => {
    expect(messageByTags([frame(7, { tags: ["red"] })], ["{}"], 7)([])).toEqual({ text: "{}", upTo: 7 });
  });
});

describe("the relay's memory", () => {
  const empty = { epoch: "e", head: 0, rules: [], states: [], gate: null, tail: [], concurrents: 0 };

  test("answers what follows a position, or that it does not reach back", () => {
    const cache = new RelayCache({ ...empty, head: 4, tail: [frame(3), frame(4)] }, []);
    cache.apply([frame(5)]);
    expect(cache.after(2)?.map((each) => each.seq)).toEqual([3, 4, 5]);
    expect(cache.after(4)?.map((each) => each.seq)).toEqual([5]);
    expect(cache.after(5)).toEqual([]);
    expect(cache.after(1)).toBeNull();
  });

  test("takes no frame twice and none out of order", () => {
    const cache = new RelayCache(empty, []);
    cache.apply([frame(1), frame(1), frame(3), frame(2)]);
    expect(cache.head).toBe(2);
    expect(cache.after(0)?.map((each) => each.seq)).toEqual([1, 2]);
  });

  test("holds the latest state of each key, in whatever order they come", () => {
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

  test("knows what is on: shown, neither cleared nor ended", () => {
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
        until: null,
        device: null,
        network: null,
        tags: [],
        counted: 0,
        watching: null,
        joinedAt: 0,
        heardAt: 0,
      },
      0,
    );

  test("may send 60 frames at once and 20 a second after that", () => {
    const talker = viewer();
    const sent = (count: number, now: number) => Array.from({ length: count }, () => maySpeak(talker, now)).filter(Boolean).length;
    expect(sent(100, 0)).toBe(60);
    expect(sent(100, 1_000)).toBe(20);
    expect(sent(100, 60_000)).toBe(60);
  });

  test("may name a hundred videos and panels, each as often as it likes", () => {
    const namer = viewer();
    const named = Array.from({ length: 150 }, (_, i) => mayName(namer, `panel-${i}`));
    expect(named.filter(Boolean)).toHaveLength(100);
    expect([mayName(namer, "panel-99"), mayName(namer, "panel-100")]).toEqual([true, false]);
  });

  test("that acknowledges is too slow when it stays 500 frames behind for 30 seconds", () => {
    const slow = { ...viewer(), acked: 10, sent: 511 };
    expect(isTooSlow(slow, 0)).toBe(false);
    expect(isTooSlow(slow, 30_000)).toBe(false);
    expect(isTooSlow(slow, 30_001)).toBe(true);
  });

  test("that caught up in between, or never acknowledges, is not too slow", () => {
    const catching = { ...viewer(), acked: 10, sent: 511 };
    isTooSlow(catching, 0);
    catching.acked = 11;
    expect(isTooSlow(catching, 40_000)).toBe(false);
    catching.sent = 600;
    expect(isTooSlow(catching, 50_000)).toBe(false);
    expect(isTooSlow({ ...viewer(), sent: 5_000 }, 90_000)).toBe(false);
  });
});
