import { describe, expect, test } from "vitest";
import type { OverlayShow, Welcome } from "#sdk/channel/index.ts";
import {
  afterDismissal,
  afterRender,
  afterFrame,
  afterTime,
  EMPTY_BOARD,
  MIN_SLOT_MS,
  MAX_SLOT_MS,
  MAX_OVERLAYS,
  MAX_WAIT_MS,
  nextChange,
  type OverlayBoard,
} from "#sdk/core/overlays.ts";

const NOW = 1_000_000;
/** The end of the first overlay's slot. */
const SLOT = NOW + MIN_SLOT_MS;

function overlay(id: string, changes: Partial<OverlayShow> = {}, ...positions: OverlayShow["position"][]): OverlayShow {
  const at = positions.length > 0 ? positions : (["topRight"] as const);
  return {
    type: "overlay.show",
    seq: 1,
    upTo: 1,
    broadcastId: id,
    overlayId: "overlay",
    startsAt: NOW,
    endsAt: NOW + 10_000,
    position: at[0] ?? "topRight",
    contents: at.map((position) => ({ kind: "html", html: id, position })),
    cta: null,
    variables: {},
    priority: 0,
    ...changes,
  };
}

const at = (now: number, rendering = false) => ({ now, rendering });

function boardOf(...overlays: OverlayShow[]): OverlayBoard {
  return overlays.reduce((board, one) => afterFrame(board, one, at(NOW)), EMPTY_BOARD);
}

const shown = (board: OverlayBoard) => board.shown.map(({ broadcastId }) => broadcastId);

/** All overlays that are shown until `end`, in order. */
function watched(board: OverlayBoard, rendering = false, end = NOW + 60_000): string[] {
  const seen = shown(board);
  let moment = at(NOW, rendering);
  for (let next = nextChange(board, moment); next !== undefined && next <= end; next = nextChange(board, moment)) {
    moment = at(next, rendering);
    board = afterTime(board, moment);
    seen.push(...shown(board).filter((id) => id !== seen.at(-1)));
  }
  return seen;
}

const CLEAR = { type: "overlay.clear", seq: 2, upTo: 2 } as const;
const WELCOME: Welcome = {
  type: "welcome",
  epoch: "e",
  seq: 9,
  upTo: 9,
  now: NOW,
  recovered: false,
  overlays: [],
  rules: [],
  concurrents: 1,
  heartbeat: 30,
};

