import fc from "fast-check";
import { expect, test } from "vitest";
import { ID_PATTERN, newId } from "./ids.ts";

test("ids are well-formed, sort by time and don't repeat", () => {
  fc.assert(
    fc.property(fc.nat({ max: 2 ** 47 }), fc.nat({ max: 1_000_000 }), (time, later) => {
      const [one, other] = [newId(time), newId(time + later + 1)];
      expect(one).toMatch(ID_PATTERN);
      expect(one < other).toBe(true);
    }),
  );
  expect(new Set(Array.from({ length: 1000 }, () => newId(0))).size).toBe(1000);
});
