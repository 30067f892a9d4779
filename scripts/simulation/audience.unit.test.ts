import { expect, test } from "vitest";
import { Audience } from "./audience.ts";

test("an audience counts every frame that a viewer misses or gets twice", () => {
  const audience = new Audience(3, 2);
  for (const viewer of [0, 1, 2]) {
    audience.restart(viewer, 0);
    audience.connect(viewer, viewer % 2);
  }
  audience.receiveAll(0, [1, 2]);
  expect([audience.gaps, audience.doubles]).toEqual([0, 0]);
  audience.receiveAll(1, [2]);
  expect([audience.gaps, audience.doubles]).toEqual([1, 0]);
  audience.receive(0, [2, 3]);
  expect([audience.gaps, audience.doubles]).toEqual([1, 1]);
});

test("an audience knows who is connected where, and who is behind", () => {
  const audience = new Audience(4, 2);
  for (const viewer of [0, 1, 2, 3]) {
    audience.restart(viewer, 5);
    audience.connect(viewer, 0);
  }
  audience.disconnect(1);
  audience.receiveAll(0, [6]);
  expect([audience.count(0), audience.position(1), audience.behind(6)]).toEqual([3, 5, 1]);
  expect(audience.drop(0).sort()).toEqual([0, 2, 3]);
  expect([audience.count(0), audience.behind(6)]).toEqual([0, 4]);
});
