import type { OverlayShow, ServerFrame } from "../channel/protocol.ts";
import type { ShownOverlay } from "../model/state.ts";

/** Milliseconds for which an overlay stands before another takes its place: what comes twenty times a second is seen. */
export const MIN_SLOT_MS = 40;
/** Where more than so many wait, one that has been drawn makes room at once. */
export const HURRY_THRESHOLD = 2;
/** Milliseconds after which a slot ends that was never drawn, where somebody draws. */
export const MAX_SLOT_MS = 1_000;
/** Milliseconds for which an overlay that came in time is owed its slot, should its end pass meanwhile. */
export const MAX_WAIT_MS = 3_000;
/** As many overlays are kept at once, those that wait included. */
export const MAX_OVERLAYS = 200;

/** One broadcast that is on, or still owed its slot. */
interface Entry {
  readonly overlay: OverlayShow;
  /** ms of the server's clock; earlier than the overlay says where the server ended it. */
  readonly endsAt: number;
  readonly cameAt: number;
  /** When it first came to the screen; undefined: it waits for its slot. 0: it was on before this viewer came, and is owed none. */
  readonly shownAt?: number;
  /** At how many of its positions it has been drawn. */
  readonly drawn: number;
  /** Taken off by this viewer. */
  readonly dismissed: boolean;
}

/**
 * The overlays that are on, and which of them are on the screen: one for each position. The higher priority is shown; of equal ones the
 * newer, once the one before has had its slot. Each gets its slot, in the order in which they came, unless a higher priority has its
 * place until it ends. What was displaced comes back if it still lasts. An overlay with contents at several positions is shown whole or
 * not at all.
 */
export interface OverlayBoard {
  /** In the order in which they came. */
  readonly entries: readonly Entry[];
  readonly shown: readonly ShownOverlay[];
  /** Those that this step has dropped unseen, as too many waited. */
  readonly dropped: readonly OverlayShow[];
}

export const EMPTY_BOARD: OverlayBoard = { entries: [], shown: [], dropped: [] };

export interface Moment {
  /** ms of the server's clock. */
  now: number;
  /** Somebody tells what has been drawn, and a slot waits for that. */
  drawing: boolean;
}

/** The board after a frame; the same object where the frame is none of its business. */
export function afterFrame(board: OverlayBoard, frame: ServerFrame, moment: Moment): OverlayBoard {
  const { now } = moment;
  switch (frame.type) {
    case "welcome": {
      // A resumed connection goes on; any other tells the whole state.
      const known = new Map(board.entries.map((entry) => [entry.overlay.broadcastId, entry]));
      const told = frame.overlays
        .filter(({ endsAt }) => endsAt > now)
        .map((overlay) => ({
          ...(known.get(overlay.broadcastId) ?? { ...entryOf(overlay, now), shownAt: 0 }),
          overlay,
          endsAt: overlay.endsAt,
        }));
      return arranged(board, frame.recovered ? [...board.entries, ...told] : told, moment);
    }
    case "overlay.show": {
      const others = board.entries.filter(({ overlay }) => overlay.broadcastId !== frame.broadcastId);
      return arranged(board, frame.endsAt > now ? [...others, entryOf(frame, now)] : others, moment);
    }
    case "overlay.clear": {
      const ids = new Set(frame.broadcastIds);
      const cleared = ({ overlay }: Entry) => ids.has(overlay.broadcastId);
      const entries = frame.ended
        ? board.entries.map((entry) => (cleared(entry) ? { ...entry, endsAt: Math.min(entry.endsAt, now) } : entry))
        : board.entries.filter((entry) => !cleared(entry));
      return arranged(board, entries, moment);
    }
    default:
      return board;
  }
}

/** The board as time goes on. */
export function afterTime(board: OverlayBoard, moment: Moment): OverlayBoard {
  return arranged(board, board.entries, moment);
}

export function afterDismissal(board: OverlayBoard, broadcastId: string, moment: Moment): OverlayBoard {
  return arranged(board, changed(board, broadcastId, { dismissed: true }), moment);
}

/** One more content of an overlay stands on the screen. */
export function afterRender(board: OverlayBoard, broadcastId: string, moment: Moment): OverlayBoard {
  const drawn = (board.entries.find(({ overlay }) => overlay.broadcastId === broadcastId)?.drawn ?? 0) + 1;
  return arranged(board, changed(board, broadcastId, { drawn }), moment);
}

/** When the board is to be looked at again, ms; undefined: nothing changes by itself. */
export function nextChange({ entries, shown }: OverlayBoard, moment: Moment): number | undefined {
  const queue = queueOf(entries, shown, moment);
  const slots =
    entries.some(isOwed) || entries.some(({ endsAt }) => endsAt <= moment.now) ? entries.filter((entry) => holds(entry, queue)) : [];
  const times = [
    ...entries.map(({ endsAt }) => endsAt).filter((at) => at > moment.now),
    ...slots.map((entry) => slotEnd(entry, queue)),
    ...entries.filter((entry) => isOwed(entry) && entry.endsAt <= moment.now).map(({ cameAt }) => cameAt + MAX_WAIT_MS),
  ];
  return times.length === 0 ? undefined : Math.min(...times);
}

