import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { areaOf, type Box, GAP, layOut, overlaps, type Position, type StageItem } from "#sdk/overlay/stage/layout.ts";

const STAGE = { width: 1280, height: 720 };
const SAFE = { top: 16, right: 16, bottom: 64, left: 16 };

const POSITIONS: Position[] = [
  ...(["topLeft", "topCenter", "topRight", "centerLeft", "center"] as const),
  ...(["centerRight", "bottomLeft", "bottomCenter", "bottomRight"] as const),
];

function item(id: string, position: Position, change: Partial<StageItem<string>> = {}): StageItem<string> {
  return { id, position, width: 400, height: 100, priority: 0, order: 0, ...change };
}

const boxOf = (items: StageItem<string>[], id: string, stage = STAGE) => layOut(stage, SAFE, items).boxes.get(id);

describe("the layout of a stage", () => {
  test.for<[Position, x: number, y: number]>([
    ["topLeft", 16, 16],
    ["topCenter", 440, 16],
    ["topRight", 864, 16],
    ["centerLeft", 16, 286],
    ["center", 440, 286],
    ["centerRight", 864, 286],
    ["bottomLeft", 16, 556],
    ["bottomCenter", 440, 556],
    ["bottomRight", 864, 556],
  ])("places a single overlay at %s of the safe area", ([position, x, y]) => {
    expect(boxOf([item("a", position)], "a")).toEqual({ x, y, width: 400, height: 100 });
  });

  test.for<[name: string, items: StageItem<string>[], expected: Record<string, [x: number, y: number]>]>([
    [
      "moves the older of two up if they collide at the bottom",
      [item("old", "bottomCenter", { order: 1 }), item("new", "bottomLeft", { order: 2, width: 700 })],
      { old: [440, 448], new: [16, 556] },
    ],
    [
      "moves the less important one, even if it is newer",
      [item("goal", "bottomCenter", { order: 1, priority: 5 }), item("new", "bottomLeft", { order: 2, width: 700 })],
      { goal: [440, 556], new: [16, 448] },
    ],
    ["moves down at the top", [item("a", "topLeft", { order: 2, width: 900 }), item("b", "topRight", { order: 1 })], { b: [864, 124] }],
    [
      "moves sideways if there is no room above",
      [item("a", "bottomLeft", { order: 2, height: 600 }), item("b", "bottomLeft", { order: 1 })],
      { b: [424, 556] },
    ],
    ["leaves those alone that don't collide", [item("a", "topLeft"), item("b", "bottomRight")], { a: [16, 16], b: [864, 556] }],
  ])("%s", ([, items, expected]) => {
    const { boxes, waiting } = layOut(STAGE, SAFE, items);
    const places = Object.fromEntries([...boxes].map(([id, { x, y }]) => [id, [x, y]]));
    expect(places).toMatchObject(expected);
    expect(waiting).toEqual([]);
  });

  test("lets an overlay wait that fits nowhere, and places it once there is room", () => {
    const line = item("line-up", "center", { width: 1200, height: 600, priority: 1 });
    const late = item("late", "bottomLeft", { order: 9 });
    expect(layOut(STAGE, SAFE, [line, late])).toMatchObject({ waiting: ["late"] });
    expect(layOut(STAGE, SAFE, [late]).waiting).toEqual([]);
  });

  describe("of which the older has no place", () => {
    // A goal at the bottom and a poll beside it, whose boxes touch, below a sponsor.
    const goal = item("goal", "bottomCenter", { width: 800, height: 180, order: 1 });
    const poll = item("poll", "centerRight", { width: 480, height: 400, order: 2 });
    const sponsor = item("sponsor", "topRight", { height: 40, order: 3 });

    test("moves the newer of the same priority aside, so that both are shown", () => {
      const { boxes, waiting } = layOut(STAGE, SAFE, [goal, poll, sponsor]);
      expect(waiting).toEqual([]);
      expect(boxes.get("goal")).toMatchObject({ x: 240, y: 476 });
      expect(boxes.get("poll")).toMatchObject({ x: 784, y: 68 });
      expect(boxes.get("sponsor")).toMatchObject({ x: 864, y: 16 });
      expect([...boxes.keys()]).toEqual(["sponsor", "poll", "goal"]);
    });

    test("moves nothing that is more important, and never the first", () => {
      expect(layOut(STAGE, SAFE, [goal, { ...poll, priority: 1 }, { ...sponsor, priority: 1 }]).waiting).toEqual(["goal"]);
      expect(layOut(STAGE, SAFE, [goal, { ...poll, height: 600 }]).waiting).toEqual(["goal"]);
    });

    test("hides nothing else for it", () => {
      const { boxes, waiting } = layOut(STAGE, SAFE, [goal, { ...poll, height: 560 }, sponsor]);
      expect(waiting).toEqual(["goal"]);
      expect(boxes.get("poll")).toMatchObject({ x: 784 });
    });
  });

  test("gives an overlay that is too large the whole safe area", () => {
    expect(boxOf([item("a", "center", { width: 5000, height: 5000 })], "a")).toEqual({ x: 16, y: 16, width: 1248, height: 640 });
  });
});

