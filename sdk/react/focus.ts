import type { FocusHandover } from "../model/event-delegate.ts";

type Direction = FocusHandover["from"];

/** Where something stands, in CSS pixels; DOMRect fits. */
export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const OPPOSITE: Record<Direction, Direction> = { up: "down", down: "up", left: "right", right: "left" };
const KEYS: Record<string, Direction> = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" };
// Not the documents of other sites: their keys are theirs, and focus would not come back.
const FOCUSABLE = "button, a[href], [tabindex='0']";
// How much of what can be seen of a long text one press moves on.
const PAGE = 0.8;
// How much worse it is to lie aside than to lie ahead.
const ASIDE = 2;

/**
 * Makes a remote control's arrow keys move focus among what can be focused inside `root`, each to what lies nearest in its direction;
 * where nothing does, a long text scrolls to its end, and then `onExit` gets focus back with the direction. When what has focus goes
 * away, as an overlay does, the nearest that is left takes it, or else it goes back over the edge that it came from. Focus that is inside
 * already stays where it is. Answers the function that ends this.
 */
export function manageFocus(root: HTMLElement, { from, onExit }: FocusHandover): () => void {
  const { ownerDocument } = root;
  const changes = new MutationObserver(() => held?.element.isConnected === false && recover(held.box));
  const listening = new AbortController();
  const options = { capture: true, signal: listening.signal };
  /** What has focus here, and stood where. */
  let held: { element: HTMLElement; box: Box } | undefined;

  function hold(element: Element | null): void {
    held = element instanceof HTMLElement && root.contains(element) ? { element, box: boxOf(element) } : undefined;
  }

  /** Some browsers tell of a removed element that it lost focus: that one is still held, for its end to be seen. */
  function letGo(): void {
    if (held?.element.isConnected) hold(ownerDocument.activeElement);
  }

  function focus(element: HTMLElement): void {
    element.focus();
    hold(element);
  }

  function recover(box: Box): void {
    const next = closest(box, focusableIn(root));
    if (next) focus(next);
    else leave(from);
  }

  function onKey(key: KeyboardEvent): void {
    const direction = KEYS[key.key];
    const here = ownerDocument.activeElement;
    if (!direction || !(here instanceof HTMLElement) || !root.contains(here)) return;
    const others = focusableIn(root).filter((element) => element !== here);
    const next = others[nearest(boxOf(here), others.map(boxOf), direction) ?? -1];
    key.preventDefault();
    key.stopPropagation();
    if (next) focus(next);
    else if (!scrolled(here, direction)) leave(direction);
  }

  function leave(direction: Direction): void {
    end();
    onExit(direction);
  }

  function end(): void {
    listening.abort();
    changes.disconnect();
  }

  root.addEventListener("keydown", onKey, options);
  root.addEventListener("focusout", () => queueMicrotask(letGo), options);
  ownerDocument.addEventListener("focusin", ({ target }) => hold(target instanceof Element ? target : null), options);
  changes.observe(root, { childList: true, subtree: true });
  const all = focusableIn(root);
  const entry = all.find((element) => element === ownerDocument.activeElement) ?? all[entryOf(all.map(boxOf), from) ?? -1];
  if (entry) focus(entry);
  else leave(OPPOSITE[from]);
  return end;
}

/**
 * Tells when an arrow key brings focus into `root`, whoever moves it: the edge that it came over, and a way back to what had focus before.
 * Answers the function that ends this.
 */
export function onArrowEntry(root: HTMLElement, entered: (handover: FocusHandover) => void): () => void {
  const { ownerDocument } = root;
  const listening = new AbortController();
  const options = { capture: true, signal: listening.signal };
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
  return () => listening.abort();
}

/** What can be seen and focused; of what holds others, the others. */
function focusableIn(root: HTMLElement): HTMLElement[] {
  const all = [...root.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((element) => element.getClientRects().length > 0);
  return all.filter((element) => !all.some((other) => other !== element && element.contains(other)));
}

/** The element whose middle lies nearest to that of a box. */
function closest(box: Box, elements: HTMLElement[]): HTMLElement | undefined {
  const distance = (element: HTMLElement) => {
    const other = boxOf(element);
    return Math.hypot(centreX(other) - centreX(box), centreY(other) - centreY(box));
  };
  return [...elements].sort((one, other) => distance(one) - distance(other))[0];
}

/** Whether the text around `here` could be scrolled on. */
function scrolled(here: HTMLElement, direction: Direction): boolean {
  const text = here.closest(".tifo-panel-content");
  if (!text || direction === "left" || direction === "right") return false;
  const before = text.scrollTop;
  text.scrollTop += (direction === "down" ? PAGE : -PAGE) * text.clientHeight;
  return text.scrollTop !== before;
}

/** Index of the box that lies nearest in a direction; undefined: none does. */
export function nearest(here: Box, others: Box[], direction: Direction): number | undefined {
  const scores = others.map((other) => score(here, other, direction));
  const best = Math.min(...scores);
  return best === Infinity ? undefined : scores.indexOf(best);
}

/** Distance ahead and aside; infinite for what does not lie ahead. */
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
  const aside = vertical ? gap(here.left, here.right, other.left, other.right) : gap(here.top, here.bottom, other.top, other.bottom);
  return Math.max(0, ahead) + ASIDE * aside;
}

/** The box that focus meets first when it comes in over an edge. */
function entryOf(boxes: Box[], from: Direction): number | undefined {
  if (boxes.length === 0) return undefined;
  const edge = boxes.map((box) => ({ up: box.top, down: -box.bottom, left: box.left, right: -box.right })[from]);
  return edge.indexOf(Math.min(...edge));
}

/** How far two stretches lie apart; 0 where they overlap. */
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