function entryOf(overlay: OverlayShow, now: number): Entry {
  return { overlay, endsAt: overlay.endsAt, cameAt: now, drawn: 0, dismissed: false };
}

function changed({ entries }: OverlayBoard, broadcastId: string, change: Partial<Entry>): Entry[] {
  return entries.map((entry) => (entry.overlay.broadcastId === broadcastId ? { ...entry, ...change } : entry));
}

function isOwed({ shownAt, dismissed }: Entry): boolean {
  return shownAt === undefined && !dismissed;
}

function slotEnd({ shownAt = 0, drawn, overlay }: Entry, { drawing, hurried }: Queue): number {
  if (!drawing) return shownAt + MIN_SLOT_MS;
  // Of contents at one position only one is drawn.
  if (drawn < new Set(overlay.contents.map(({ position }) => position)).size) return shownAt + MAX_SLOT_MS;
  return hurried ? shownAt : shownAt + MIN_SLOT_MS;
}

/** Whether it is on the screen and its slot is not over. */
function holds(entry: Entry, queue: Queue): boolean {
  return queue.onScreen.has(entry.overlay.broadcastId) && !entry.dismissed && slotEnd(entry, queue) > queue.now;
}

/** The moment, and what makes others wait. */
interface Queue extends Moment {
  /** Many wait. */
  hurried: boolean;
  /** Ids of what has stood on the screen until now. */
  onScreen: ReadonlySet<string>;
}

function queueOf(entries: readonly Entry[], shown: readonly ShownOverlay[], moment: Moment): Queue {
  const onScreen = new Set(shown.map(({ broadcastId }) => broadcastId));
  return { ...moment, hurried: entries.filter(isOwed).length > HURRY_THRESHOLD, onScreen };
}

function arranged(before: OverlayBoard, all: readonly Entry[], moment: Moment): OverlayBoard {
  const { now } = moment;
  const queue = queueOf(all, before.shown, moment);
  const lasting = all.filter((entry) => entry.endsAt > now || holds(entry, queue) || isOwed(entry));
  const { chosen, outranked } = chooseFrom(lasting, queue);
  const inTime = lasting.filter((entry) => chosen.has(entry) || entry.endsAt > now || !outranked.has(entry));
  const late = inTime.filter((entry) => !chosen.has(entry) && entry.endsAt <= now && entry.cameAt + MAX_WAIT_MS <= now);
  const spare = spareOf(inTime, chosen);
  const gone = new Set([...late, ...spare]);
  const dropped = [...gone].filter(isOwed).map(({ overlay }) => overlay);
  const kept = inTime.filter((entry) => !gone.has(entry));
  const onScreen = new Map(before.shown.map((one) => [one.broadcastId, one]));
  const shown = [...chosen].map(({ overlay }) => {
    const known = onScreen.get(overlay.broadcastId);
    return known?.overlay === overlay ? known : { broadcastId: overlay.broadcastId, overlay };
  });
  const same = shown.length === before.shown.length && shown.every((overlay, index) => overlay === before.shown[index]);
  const entries = kept.map((entry) => (chosen.has(entry) && entry.shownAt === undefined ? { ...entry, shownAt: now } : entry));
  return { entries, shown: same ? before.shown : shown, dropped };
}

/** What stands on the screen now, and what does not because a higher priority has its place. */
function chooseFrom(entries: readonly Entry[], queue: Queue): { chosen: Set<Entry>; outranked: Set<Entry> } {
  const taken = new Map<string, number>();
  const chosen = new Set<Entry>();
  const outranked = new Set<Entry>();
  for (const entry of inOrderOfClaim(entries, queue)) {
    const { contents, priority } = entry.overlay;
    const rivals = contents.flatMap(({ position }) => taken.get(position) ?? []);
    if (rivals.length === 0) chosen.add(entry);
    else if (Math.max(...rivals) > priority) outranked.add(entry);
    // Who waits for a slot alone keeps its other positions free meanwhile, or it would never be shown whole.
    if (rivals.length === 0 || (isOwed(entry) && !outranked.has(entry))) {
      for (const { position } of contents) taken.set(position, Math.max(priority, taken.get(position) ?? priority));
    }
  }
  return { chosen, outranked };
}

/** Slots that are not over, then by priority: who was not shown yet in their order, and then the newest of the others. */
function inOrderOfClaim(entries: readonly Entry[], queue: Queue): Entry[] {
  const places = new Map(entries.map((entry, index) => [entry, isOwed(entry) ? index - 2 * entries.length : -index]));
  return entries
    .filter(({ dismissed }) => !dismissed)
    .sort(
      (one, other) =>
        Number(holds(other, queue)) - Number(holds(one, queue)) ||
        other.overlay.priority - one.overlay.priority ||
        (places.get(one) ?? 0) - (places.get(other) ?? 0),
    );
}

/** Of too many, the lowest priority goes first, then what has had its slot, then the oldest. */
function spareOf(entries: readonly Entry[], chosen: ReadonlySet<Entry>): Entry[] {
  return entries
    .filter((entry) => !chosen.has(entry))
    .sort((one, other) => one.overlay.priority - other.overlay.priority || Number(isOwed(one)) - Number(isOwed(other)))
    .slice(0, Math.max(0, entries.length - MAX_OVERLAYS));
}