describe("the overlays on the screen", () => {
  test("are shown together if they use different positions", () => {
    expect(shown(boardOf(overlay("a"), overlay("b", {}, "bottomLeft")))).toEqual(["a", "b"]);
  });

  test("are replaced by a newer one at their position after their slot, and return after it", () => {
    const board = boardOf(overlay("a", { endsAt: NOW + 20_000 }), overlay("b"));
    expect(shown(board)).toEqual(["a"]);
    expect(nextChange(board, at(NOW))).toBe(SLOT);
    const next = afterTime(board, at(SLOT));
    expect(shown(next)).toEqual(["b"]);
    expect(shown(afterTime(next, at(NOW + 10_000)))).toEqual(["a"]);
    expect(shown(afterTime(next, at(NOW + 20_000)))).toEqual([]);
  });

  test("are each shown if they arrive one after the other", () => {
    let board = EMPTY_BOARD;
    for (let turn = 0; turn < 10; turn++) {
      const moment = at(NOW + turn * MIN_SLOT_MS);
      board = afterFrame(board, overlay(`${turn}`), moment);
      expect(shown(afterTime(board, moment))).toEqual([`${turn}`]);
    }
  });

  test("are each shown, however many arrive at once, and the last one stays", () => {
    const all = Array.from({ length: 20 }, (_, index) => overlay(`${index}`, { endsAt: NOW + 1_000 }));
    expect(watched(boardOf(...all))).toEqual(all.map(({ broadcastId }) => broadcastId));
  });

  test("are each shown even if they ended before their turn", () => {
    const all = Array.from({ length: 60 }, (_, index) => overlay(`${index}`, { endsAt: NOW + 1_000 }));
    expect(watched(boardOf(...all))).toEqual(all.map(({ broadcastId }) => broadcastId));
    const ended = all.reduce(
      (board, { broadcastId }) => afterFrame(board, { ...CLEAR, broadcastIds: [broadcastId], ended: true }, at(NOW + 1_000)),
      boardOf(...all),
    );
    expect(ended.entries).toHaveLength(59);
  });

  test("aren't shown if they had ended when they arrived", () => {
    expect(shown(boardOf(overlay("late", { endsAt: NOW })))).toEqual([]);
  });

  test("stay until they are rendered, but only up to a maximum", () => {
    const board = [overlay("a", {}, "center", "topLeft"), overlay("b", {}, "center")].reduce(
      (before, one) => afterFrame(before, one, at(NOW, true)),
      EMPTY_BOARD,
    );
    const half = afterRender(afterTime(board, at(SLOT, true)), "a", at(SLOT + 1, true));
    expect(shown(half)).toEqual(["a"]);
    expect(shown(afterRender(half, "a", at(SLOT + 2, true)))).toEqual(["b"]);
    expect(shown(afterTime(half, at(NOW + MAX_SLOT_MS, true)))).toEqual(["b"]);
  });

  test("are replaced once they are rendered if many wait, and don't return for the rest of their slot", () => {
    let board = [1, 2, 3, 4, 5].reduce((before, id) => afterFrame(before, overlay(`${id}`), at(NOW, true)), EMPTY_BOARD);
    for (const [turn, expected] of ["2", "3", "3", "3"].entries()) {
      const moment = at(NOW + turn, true);
      board = afterTime(afterRender(board, `${turn + 1}`, moment), moment);
      expect(shown(board)).toEqual([expected]);
    }
  });

  test("that wait too long for their slot are dropped and reported", () => {
    const late = NOW + MAX_WAIT_MS;
    const board = boardOf(...["a", "b", "c"].map((id) => overlay(id, { endsAt: NOW + 1_000 })));
    const next = afterTime(board, at(late));
    expect(shown(next)).toEqual(["b"]);
    expect(next.dropped.map(({ broadcastId }) => broadcastId)).toEqual(["c"]);
  });

  test("yield to a higher priority after their slot, and return after it", () => {
    const board = boardOf(overlay("a", { endsAt: NOW + 20_000 }), overlay("goal", { priority: 5 }));
    expect(shown(board)).toEqual(["a"]);
    const goal = afterTime(board, at(SLOT));
    expect(shown(goal)).toEqual(["goal"]);
    expect(shown(afterTime(goal, at(NOW + 10_000)))).toEqual(["a"]);
  });

  test("wait behind a higher priority until their own end", () => {
    const board = boardOf(
      overlay("goal", { priority: 5 }),
      overlay("short", { endsAt: NOW + 5_000 }),
      overlay("long", { endsAt: NOW + 15_000 }),
    );
    expect(watched(board)).toEqual(["goal", "long"]);
  });

  test("are shown completely or not at all, and wait for all their positions", () => {
    const board = boardOf(overlay("a", { priority: 1 }, "center"), overlay("wide", {}, "center", "topLeft"), overlay("c", {}, "topLeft"));
    expect(shown(board)).toEqual(["a", "c"]);
    const stream = boardOf(overlay("a", {}, "center"), overlay("wide", {}, "center", "topLeft"), overlay("c", {}, "topLeft"));
    expect(shown(stream)).toEqual(["a"]);
    expect(shown(afterTime(stream, at(SLOT)))).toEqual(["wide"]);
  });

  test("disappear when they are cleared or dismissed, and a dismissed one stays away", () => {
    const board = boardOf(overlay("a"), overlay("b", {}, "center"));
    expect(shown(afterFrame(board, { ...CLEAR, broadcastIds: ["a"] }, at(NOW)))).toEqual(["b"]);
    const dismissed = afterDismissal(board, "a", at(NOW));
    expect(shown(dismissed)).toEqual(["b"]);
    expect(shown(afterFrame(dismissed, overlay("c"), at(NOW)))).toEqual(["b", "c"]);
    expect(shown(afterFrame(dismissed, { ...WELCOME, overlays: [overlay("a")] }, at(NOW)))).toEqual([]);
  });

  test("are never shown if they are cleared while they wait", () => {
    const board = afterFrame(boardOf(overlay("a"), overlay("b"), overlay("c")), { ...CLEAR, broadcastIds: ["b"] }, at(NOW));
    expect(watched(board, false, NOW + 9_000)).toEqual(["a", "c"]);
  });

  test("are rendered once each of their contents is, even if two use the same position", () => {
    const board = afterFrame(EMPTY_BOARD, overlay("a", {}, "topRight", "topRight", "center"), at(NOW, true));
    const next = afterFrame(board, overlay("b"), at(NOW, true));
    const once = afterRender(next, "a", at(NOW, true));
    expect(nextChange(once, at(NOW, true))).toBe(NOW + MAX_SLOT_MS);
    expect(nextChange(afterRender(once, "a", at(NOW, true)), at(NOW, true))).toBe(SLOT);
  });

  test("are those of the welcome after a gap, newest first, and stay after a resume", () => {
    const board = boardOf(overlay("a"));
    const welcome = { ...WELCOME, overlays: [overlay("old"), overlay("new")] };
    expect(shown(afterFrame(board, welcome, at(NOW)))).toEqual(["new"]);
    expect(shown(afterFrame(board, { ...WELCOME, recovered: true }, at(NOW)))).toEqual(["a"]);
  });

  test("keep their identity while nothing changes", () => {
    const board = boardOf(overlay("a"));
    const next = afterFrame(board, overlay("waiting"), at(NOW));
    expect(next.shown).toBe(board.shown);
    expect(afterTime(next, at(NOW)).shown).toBe(board.shown);
  });

  test("of the kit are replaced at once by a later one with the same template and key, which stays hidden if the viewer hid it", () => {
    const score = (id: string, homeScore: number, key = "match") =>
      overlay(id, {
        contents: [
          {
            ...{ kind: "kit", template: "scorebug", key, position: "topLeft" },
            variables: { homeName: "Harbour City", awayName: "Old Dock", homeScore, awayScore: 0 },
          },
        ],
      });
    const board = boardOf(score("first", 0), score("second", 1));
    expect(shown(board)).toEqual(["second"]);
    expect(board.entries).toHaveLength(1);
    expect(shown(afterFrame(board, { ...WELCOME, overlays: [score("first", 0), score("second", 1)] }, at(NOW)))).toEqual(["second"]);
    const hidden = afterFrame(afterDismissal(board, "second", at(NOW)), score("third", 2), at(NOW));
    expect(shown(hidden)).toEqual([]);
    expect(shown(afterFrame(board, score("other match", 0, "other"), at(SLOT)))).toEqual(["other match"]);
  });

  test("are limited in number: the oldest waiting one is dropped and reported", () => {
    const many = boardOf(...Array.from({ length: MAX_OVERLAYS }, (_, index) => overlay(`${index}`)));
    const board = afterFrame(many, overlay("one more"), at(NOW));
    expect(many.dropped).toEqual([]);
    expect(board.dropped.map(({ broadcastId }) => broadcastId)).toEqual(["1"]);
    expect(board.entries).toHaveLength(MAX_OVERLAYS);
    const seen = afterTime(board, at(SLOT));
    expect(afterFrame(seen, overlay("and another"), at(SLOT)).dropped).toEqual([]);
  });
});
