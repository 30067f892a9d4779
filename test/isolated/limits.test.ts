import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { LIMITS } from "../../worker/lib/limits.ts";
import { newId } from "../../worker/lib/ids.ts";

const newLimiter = () => env.LIMITER.getByName(newId(Date.now()));
type Limiter = ReturnType<typeof newLimiter>;

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
  const answers = await Promise.all(Array.from({ length: quota + 3 }, () => limiter.take("signIn", "ada")));
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
  await limiter.take("signIn", "ada");
  expect((await limiter.peek("signIn", "bob")).remaining).toBe(quota);
  expect((await limiter.peek("ticket", "ada")).remaining).toBe(LIMITS.ticket.quota);
  expect((await newLimiter().peek("signIn", "ada")).remaining).toBe(quota);
});

test("a window that is over begins anew", async () => {
  const limiter = newLimiter();
  for (let i = 0; i < quota; i++) await limiter.take("signIn", "ada");
  expect((await limiter.take("signIn", "ada")).allowed).toBe(false);
  await pass(limiter);
  expect(await limiter.peek("signIn", "ada")).toEqual({ allowed: true, remaining: quota, reset: window });
  expect(await limiter.take("signIn", "ada")).toMatchObject({ allowed: true, remaining: quota - 1 });
  expect((await limiter.peek("signIn", "ada")).remaining).toBe(quota - 1);
});

test("what is given back may be taken again, and no more than was taken", async () => {
  const limiter = newLimiter();
  await limiter.take("signIn", "ada");
  for (let i = 0; i < 3; i++) await limiter.giveBack("signIn", "ada");
  expect((await limiter.peek("signIn", "ada")).remaining).toBe(quota);
});

test("windows that are over are forgotten by alarm, the others kept until theirs", async () => {
  const limiter = newLimiter();
  await limiter.take("signIn", "ada");
  await pass(limiter);
  await limiter.take("signIn", "bob");
  expect(await rows(limiter)).toBe(2);
  expect(await runDurableObjectAlarm(limiter)).toBe(true);
  expect(await rows(limiter)).toBe(1);
  expect((await limiter.peek("signIn", "bob")).remaining).toBe(quota - 1);
  await pass(limiter);
  expect(await runDurableObjectAlarm(limiter)).toBe(true);
  expect(await rows(limiter)).toBe(0);
  expect(await runDurableObjectAlarm(limiter)).toBe(false);
});
