import { expect, test } from "vitest";
import type { OverlayShow } from "../../../../sdk/channel/index.ts";
import { type ChannelView, EMPTY_VIEW, LOG_LENGTH, endsAt, nextView, onStage } from "./channel-view.ts";

const NOW = 1_800_000_000_000;

function overlay(seq: number, more: Partial<OverlayShow> = {}): OverlayShow {
  return {
    type: "overlay.show",
    seq,
    upTo: seq,
    broadcastId: `broadcast-${seq}`,
    overlayId: "overlay",
    startsAt: NOW,
    endsAt: NOW + 5000,
    position: "center",
    contents: [{ kind: "html", html: "<b>Goal</b>", position: "center" }],
    cta: null,
    variables: {},
    priority: 0,
    ...more,
  };
}

function after(view: ChannelView, ...frames: Parameters<typeof nextFrame>[1][]): ChannelView {
  return frames.reduce(nextFrame, view);
}

function nextFrame(view: ChannelView, frame: Extract<Parameters<typeof nextView>[1], { kind: "frame" }>["frame"]): ChannelView {
  return nextView(view, { kind: "frame", frame, at: NOW });
}

function shown(view: ChannelView): string[] {
  return view.overlays.map(({ broadcastId }) => broadcastId);
}

const WELCOME = {
  type: "welcome" as const,
  epoch: "e",
  seq: 0,
  upTo: 0,
  recovered: false,
  overlays: [],
  rules: [],
  concurrents: 1,
  heartbeat: 30,
};

test("shows what is broadcast until it is cleared", () => {
  const view = after(EMPTY_VIEW, overlay(1), overlay(2));
  expect(shown(view)).toEqual(["broadcast-1", "broadcast-2"]);
  expect(shown(after(view, { type: "overlay.clear", seq: 3, upTo: 3, broadcastIds: ["broadcast-1"] }))).toEqual(["broadcast-2"]);
});

test("takes an overlay away at its end without the server", () => {
  const view = after(EMPTY_VIEW, overlay(1));
  expect(shown(nextView(view, { kind: "tick", at: NOW + 4999 }))).toEqual(["broadcast-1"]);
  expect(shown(nextView(view, { kind: "tick", at: NOW + 5000 }))).toEqual([]);
});

test("shows an overlay for its duration where the browser's clock is minutes ahead", () => {
  const view = after(EMPTY_VIEW, overlay(1, { startsAt: NOW - 300_000, endsAt: NOW - 295_000 }));
  expect(view.overlays.map((one) => endsAt(view, one))).toEqual([NOW + 5000]);
});

test("forgets what ended while the connection was lost and could not be resumed", () => {
  const view = after(EMPTY_VIEW, overlay(1), { ...WELCOME, overlays: [overlay(9)] });
  expect(shown(view)).toEqual(["broadcast-9"]);
});

test("keeps what stands when the connection resumes, each overlay once", () => {
  const view = after(EMPTY_VIEW, overlay(1), { ...WELCOME, recovered: true, overlays: [overlay(1)] });
  expect(shown(view)).toEqual(["broadcast-1"]);
});

test("of two overlays at one position shows the one of higher priority, then the newer", () => {
  const atCenter = (...overlays: OverlayShow[]) => onStage(overlays).get("center")?.overlay.seq;
  expect(atCenter(overlay(1, { priority: 5 }), overlay(2))).toBe(1);
  expect(atCenter(overlay(1), overlay(2))).toBe(2);
});

test("doesn't show a count that it no longer hears", () => {
  const live = after(EMPTY_VIEW, { type: "concurrents", upTo: 0, count: 7 });
  expect(live.viewers).toBe(7);
  expect(nextView(live, { kind: "connection", state: "resuming", reason: undefined }).viewers).toBeUndefined();
});

test("logs the last frames only, newest first", () => {
  const view = after(EMPTY_VIEW, ...Array.from({ length: LOG_LENGTH + 5 }, (_, index) => overlay(index + 1)));
  expect(view.log).toHaveLength(LOG_LENGTH);
  expect(view.log[0]?.seq).toBe(LOG_LENGTH + 5);
});

test("shows the tally and the quest that were told last, and keeps them where one can't be shown", () => {
  const answers = [{ answerId: "a", answer: "A draw", responses: 3, share: 1 }];
  const results = { pollId: "p", open: true, total: 3, hidden: false, answers };
  const quest = { title: "Call the derby", description: "Before half-time", rewardDescription: "A shirt", deleted: false };
  const view = after(
    EMPTY_VIEW,
    { type: "poll.updated", upTo: 0, data: results },
    { type: "quest.updated", seq: 1, upTo: 1, data: quest },
    { type: "poll.updated", upTo: 1, data: { ...results, hidden: true, answers: [{ answerId: "a", answer: "A draw" }] } },
    { type: "quest.updated", seq: 2, upTo: 2, data: { ...quest, title: "Another", deleted: true } },
  );
  expect(view.tally).toEqual({ pollId: "p", open: true, total: 3, answers: [{ answerId: "a", answer: "A draw", share: 1, right: false }] });
  expect(view.quest?.title).toBe("Call the derby");
  const settled = after(view, { type: "poll.updated", upTo: 2, data: { ...results, open: false, correctAnswerId: "a" } });
  expect(settled.tally?.answers[0]?.right).toBe(true);
});
