import type { FocusHandOver } from "../model/event-delegate.ts";

type Direction = FocusHandOver["from"];

/** Where something stands, in CSS pixels; DOMRect fits. */
export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const KEYS: Record<string, Direction> = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" };
const FOCUSABLE = "button, a[href], iframe.tifo-embedded, [tabindex='0']";
// How much worse it is to lie aside than to lie ahead.
const ASIDE = 2;

/**
 * Makes a remote control's arrow keys move focus among what can be focused inside `root`, each to what lies nearest in its direction;
 * where nothing does, `onExit` gets focus back with the direction. Answers the function that ends this.
 */
export function manageFocus(root: HTMLElement, { from, onExit }: FocusHandOver): () => void {
  const focusable = () => [...root.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((element) => element.checkVisibility());

  function onKey(key: KeyboardEvent): void {
    const direction = KEYS[key.key];
    const here = focusable().find((element) => element === root.ownerDocument.activeElement);
    if (!direction || !here) return;
    const others = focusable().filter((element) => element !== here);
    const next = nearest(boxOf(here), others.map(boxOf), direction);
    key.preventDefault();
    key.stopPropagation();
    if (next === undefined) return leave(direction);
    others[next]?.focus();
  }

  function leave(direction: Direction): void {
    end();
    onExit(direction);
  }

  function end(): void {
    root.removeEventListener("keydown", onKey, true);
  }

  root.addEventListener("keydown", onKey, true);
  const boxes = focusable();
  const entry = entryOf(boxes.map(boxOf), from);
  if (entry === undefined) leave(OPPOSITE[from]);
  else boxes[entry]?.focus();
  return end;
}

const OPPOSITE: Record<Direction, Direction> = { up: "down", down: "up", left: "right", right: "left" };

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

function centreY({ top, bottom }: Box): number {
  return (top + bottom) / 2;
}

function boxOf(element: HTMLElement): Box {
  return element.getBoundingClientRect();
}
