import type { OverlayShow, ServerFrame } from "../channel/protocol.ts";
import type { ShownOverlay } from "../model/state.ts";

/** Minimum display time in ms before another overlay takes the slot, so that even 20 overlays per second are visible. */
export const MIN_SLOT_MS = 40;
/** When more than this many overlays wait, a rendered one is replaced immediately. */
export const HURRY_THRESHOLD = 2;
/** Milliseconds after which a slot ends if its overlay was never reported as rendered. */
export const MAX_SLOT_MS = 1_000;
/** Milliseconds for which an overlay may wait for its slot, even if it ends in the meantime. */
export const MAX_WAIT_MS = 3_000;
/** Maximum number of overlays that are kept, including waiting ones. */
export const MAX_OVERLAYS = 200;

/** How many actions of a graphic may wait until it is rendered. */
const MAX_ACTIONS = 100;

/** A broadcast that is active, or still waiting for its slot. */
interface Entry {
  readonly overlay: OverlayShow;
  /** ms of the server's clock; earlier than the overlay's own `endsAt` if the server ended it. */
  readonly endsAt: number;
  readonly receivedAt: number;
  /** When it was first shown. Undefined: it waits for its slot. 0: it was active before this viewer joined, and gets no slot. */
  readonly shownAt?: number;
  /** The number of its positions that have been rendered. */
  readonly rendered: number;
  /** Hidden by this viewer. */
  readonly dismissed: boolean;
}

/**
 * The active overlays, and which of them are shown: one per position. The highest priority wins; of equal priorities the newest, once the
 * previous one has had its slot. Overlays get their slots in order of arrival, unless one of higher priority occupies the position until
 * they end. A displaced overlay returns if it is still active. An overlay with several positions is shown at all of them or not at all.
 */
export interface OverlayBoard {
  /** In order of arrival. */
  readonly entries: readonly Entry[];
  readonly shown: readonly ShownOverlay[];
  /** Overlays that this step dropped before they were shown, because too many waited. */
  readonly dropped: readonly OverlayShow[];
}

export const EMPTY_BOARD: OverlayBoard = { entries: [], shown: [], dropped: [] };

export interface Moment {
  /** ms of the server's clock. */
  now: number;
  /** Whether a renderer reports what it has rendered, so that slots wait for it. */
  rendering: boolean;
  /** Whether a frame of the video ends this broadcast, and not its own `endsAt`: a clear follows then. */
  endsWithVideo?: (broadcastId: string) => boolean;
}

/** Longer than anybody pauses a video. */
const WHILE_PAUSED_MS = 7 * 24 * 3_600_000;

function endOf({ broadcastId, endsAt }: OverlayShow, { now, endsWithVideo }: Moment): number {
  return endsWithVideo?.(broadcastId) === true ? now + WHILE_PAUSED_MS : endsAt;
}

/** The board after a frame; the same object if the frame doesn't affect it. */
export function afterFrame(board: OverlayBoard, frame: ServerFrame, moment: Moment): OverlayBoard {
  const { now } = moment;
  switch (frame.type) {
    case "welcome": {
      // A resumed connection continues; any other welcome contains the full state.
      const known = new Map(board.entries.map((entry) => [entry.overlay.broadcastId, entry]));
      const active = frame.overlays
        .filter((overlay, index, all) => endOf(overlay, moment) > now && !all.slice(index + 1).some((later) => updates(later, overlay)))
        .map((overlay) => ({
          ...(known.get(overlay.broadcastId) ?? { ...entryOf(overlay, moment), shownAt: 0 }),
          overlay,
          endsAt: endOf(overlay, moment),
        }));
      return arrange(board, frame.recovered ? [...board.entries, ...active] : active, moment);
    }
    case "overlay.show": {
      const others = board.entries.filter(({ overlay }) => overlay.broadcastId !== frame.broadcastId && !updates(frame, overlay));
      // Who has hidden a scorebug doesn't see it again with the next score.
      const dismissed = board.entries.some((entry) => entry.dismissed && updates(frame, entry.overlay));
      const shown = entryOf(withPending(frame, board.entries), moment);
      return arrange(board, shown.endsAt > now ? [...others, { ...shown, dismissed }] : others, moment);
    }
    case "overlay.clear": {
      const ids = new Set(frame.broadcastIds);
      const cleared = ({ overlay }: Entry) => ids.has(overlay.broadcastId);
      const entries = frame.ended
        ? board.entries.map((entry) => (cleared(entry) ? { ...entry, endsAt: Math.min(entry.endsAt, now) } : entry))
        : board.entries.filter((entry) => !cleared(entry));
      return arrange(board, entries, moment);
    }
    default:
      return board;
  }
}

