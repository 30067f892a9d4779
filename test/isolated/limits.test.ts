import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, onTestFinished, test, vi } from "vitest";
import { LIMITS, type LimitName, type LimitState } from "#worker/lib/limits.ts";
import { newId } from "#worker/lib/ids.ts";

const newLimiter = () => env.LIMITER.getByName(newId(Date.now()));
type Limiter = ReturnType<typeof newLimiter>;

/** Takes one unit of a limit. */
async function take(limiter: Limiter, name: LimitName, key: string): Promise<LimitState> {
  const [state] = await limiter.takeAll([{ name, key }]);
  if (!state) throw new Error("No state");
  return state;
}

const { quota, window } = LIMITS.signIn;

/** Ends every window of the limiter. */
function endWindows(limiter: Limiter): Promise<unknown> {
  return runInDurableObject(limiter, (_, state) => void state.storage.sql.exec("UPDATE windows SET ends = ?", Date.now() - 1));
}

function rows(limiter: Limiter): Promise<number> {
  return runInDurableObject(limiter, (_, { storage }) => {
    const [table] = storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'windows'").toArray();
    // Without anything to count, the limiter stores nothing at all.
    return table ? storage.sql.exec("SELECT 1 FROM windows").toArray().length : 0;
  });
}

test("a limit grants its quota exactly once under concurrency, and reports when it resets", async () => {
  const limiter = newLimiter();
  const states = await Promise.all(Array.from({ length: quota + 3 }, () => take(limiter, "signIn", "ada")));
  expect(states.filter((state) => state.allowed).map((state) => state.remaining)).toEqual([4, 3, 2, 1, 0]);
  const rejected = states.filter((state) => !state.allowed);
  expect(rejected).toHaveLength(3);
  for (const { remaining, reset } of rejected) {
    expect(remaining).toBe(0);
    expect(reset).toBeGreaterThan(0);
    expect(reset).toBeLessThanOrEqual(window);
  }
});

test("a limit is counted separately for each key and name", async () => {
  const limiter = newLimiter();
  await take(limiter, "signIn", "ada");
  expect((await limiter.peek("signIn", "bob")).remaining).toBe(quota);
  expect((await limiter.peek("ticket", "ada")).remaining).toBe(LIMITS.ticket.quota);
  expect((await newLimiter().peek("signIn", "ada")).remaining).toBe(quota);
});

test("a new window starts after the last one has ended", async () => {
  const limiter = newLimiter();
  for (let i = 0; i < quota; i++) await take(limiter, "signIn", "ada");
  expect((await take(limiter, "signIn", "ada")).allowed).toBe(false);
  await endWindows(limiter);
  expect(await limiter.peek("signIn", "ada")).toMatchObject({ allowed: true, remaining: quota, reset: window });
  expect(await take(limiter, "signIn", "ada")).toMatchObject({ allowed: true, remaining: quota - 1 });
  expect((await limiter.peek("signIn", "ada")).remaining).toBe(quota - 1);
});

test("what is given back can be taken again, but no more than was taken", async () => {
  const limiter = newLimiter();
  await take(limiter, "signIn", "ada");
  for (let i = 0; i < 3; i++) await limiter.giveBack([{ name: "signIn", key: "ada" }]);
  expect((await limiter.peek("signIn", "ada")).remaining).toBe(quota);
});

test("the alarm deletes windows that have ended and keeps the others", async () => {
  const limiter = newLimiter();
  await take(limiter, "signIn", "ada");
  await endWindows(limiter);
  await take(limiter, "signIn", "bob");
  expect(await rows(limiter)).toBe(2);
  expect(await runDurableObjectAlarm(limiter)).toBe(true);
  expect(await rows(limiter)).toBe(1);
  expect((await limiter.peek("signIn", "bob")).remaining).toBe(quota - 1);
  await endWindows(limiter);
  expect(await runDurableObjectAlarm(limiter)).toBe(true);
  expect(await rows(limiter)).toBe(0);
  expect(await runDurableObjectAlarm(limiter)).toBe(false);
});

test("several limits are taken together or, if one is used up, not at all", async () => {
  const limiter = newLimiter();
  const both = [
    { name: "signIn", key: "ada" },
    { name: "signInAddress", key: "192.0.2.1" },
  ] as const;
  for (let i = 0; i < quota; i++) expect((await limiter.takeAll([...both])).map(({ allowed }) => allowed)).toEqual([true, true]);
  expect((await limiter.takeAll([...both])).map(({ allowed }) => allowed)).toEqual([false, true]);
  expect((await limiter.peek("signInAddress", "192.0.2.1")).remaining).toBe(LIMITS.signInAddress.quota - quota);
});

test("a rejection isn't final while recent units may still be given back", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const limiter = newLimiter();
  for (let i = 0; i < quota; i++) await take(limiter, "signIn", "ada");
  expect(await take(limiter, "signIn", "ada")).toMatchObject({ allowed: false, final: false });
  vi.setSystemTime(Date.now() + 10_000);
  expect(await take(limiter, "signIn", "ada")).toMatchObject({ allowed: false, final: true, reset: window - 10 });
});
