import { expect, test, vi } from "vitest";
import { serverClock, steadyNow } from "#sdk/core/clock.ts";

const SERVER = 1_800_000_000_000;

test.each([
  ["ahead", 300_000],
  ["behind", -300_000],
])("a device whose clock is minutes %s has the server's time from the first welcome", (_, wrong) => {
  const clock = serverClock(() => SERVER + wrong);
  clock.reset(SERVER);
  expect(clock.now()).toBe(SERVER);
});

test.each([
  ["forward", 3_600_000],
  ["back", -3_600_000],
])("a clock that jumped %s is correct again from the next welcome", (_, jump) => {
  let local = SERVER;
  const clock = serverClock(() => local);
  clock.reset(SERVER);
  clock.observe(SERVER);
  local += jump + 1_000;
  clock.reset(SERVER + 1_000);
  expect(clock.now()).toBe(SERVER + 1_000);
});

test("frames with less latency make the clock more precise, and old ones change nothing", () => {
  let local = SERVER + 500;
  const clock = serverClock(() => local);
  clock.reset(SERVER);
  local += 1_000;
  clock.observe(SERVER + 1_450);
  expect(clock.now()).toBe(SERVER + 1_450);
  clock.observe(SERVER - 60_000);
  expect(clock.now()).toBe(SERVER + 1_450);
});

test("a page's own time doesn't jump with the device's clock", () => {
  const before = steadyNow();
  vi.spyOn(Date, "now").mockReturnValue(before + 3_600_000);
  expect(steadyNow() - before).toBeLessThan(60_000);
});