/** The board at a later time. */
export function afterTime(board: OverlayBoard, moment: Moment): OverlayBoard {
  return arrange(board, board.entries, moment);
}

export function afterDismissal(board: OverlayBoard, broadcastId: string, moment: Moment): OverlayBoard {
  return arrange(board, withChange(board, broadcastId, { dismissed: true }), moment);
}

/** One more element of an overlay is visible. */
export function afterRender(board: OverlayBoard, broadcastId: string, moment: Moment): OverlayBoard {
  const rendered = (board.entries.find(({ overlay }) => overlay.broadcastId === broadcastId)?.rendered ?? 0) + 1;
  return arrange(board, withChange(board, broadcastId, { rendered }), moment);
}

/** When the board changes next, in ms; undefined if it won't change by itself. */
export function nextChange({ entries, shown }: OverlayBoard, moment: Moment): number | undefined {
  const queue = queueOf(entries, shown, moment);
  const slots =
    entries.some(awaitsSlot) || entries.some(({ endsAt }) => endsAt <= moment.now)
      ? entries.filter((entry) => holdsSlot(entry, queue))
      : [];
  const times = [
    ...entries.map(({ endsAt }) => endsAt).filter((at) => at > moment.now),
    ...slots.map((entry) => slotEnd(entry, queue)),
    ...entries.filter((entry) => awaitsSlot(entry) && entry.endsAt <= moment.now).map(({ receivedAt }) => receivedAt + MAX_WAIT_MS),
  ];
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Whether an overlay replaces an earlier one in place: its elements are the same templates of the kit, or graphics, with the same keys. */
function updates({ contents }: OverlayShow, earlier: OverlayShow | undefined): boolean {
  return (
    contents.length === earlier?.contents.length &&
    contents.every((one, index) => {
      const other = earlier.contents[index];
      if (one.kind === "ograf") return other?.kind === "ograf" && one.graphic === other.graphic && one.key === other.key;
      return one.kind === "kit" && other?.kind === "kit" && one.template === other.template && one.key === other.key;
    })
  );
}

/** With the actions of graphics that it replaces before they were performed, so that none is lost. */
function withPending(frame: OverlayShow, entries: readonly Entry[]): OverlayShow {
  const pending = entries.find(({ overlay, rendered }) => rendered === 0 && updates(frame, overlay));
  if (!pending) return frame;
  const contents = frame.contents.map((one, index) => {
    const earlier = pending.overlay.contents[index];
    return one.kind === "ograf" && earlier?.kind === "ograf"
      ? { ...one, actions: [...earlier.actions, ...one.actions].slice(-MAX_ACTIONS) }
      : one;
  });
  return { ...frame, contents };
}

function entryOf(overlay: OverlayShow, moment: Moment): Entry {
  return { overlay, endsAt: endOf(overlay, moment), receivedAt: moment.now, rendered: 0, dismissed: false };
}

function withChange({ entries }: OverlayBoard, broadcastId: string, change: Partial<Entry>): Entry[] {
  return entries.map((entry) => (entry.overlay.broadcastId === broadcastId ? { ...entry, ...change } : entry));
}

function awaitsSlot({ shownAt, dismissed }: Entry): boolean {
  return shownAt === undefined && !dismissed;
}

function slotEnd({ shownAt = 0, rendered, overlay }: Entry, { rendering, hurried }: Queue): number {
  if (!rendering) return shownAt + MIN_SLOT_MS;
  // Only one element is rendered per position.
  if (rendered < new Set(overlay.contents.map(({ position }) => position)).size) return shownAt + MAX_SLOT_MS;
  return hurried ? shownAt : shownAt + MIN_SLOT_MS;
}

/** Whether it is shown and its slot hasn't ended. */
function holdsSlot(entry: Entry, queue: Queue): boolean {
  return queue.onScreen.has(entry.overlay.broadcastId) && !entry.dismissed && slotEnd(entry, queue) > queue.now;
}

/** The moment, and what waiting overlays depend on. */
interface Queue extends Moment {
  /** Whether many overlays wait. */
  hurried: boolean;
  /** Ids of the broadcasts shown so far. */
  onScreen: ReadonlySet<string>;
}

function queueOf(entries: readonly Entry[], shown: readonly ShownOverlay[], moment: Moment): Queue {
  const onScreen = new Set(shown.map(({ broadcastId }) => broadcastId));
  return { ...moment, hurried: entries.filter(awaitsSlot).length > HURRY_THRESHOLD, onScreen };
}

function arrange(before: OverlayBoard, all: readonly Entry[], moment: Moment): OverlayBoard {
  const { now } = moment;
  const queue = queueOf(all, before.shown, moment);
  const remaining = all.filter((entry) => entry.endsAt > now || holdsSlot(entry, queue) || awaitsSlot(entry));
  const { chosen, outranked } = chooseFrom(remaining, queue);
  const inTime = remaining.filter((entry) => chosen.has(entry) || entry.endsAt > now || !outranked.has(entry));
  const late = inTime.filter((entry) => !chosen.has(entry) && entry.endsAt <= now && entry.receivedAt + MAX_WAIT_MS <= now);
  const overflow = overflowOf(inTime, chosen);
  const gone = new Set([...late, ...overflow]);
  const dropped = [...gone].filter(awaitsSlot).map(({ overlay }) => overlay);
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

/** The entries to show, and those that a higher priority keeps from being shown. */
function chooseFrom(entries: readonly Entry[], queue: Queue): { chosen: Set<Entry>; outranked: Set<Entry> } {
  const taken = new Map<string, number>();
  const chosen = new Set<Entry>();
  const outranked = new Set<Entry>();
  for (const entry of byPrecedence(entries, queue)) {
    const { contents, priority } = entry.overlay;
    const rivals = contents.flatMap(({ position }) => taken.get(position) ?? []);
    if (rivals.length === 0) chosen.add(entry);
    else if (Math.max(...rivals) > priority) outranked.add(entry);
    // An entry that waits only for a slot reserves its other positions, or it might never get all of them at once.
    if (rivals.length === 0 || (awaitsSlot(entry) && !outranked.has(entry))) {
      for (const { position } of contents) taken.set(position, Math.max(priority, taken.get(position) ?? priority));
    }
  }
  return { chosen, outranked };
}

/** Entries whose slot hasn't ended, then by priority: waiting ones in order of arrival, then the newest of the others. */
function byPrecedence(entries: readonly Entry[], queue: Queue): Entry[] {
  const ranks = new Map(entries.map((entry, index) => [entry, awaitsSlot(entry) ? index - 2 * entries.length : -index]));
  return entries
    .filter(({ dismissed }) => !dismissed)
    .sort(
      (one, other) =>
        Number(holdsSlot(other, queue)) - Number(holdsSlot(one, queue)) ||
        other.overlay.priority - one.overlay.priority ||
        (ranks.get(one) ?? 0) - (ranks.get(other) ?? 0),
    );
}

/** The entries above the limit: lowest priority first, then those that have had their slot, then the oldest. */
function overflowOf(entries: readonly Entry[], chosen: ReadonlySet<Entry>): Entry[] {
  return entries
    .filter((entry) => !chosen.has(entry))
    .sort((one, other) => one.overlay.priority - other.overlay.priority || Number(awaitsSlot(one)) - Number(awaitsSlot(other)))
    .slice(0, Math.max(0, entries.length - MAX_OVERLAYS));
}
