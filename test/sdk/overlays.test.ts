import { describe, expect, test } from "vitest";
import type { OverlayShow, Welcome } from "../../sdk/channel/index.ts";
import { afterDismissal, afterFrame, afterTime, EMPTY_BOARD, nextEnd, type OverlayBoard } from "../../sdk/core/overlays.ts";

const NOW = 1_000_000;

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

function boardOf(...overlays: OverlayShow[]): OverlayBoard {
  return overlays.reduce((board, one) => afterFrame(board, one, NOW), EMPTY_BOARD);
}

const shown = (board: OverlayBoard) => board.shown.map(({ broadcastId }) => broadcastId);

describe("the overlays on the screen", () => {
  test("share it where they want different positions", () => {
    expect(shown(boardOf(overlay("a"), overlay("b", {}, "bottomLeft")))).toEqual(["a", "b"]);
  });

  test("queue where they want one position: the first stays, the next follows when it ends", () => {
    const board = boardOf(overlay("a"), overlay("b", { endsAt: NOW + 20_000 }));
    expect(shown(board)).toEqual(["a"]);
    expect(nextEnd(board)).toBe(NOW + 10_000);
    expect(shown(afterTime(board, NOW + 10_000))).toEqual(["b"]);
    expect(shown(afterTime(board, NOW + 20_000))).toEqual([]);
  });

  test("give way to a higher priority, and come back after it", () => {
    const board = boardOf(overlay("a", { endsAt: NOW + 20_000 }), overlay("goal", { priority: 5 }));
    expect(shown(board)).toEqual(["goal"]);
    expect(shown(afterTime(board, NOW + 10_000))).toEqual(["a"]);
  });

  test("are shown whole or not at all", () => {
    const board = boardOf(overlay("a", { priority: 1 }, "center"), overlay("wide", {}, "center", "topLeft"), overlay("c", {}, "topLeft"));
    expect(shown(board)).toEqual(["a", "c"]);
  });

  test("go when they are cleared or dismissed, and a dismissed one stays away", () => {
    const board = boardOf(overlay("a"), overlay("b", {}, "center"));
    expect(shown(afterFrame(board, { type: "overlay.clear", seq: 2, upTo: 2, broadcastIds: ["a"] }, NOW))).toEqual(["b"]);
    const dismissed = afterDismissal(board, "a", NOW);
    expect(shown(dismissed)).toEqual(["b"]);
    expect(shown(afterFrame(dismissed, overlay("c"), NOW))).toEqual(["b", "c"]);
  });

  test("are those of the welcome after a gap, and go on after a resume", () => {
    const welcome: Welcome = {
      type: "welcome",
      epoch: "e",
      seq: 9,
      upTo: 9,
      now: NOW,
      recovered: false,
      overlays: [overlay("new")],
      rules: [],
      concurrents: 1,
      heartbeat: 30,
    };
    const board = boardOf(overlay("a"));
    expect(shown(afterFrame(board, welcome, NOW))).toEqual(["new"]);
    expect(shown(afterFrame(board, { ...welcome, recovered: true, overlays: [] }, NOW))).toEqual(["a"]);
  });

  test("keep their identity while nothing changes", () => {
    const board = boardOf(overlay("a"));
    const next = afterFrame(board, overlay("waiting"), NOW);
    expect(next.shown).toBe(board.shown);
    expect(afterTime(next, NOW)).toBe(next);
  });
});