const anyStage = fc.record({ width: fc.integer({ min: 320, max: 3840 }), height: fc.integer({ min: 180, max: 2160 }) });
const edge = fc.integer({ min: 0, max: 80 });
const anySafe = fc.record({ top: edge, right: edge, bottom: edge, left: edge });
const anyItems = fc
  .array(
    fc.record({
      position: fc.constantFrom(...POSITIONS),
      width: fc.integer({ min: 1, max: 2000 }),
      height: fc.integer({ min: 1, max: 1200 }),
      priority: fc.integer({ min: -2, max: 2 }),
    }),
    { minLength: 1, maxLength: 9 },
  )
  .map((items) => items.map((one, order) => ({ ...one, id: order, order })));

/** Whether a box lies within another. */
function isInside({ x, y, width, height }: Box, area: Box): boolean {
  const slack = 1e-6;
  return (
    x >= area.x - slack && y >= area.y - slack && x + width <= area.x + area.width + slack && y + height <= area.y + area.height + slack
  );
}

/** Whether a box of this size fits somewhere beside the others: every place that touches their edges is tried. */
function fits({ width, height }: { width: number; height: number }, area: Box, others: Box[]): boolean {
  const columns = [area.x, ...others.map((other) => other.x + other.width + GAP)];
  const rows = [area.y, ...others.map((other) => other.y + other.height + GAP)];
  return columns.some((x) =>
    rows.some((y) => {
      const box = { x, y, width: Math.min(width, area.width), height: Math.min(height, area.height) };
      return isInside(box, area) && !others.some((other) => overlaps(box, other, GAP));
    }),
  );
}

describe("any layout", () => {
  test("has no two boxes that overlap, and none outside the safe area", () => {
    fc.assert(
      fc.property(anyStage, anySafe, anyItems, (stage, safe, items) => {
        const boxes = [...layOut(stage, safe, items).boxes.values()];
        const area = areaOf(stage, safe);
        for (const [index, box] of boxes.entries()) {
          expect(isInside(box, area)).toBe(true);
          expect(boxes.slice(index + 1).some((other) => overlaps(box, other))).toBe(false);
        }
      }),
    );
  });

  test("shows the most important overlay at its own position", () => {
    fc.assert(
      fc.property(anyStage, anySafe, anyItems, (stage, safe, items) => {
        const [first] = items.toSorted((one, other) => other.priority - one.priority || other.order - one.order);
        if (first) expect(layOut(stage, safe, items).boxes.get(first.id)).toEqual(layOut(stage, safe, [first]).boxes.get(first.id));
      }),
    );
  });

  test("lets nothing wait that fits beside those that go first, and places or keeps waiting each item once", () => {
    fc.assert(
      fc.property(anyStage, anySafe, anyItems, (stage, safe, items) => {
        const { boxes, waiting } = layOut(stage, safe, items);
        expect([...boxes.keys(), ...waiting].sort()).toEqual(items.map(({ id }) => id).sort());
        const all = [...boxes.values()];
        for (const one of items.filter(({ id }) => waiting.includes(id))) expect(fits(one, areaOf(stage, safe), all)).toBe(false);
      }),
    );
  });
});
