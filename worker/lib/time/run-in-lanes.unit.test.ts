import fc from "fast-check";
import { expect, test } from "vitest";
import { runInLanes } from "./run-in-lanes.ts";

const LIMIT = 3;
type Item = { id: number; lane: string | null; turns: number };

const items = fc
  .array(fc.record({ lane: fc.option(fc.constantFrom("a", "b", "c", "d", "e")), turns: fc.nat(4) }), { maxLength: 30 })
  .map((list) => list.map((item, id): Item => ({ ...item, id })));

/** Runs the items, and returns when each began and ended, as positions in one sequence. */
async function run(list: Item[]): Promise<{ began: Map<number, number>; ended: Map<number, number>; most: number }> {
  const [began, ended] = [new Map<number, number>(), new Map<number, number>()];
  let [moment, running, most] = [0, 0, 0];
  await runInLanes(list, {
    laneOf: ({ lane }) => lane,
    limit: LIMIT,
    run: async ({ id, turns }) => {
      expect(began.has(id)).toBe(false);
      began.set(id, moment++);
      most = Math.max(most, ++running);
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      running--;
      ended.set(id, moment++);
    },
  });
  return { began, ended, most };
}

test("each item runs once, those of a lane in order, one without a lane alone, and never more than the limit at a time", async () => {
  await fc.assert(
    fc.asyncProperty(items, async (list) => {
      const { began, ended, most } = await run(list);
      expect(ended.size).toBe(list.length);
      expect(most).toBeLessThanOrEqual(LIMIT);
      for (const [index, later] of list.entries())
        for (const earlier of list.slice(0, index))
          if (earlier.lane === null || later.lane === null || earlier.lane === later.lane)
            expect(ended.get(earlier.id)).toBeLessThan(began.get(later.id) ?? -1);
    }),
  );
});

test("items of different lanes run at the same time", async () => {
  const { most } = await run(["a", "b", "c"].map((lane, id) => ({ id, lane, turns: 2 })));
  expect(most).toBe(LIMIT);
});
