import { expect, test } from "vitest";
import type { ServerFrame } from "#sdk/channel/index.ts";
import { type ChannelView, EMPTY_VIEW, LOG_LENGTH, nextView } from "./channel-view.ts";

const NOW = 1_800_000_000_000;

function after(view: ChannelView, ...frames: ServerFrame[]): ChannelView {
  return frames.reduce((before, frame) => nextView(before, { kind: "frame", frame, at: NOW }), view);
}

function clear(seq: number): ServerFrame {
  return { type: "overlay.clear", seq, upTo: seq, broadcastIds: [] };
}

test("logs the last frames only, newest first", () => {
  const view = after(EMPTY_VIEW, ...Array.from({ length: LOG_LENGTH + 5 }, (_, index) => clear(index + 1)));
  expect(view.log).toHaveLength(LOG_LENGTH);
  expect(view.log[0]?.seq).toBe(LOG_LENGTH + 5);
});

test("shows the latest tally and quest, and keeps them if a newer one can't be shown", () => {
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
