import type { OverlayShow, ServerFrame } from "../channel/protocol.ts";
import type { ShownOverlay } from "../model/state.ts";

/**
 * The overlays that are on, and which of them are on the screen: one for each position. Of two that want one position the higher
 * priority is shown, of equal ones the one that was sent first; the other waits for as long as it lasts. An overlay with contents at
 * several positions is shown whole or not at all.
 */
export interface OverlayBoard {
  /** All that are on, in the order in which they came. */
  readonly on: readonly OverlayShow[];
  /** Taken off by this viewer. */
  readonly dismissed: readonly string[];
  readonly shown: readonly ShownOverlay[];
}

export const EMPTY_BOARD: OverlayBoard = { on: [], dismissed: [], shown: [] };

/** The board after a frame; the same object where the frame is none of its business. `now` in ms of the server's clock. */
export function afterFrame(board: OverlayBoard, frame: ServerFrame, now: number): OverlayBoard {
  switch (frame.type) {
    case "welcome": {
      // A resumed connection goes on; any other tells the whole state.
      const on = frame.recovered ? [...board.on, ...frame.overlays] : frame.overlays;
      return rebuilt(board, on, board.dismissed, now);
    }
    case "overlay.show":
      return rebuilt(board, [...board.on.filter(({ broadcastId }) => broadcastId !== frame.broadcastId), frame], board.dismissed, now);
    case "overlay.clear": {
      const { broadcastIds } = frame;
      return rebuilt(
        board,
        board.on.filter(({ broadcastId }) => !broadcastIds.includes(broadcastId)),
        board.dismissed,
        now,
      );
    }
    default:
      return board;
  }
}

/** Without those that have ended by `now`. */
export function afterTime(board: OverlayBoard, now: number): OverlayBoard {
  return board.on.some(({ endsAt }) => endsAt <= now) ? rebuilt(board, board.on, board.dismissed, now) : board;
}

export function afterDismissal(board: OverlayBoard, broadcastId: string, now: number): OverlayBoard {
  return rebuilt(board, board.on, [...board.dismissed, broadcastId], now);
}

/** When the next of them ends, ms; undefined when none is on. */
export function nextEnd(board: OverlayBoard): number | undefined {
  return board.on.length === 0 ? undefined : Math.min(...board.on.map(({ endsAt }) => endsAt));
}

function rebuilt(before: OverlayBoard, all: readonly OverlayShow[], dismissed: readonly string[], now: number): OverlayBoard {
  const on = all.filter(({ endsAt }) => endsAt > now);
  const wanted = on.filter(({ broadcastId }) => !dismissed.includes(broadcastId)).sort((one, other) => other.priority - one.priority);
  const taken = new Set<string>();
  const shown = wanted.flatMap((overlay) => {
    const positions = overlay.contents.map(({ position }) => position);
    if (positions.some((position) => taken.has(position))) return [];
    for (const position of positions) taken.add(position);
    return before.shown.find((kept) => kept.overlay === overlay) ?? { broadcastId: overlay.broadcastId, overlay };
  });
  const same = shown.length === before.shown.length && shown.every((overlay, index) => overlay === before.shown[index]);
  return {
    on,
    // What has ended needs no remembering.
    dismissed: dismissed.filter((id) => on.some(({ broadcastId }) => broadcastId === id)),
    shown: same ? before.shown : shown,
  };
}
