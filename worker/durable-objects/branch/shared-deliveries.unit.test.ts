import { beforeEach, describe, expect, test, vi } from "vitest";
import { BRANCH_SIZE, branchOf, DIRECT_RELAYS, MAX_RELAYS, type Outcome } from "./branch.protocol.ts";
import { SharedDeliveries } from "./shared-deliveries.ts";

beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => undefined));

const FIRST = DIRECT_RELAYS;
const delivered = (relays: number[]): Outcome<string>[] => relays.map((relay) => ({ ok: true, value: `through ${relay}` }));

function setUp(through: (branch: number, relays: number[]) => Promise<Outcome<string>[]> = async (_, relays) => delivered(relays)) {
  const calls = { direct: vi.fn(async (relay: number) => `direct ${relay}`), through: vi.fn(through) };
  return { calls, deliveries: new SharedDeliveries<object, string>(calls, 1_000) };
}

test("no object calls more than 32 of a channel's objects, and there is room for a million viewers", () => {
  const called = new Set(
    Array.from({ length: MAX_RELAYS }, (_, relay) => (branchOf(relay) === null ? `relay ${relay}` : `branch ${branchOf(relay)}`)),
  );
  expect(called.size).toBe(32);
  const sizes = Map.groupBy(
    Array.from({ length: MAX_RELAYS - FIRST }, (_, i) => FIRST + i),
    (relay) => branchOf(relay),
  );
  expect([...sizes.values()].every((relays) => relays.length <= BRANCH_SIZE)).toBe(true);
  expect(MAX_RELAYS * 1_500).toBeGreaterThan(1_000_000);
});

describe("deliveries", () => {
  test("of one message take one call per branch, and one per relay that is called directly", async () => {
    const { calls, deliveries } = setUp();
    const message = {};
    const relays = [0, 1, FIRST, FIRST + 1, FIRST + BRANCH_SIZE];
    const results = await Promise.all(relays.map((relay) => deliveries.deliver(relay, message, false)));
    expect(results).toEqual(["direct 0", "direct 1", `through ${FIRST}`, `through ${FIRST + 1}`, `through ${FIRST + BRANCH_SIZE}`]);
    expect(calls.through.mock.calls.map(([branch, members]) => [branch, members])).toEqual([
      [0, [FIRST, FIRST + 1]],
      [1, [FIRST + BRANCH_SIZE]],
    ]);
  });

  test("of different messages to one branch don't mix", async () => {
    const { calls, deliveries } = setUp();
    await Promise.all([deliveries.deliver(FIRST, {}, false), deliveries.deliver(FIRST + 1, {}, false)]);
    expect(calls.through.mock.calls.map(([, members]) => members)).toEqual([[FIRST], [FIRST + 1]]);
  });

  test("to a relay that was slow go around the branch", async () => {
    const { calls, deliveries } = setUp();
    expect(await deliveries.deliver(FIRST, {}, true)).toBe(`direct ${FIRST}`);
    expect(calls.through).not.toHaveBeenCalled();
  });

  test("go around a branch that fails, at once", async () => {
    const { deliveries } = setUp(() => Promise.reject(new Error("reset")));
    const message = {};
    expect(await Promise.all([FIRST, FIRST + 1].map((relay) => deliveries.deliver(relay, message, false)))).toEqual([
      `direct ${FIRST}`,
      `direct ${FIRST + 1}`,
    ]);
  });

  test("fail for the one relay that failed or is late", async () => {
    const { deliveries } = setUp(async (_, relays) =>
      relays.map((relay) => (relay === FIRST ? { ok: true, value: "sent" } : { ok: false, late: relay > FIRST + 1, error: "down" })),
    );
    const message = {};
    const [good, bad, late] = await Promise.allSettled(
      [FIRST, FIRST + 1, FIRST + 2].map((relay) => deliveries.deliver(relay, message, false)),
    );
    expect(good).toEqual({ status: "fulfilled", value: "sent" });
    expect(bad).toMatchObject({ status: "rejected", reason: { message: "down" } });
    expect(late).toMatchObject({ status: "rejected", reason: { name: "TimeoutError" } });
  });
});
