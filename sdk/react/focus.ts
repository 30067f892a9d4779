import { activeElementFor } from "./active-element.ts";
import type { FocusHandover } from "../model/event-delegate.ts";

type Direction = FocusHandover["from"];

/** The bounds of an element in CSS pixels; a DOMRect matches. */
export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const OPPOSITE: Record<Direction, Direction> = { up: "down", down: "up", left: "right", right: "left" };
const KEYS: Record<string, Direction> = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" };
// Not iframes: they keep their key events, so focus wouldn't come back.
const FOCUSABLE = "button, a[href], [tabindex='0']";
// The share of the visible height that one key press scrolls.
const SCROLL_SHARE = 0.8;
// How much sideways distance counts against distance ahead.
const SIDEWAYS_WEIGHT = 2;

/**
 * Moves focus with a remote control's arrow keys: each press focuses the nearest focusable element of `root` in its direction. If there is
 * none, a long text scrolls to its end, and then `onExit` is called with the direction. If the focused element is removed, as overlays are,
 * the nearest remaining one is focused; without any, focus leaves over the edge that it entered. Returns the function that stops this.
 */
export function manageFocus(root: HTMLElement, { from, onExit }: FocusHandover): () => void {
  const observer = new MutationObserver(() => focused?.element.isConnected === false && recover(focused.box));
  const listeners = new AbortController();
  const options = { capture: true, signal: listeners.signal };
  /** The focused element, and its last position. */
  let focused: { element: HTMLElement; box: Box } | undefined;

  function track(element: Element | null): void {
    focused = element instanceof HTMLElement && root.contains(element) ? { element, box: boxOf(element) } : undefined;
  }

  /** Ignores the `focusout` that some browsers dispatch for a removed element, so that the observer can handle the removal. */
  function onFocusOut(): void {
    if (focused?.element.isConnected) track(activeElementFor(root));
  }

  function focus(element: HTMLElement): void {
    element.focus();
    track(element);
  }

  function recover(box: Box): void {
    const next = closest(box, focusableIn(root));
    if (next) focus(next);
    else leave(from);
  }

  function onKey(key: KeyboardEvent): void {
    const direction = KEYS[key.key];
    const here = activeElementFor(root);
    if (!direction || !(here instanceof HTMLElement) || !root.contains(here)) return;
    const others = focusableIn(root).filter((element) => element !== here);
    const next = others[nearest(boxOf(here), others.map(boxOf), direction) ?? -1];
    key.preventDefault();
    key.stopPropagation();
    if (next) focus(next);
    else if (!scroll(here, direction)) leave(direction);
  }

  function leave(direction: Direction): void {
    end();
    onExit(direction);
  }

  function end(): void {
    listeners.abort();
    observer.disconnect();
  }

  root.addEventListener("keydown", onKey, options);
  root.addEventListener("focusout", () => queueMicrotask(onFocusOut), options);
  // Outside of a shadow tree, the target of its events is its host.
  const tree = root.getRootNode();
  tree.addEventListener("focusin", ({ target }) => track(target instanceof Element ? target : null), options);
  observer.observe(root, { childList: true, subtree: true });
  const all = focusableIn(root);
  const entry = all.find((element) => element === activeElementFor(root)) ?? all[entryOf(all.map(boxOf), from) ?? -1];
  if (entry) focus(entry);
  else leave(OPPOSITE[from]);
  return end;
}

/**
 * Calls `entered` when an arrow key moves focus into `root`, with the edge that it crossed and an `onExit` that returns focus to the previous
 * element. Returns the function that stops this.
 */
export function onArrowEntry(root: HTMLElement, entered: (handover: FocusHandover) => void): () => void {
  const { ownerDocument } = root;
  const listeners = new AbortController();
  const options = { capture: true, signal: listeners.signal };
  let pressed: Direction | undefined;
  ownerDocument.addEventListener("keydown", ({ key }) => (pressed = KEYS[key]), options);
  ownerDocument.addEventListener("keyup", () => (pressed = undefined), options);
  root.addEventListener(
    "focusin",
    ({ relatedTarget: before }) => {
      if (!pressed || (before instanceof Node && root.contains(before))) return;
      entered({ from: OPPOSITE[pressed], onExit: () => before instanceof HTMLElement && before.focus() });
    },
    options,
  );
  return () => listeners.abort();
}

/** Visible focusable elements. If one contains others, only those. */
function focusableIn(root: HTMLElement): HTMLElement[] {
  const all = [...root.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((element) => element.getClientRects().length > 0);
  return all.filter((element) => !all.some((other) => other !== element && element.contains(other)));
}

/** The element whose centre is nearest to that of a box. */
function closest(box: Box, elements: HTMLElement[]): HTMLElement | undefined {
  const distance = (element: HTMLElement) => {
    const other = boxOf(element);
    return Math.hypot(centreX(other) - centreX(box), centreY(other) - centreY(box));
  };
  return [...elements].sort((one, other) => distance(one) - distance(other))[0];
}

/** Scrolls the text around `here`, and returns whether it could. */
function scroll(here: HTMLElement, direction: Direction): boolean {
  const text = here.closest(".tifo-panel-content");
  if (!text || direction === "left" || direction === "right") return false;
  const before = text.scrollTop;
  text.scrollTop += (direction === "down" ? SCROLL_SHARE : -SCROLL_SHARE) * text.clientHeight;
  return text.scrollTop !== before;
}

/** Index of the nearest box in a direction; undefined if there is none. */
export function nearest(here: Box, others: Box[], direction: Direction): number | undefined {
  const scores = others.map((other) => score(here, other, direction));
  const best = Math.min(...scores);
  return best === Infinity ? undefined : scores.indexOf(best);
}

/** Weighted distance; infinite for boxes that aren't ahead. */
function score(here: Box, other: Box, direction: Direction): number {
  const ahead = {
    up: here.top - other.bottom,
    down: other.top - here.bottom,
    left: here.left - other.right,
    right: other.left - here.right,
  }[direction];
  const vertical = direction === "up" || direction === "down";
  const isAhead =
    ahead >= 0 ||
    (vertical ? Math.sign(centreY(other) - centreY(here)) === (direction === "down" ? 1 : -1) && !overlapsY(here, other) : false);
  if (!isAhead) return Infinity;
  const sideways = vertical ? gap(here.left, here.right, other.left, other.right) : gap(here.top, here.bottom, other.top, other.bottom);
  return Math.max(0, ahead) + SIDEWAYS_WEIGHT * sideways;
}

/** Index of the box that is nearest to the edge that focus enters over. */
function entryOf(boxes: Box[], from: Direction): number | undefined {
  if (boxes.length === 0) return undefined;
  const edge = boxes.map((box) => ({ up: box.top, down: -box.bottom, left: box.left, right: -box.right })[from]);
  return edge.indexOf(Math.min(...edge));
}

/** Distance between two intervals; 0 if they overlap. */
function gap(from: number, to: number, otherFrom: number, otherTo: number): number {
  return Math.max(0, otherFrom - to, from - otherTo);
}

function overlapsY(one: Box, other: Box): boolean {
  return gap(one.top, one.bottom, other.top, other.bottom) === 0;
}

function centreX({ left, right }: Box): number {
  return (left + right) / 2;
}

function centreY({ top, bottom }: Box): number {
  return (top + bottom) / 2;
}

function boxOf(element: HTMLElement): Box {
  return element.getBoundingClientRect();
}
