import type { OverlayContent } from "../../channel/index.ts";

export type Position = OverlayContent["position"];

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Box extends Size {
  readonly x: number;
  readonly y: number;
}

/** Distances from the stage's edges in CSS pixels that stay free: the player's controls, captions, what a television crops. */
export interface Edges {
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly left: number;
}

/** Something to place. Its size is measured. */
export interface StageItem<Id> extends Size {
  readonly id: Id;
  readonly position: Position;
  readonly priority: number;
  /** Of two with the same priority, the one with the higher order goes first. */
  readonly order: number;
}

export interface StageLayout<Id> {
  /** In order of precedence. */
  readonly boxes: ReadonlyMap<Id, Box>;
  /** Items that fit nowhere beside those that go first. */
  readonly waiting: readonly Id[];
}

/** Distance between two boxes. */
export const GAP = 8;
// Moving up or down keeps an overlay on its side of the screen, so it is preferred to moving sideways.
const SIDEWAYS_COST = 3;

/**
 * Places items so that no two overlap and all are within the safe area. Each is as close to its position as those with precedence allow:
 * higher priority first, then the newest. If there is no place for one, newer ones of its priority move aside, but for the first of all;
 * otherwise it waits. One that is larger than the safe area gets all of it in that dimension.
 */
export function layOut<Id>(stage: Size, safe: Edges, items: readonly StageItem<Id>[]): StageLayout<Id> {
  const area = areaOf(stage, safe);
  const sorted = [...items].sort(byPrecedence);
  const first = placeAll(sorted, area);
  const { boxes } = first.waiting.reduce((plan, item) => withRoomFor(item, plan, area), first);
  const placed = sorted.flatMap(({ id }): [Id, Box][] => {
    const box = boxes.get(id);
    return box ? [[id, box]] : [];
  });
  return { boxes: new Map(placed), waiting: sorted.filter(({ id }) => !boxes.has(id)).map(({ id }) => id) };
}

/** An order of items, and where each is if they are placed one after the other. */
interface Plan<Id> {
  readonly order: readonly StageItem<Id>[];
  readonly boxes: ReadonlyMap<Id, Box>;
  readonly waiting: readonly StageItem<Id>[];
}

function placeAll<Id>(order: readonly StageItem<Id>[], area: Box): Plan<Id> {
  const boxes = new Map<Id, Box>();
  const waiting: StageItem<Id>[] = [];
  for (const item of order) {
    const box = placeFor(item, area, [...boxes.values()]);
    if (box) boxes.set(item.id, box);
    else waiting.push(item);
  }
  return { order, boxes, waiting };
}

/** The plan with the item in it and without losing another, if that is possible. */
function withRoomFor<Id>(item: StageItem<Id>, plan: Plan<Id>, area: Box): Plan<Id> {
  if (plan.boxes.has(item.id)) return plan;
  const others = plan.order.filter((other) => other !== item);
  for (let at = plan.order.indexOf(item) - 1; at > 0 && others[at]?.priority === item.priority; at--) {
    const changed = placeAll([...others.slice(0, at), item, ...others.slice(at)], area);
    if (changed.boxes.has(item.id) && [...plan.boxes.keys()].every((id) => changed.boxes.has(id))) return changed;
  }
  return plan;
}

/** What stays free by default: on large stages about as much as television keeps. */
export function defaultEdges({ height }: Size): Edges {
  const edge = Math.max(16, Math.round(height * 0.025));
  return { top: edge, right: edge, bottom: edge, left: edge };
}

export function areaOf({ width, height }: Size, { top, right, bottom, left }: Edges): Box {
  return { x: left, y: top, width: Math.max(0, width - left - right), height: Math.max(0, height - top - bottom) };
}

export function overlaps(one: Box, other: Box, gap = 0): boolean {
  return (
    one.x < other.x + other.width + gap &&
    other.x < one.x + one.width + gap &&
    one.y < other.y + other.height + gap &&
    other.y < one.y + one.height + gap
  );
}

function byPrecedence(one: StageItem<unknown>, other: StageItem<unknown>): number {
  return other.priority - one.priority || other.order - one.order;
}

/** The free place that is closest to the item's position. */
function placeFor(item: StageItem<unknown>, area: Box, placed: readonly Box[]): Box | undefined {
  const size = { width: Math.min(item.width, area.width), height: Math.min(item.height, area.height) };
  const home = homeOf(item.position, size, area);
  // Where a box of this size fits at all, it also fits against edges of the area or of other boxes.
  const columns = candidates(home.x, size.width, area.x, area.width, placed.map(horizontally));
  const rows = candidates(home.y, size.height, area.y, area.height, placed.map(vertically));
  let best: { box: Box; cost: number } | undefined;
  for (const x of columns)
    for (const y of rows) {
      const cost = Math.abs(x - home.x) * SIDEWAYS_COST + Math.abs(y - home.y);
      const box = { x, y, ...size };
      if ((best === undefined || cost < best.cost) && !placed.some((other) => overlaps(box, other, GAP))) best = { box, cost };
    }
  return best?.box;
}

function homeOf(position: Position, { width, height }: Size, area: Box): { x: number; y: number } {
  const [column, row] = [columnOf(position), rowOf(position)];
  return { x: area.x + (area.width - width) * column, y: area.y + (area.height - height) * row };
}

/** 0 for the left third, 0.5 for the middle, 1 for the right. */
export function columnOf(position: Position): number {
  if (position.endsWith("Left")) return 0;
  return position.endsWith("Right") ? 1 : 0.5;
}

function rowOf(position: Position): number {
  if (position.startsWith("top")) return 0;
  return position.startsWith("bottom") ? 1 : 0.5;
}

type Range = readonly [start: number, end: number];

const horizontally = ({ x, width }: Box): Range => [x, x + width];
const vertically = ({ y, height }: Box): Range => [y, y + height];

/** The starts to try in one dimension: home, both ends of the area, and both sides of every other box. */
function candidates(home: number, length: number, start: number, available: number, others: readonly Range[]): number[] {
  const last = start + available - length;
  const beside = others.flatMap(([from, to]) => [to + GAP, from - GAP - length]);
  return [home, start, last, ...beside].filter((at) => at >= start && at <= last);
}
