import { expect, test } from "vitest";
import { trickle } from "./progress.ts";

test("advances with every step and never completes by itself", () => {
  let done = 0.08;
  for (let step = 0; step < 200; step++) {
    const next = trickle(done);
    expect(next).toBeGreaterThanOrEqual(done);
    done = next;
  }
  expect(done).toBeLessThan(1);
});
