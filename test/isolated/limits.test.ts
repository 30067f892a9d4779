import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, onTestFinished, test, vi } from "vitest";
import { LIMITS, type LimitName, type LimitState } from "#worker/lib/limits.ts";
import { newId } from "#worker/lib/ids.ts";

const newLimiter = () => env.LIMITER.getByName(newId(Date.now()));
type Limiter = ReturnType<typeof newLimiter>;

/** Takes one of one limit. */
async function take(limiter: Limiter, name: LimitName, key: string): Promise<LimitState> {
  const [state] = await limiter.takeAll([{ name, key }]);
  if (!state) throw new Error("No state");
  return state;
}

const { quota, window } = LIMITS.signIn;

/** Lets every window of the limiter be over. */
function pass(limiter: Limiter): Promise<unknown> {
  return runInDurableObject(limiter, (_, state) => void state.storage.sql.exec("UPDATE windows SET ends = ?", Date.now() - 1));
}

function rows(limiter: Limiter): Promise<number> {
  return runInDurableObject(limiter, (_, state) => state.storage.sql.exec("SELECT 1 FROM windows").toArray().length);
}

test("a limit gives its quota once, in whatever hurry, and says when the next is to be had", async () => {
  const limiter = newLimiter();
  const answers = await Promise.all(Array.from({ length: quota + 3 }, () => take(limiter, "signIn", "ada")));
  expect(answers.filter((answer) => answer.allowed).map((answer) => answer.remaining)).toEqual([4, 3, 2, 1, 0]);
  const refused = answers.filter((answer) => !answer.allowed);
  expect(refused).toHaveLength(3);
  for (const { remaining, reset } of refused) {
    expect(remaining).toBe(0);
    expect(reset).toBeGreaterThan(0);
    expect(reset).toBeLessThanOrEqual(window);
  }
});

test("a limit is counted apart for each key and name", async () => {
  const limiter = newLimiter();
  await take(limiter, "signIn", "ada");
  expect((await limiter.peek("signIn", "bob")).remaining).toBe(quota);
  expect((await limiter.peek("ticket", "ada")).remaining).toBe(LIMITS.ticket.quota);
  expect((await newLimiter().peek("signIn", "ada")).remaining).toBe(quota);
});

test("a window that is over begins anew", async () => {
  const limiter = newLimiter();
  for (let i = 0; i < quota; i++) await take(limiter, "signIn", "ada");
  expect((await take(limiter, "signIn", "ada")).allowed).toBe(false);
  await pass(limiter);
  expect(await limiter.peek("signIn", "ada")).toMatchObject({ allowed: true, remaining: quota, reset: window });
  expect(await take(limiter, "signIn", "ada")).toMatchObject({ allowed: true, remaining: quota - 1 });
  expect((await limiter.peek("signIn", "ada")).remaining).toBe(quota - 1);
});

test("what is given back may be taken again, and no more than was taken", async () => {
  const limiter = newLimiter();
  await take(limiter, "signIn", "ada");
  for (let i = 0; i < 3; i++) await limiter.giveBack([{ name: "signIn", key: "ada" }]);
  expect((await limiter.peek("signIn", "ada")).remaining).toBe(quota);
});

test("windows that are over are forgotten by alarm, the others kept until theirs", async () => {
  const limiter = newLimiter();
  await take(limiter, "signIn", "ada");
  await pass(limiter);
  await take(limiter, "signIn", "bob");
  expect(await rows(limiter)).toBe(2);
  expect(await runDurableObjectAlarm(limiter)).toBe(true);
  expect(await rows(limiter)).toBe(1);
  expect((await limiter.peek("signIn", "bob")).remaining).toBe(quota - 1);
  await pass(limiter);
  expect(await runDurableObjectAlarm(limiter)).toBe(true);
  expect(await rows(limiter)).toBe(0);
  expect(await runDurableObjectAlarm(limiter)).toBe(false);
});

test("several counts are taken together or, where one of them is used up, not at all", async () => {
  const limiter = newLimiter();
  const both = [
    { name: "signIn", key: "ada" },
    { name: "signInAddress", key: "192.0.2.1" },
  ] as const;
  for (let i = 0; i < quota; i++) expect((await limiter.takeAll([...both])).map(({ allowed }) => allowed)).toEqual([true, true]);
  expect((await limiter.takeAll([...both])).map(({ allowed }) => allowed)).toEqual([false, true]);
  expect((await limiter.peek("signInAddress", "192.0.2.1")).remaining).toBe(LIMITS.signInAddress.quota - quota);
});

test("a refusal isn't final while what was taken last may still be given back", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const limiter = newLimiter();
  for (let i = 0; i < quota; i++) await take(limiter, "signIn", "ada");
  expect(await take(limiter, "signIn", "ada")).toMatchObject({ allowed: false, final: false });
  vi.setSystemTime(Date.now() + 10_000);
  expect(await take(limiter, "signIn", "ada")).toMatchObject({ allowed: false, final: true, reset: window - 10 });
});
