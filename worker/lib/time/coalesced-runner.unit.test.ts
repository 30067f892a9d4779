import { expect, test } from "vitest";
import { CoalescedRunner } from "./coalesced-runner.ts";

/** Work whose runs end on demand, in order. */
class Work {
  started = 0;
  readonly runner = new CoalescedRunner(() => this.#start());
  readonly #ends: { resolve: () => void; reject: (error: Error) => void }[] = [];

  end(error?: Error): void {
    const end = this.#ends.shift();
    if (error) end?.reject(error);
    else end?.resolve();
  }

  #start(): Promise<void> {
    this.started += 1;
    return new Promise((resolve, reject) => void this.#ends.push({ resolve, reject }));
  }
}

const turn = () => new Promise((resolve) => setTimeout(resolve));

test("callers during a run share exactly one full run after it, however many there are", async () => {
  const work = new Work();
  const first = work.runner.run();
  await turn();
  let isDone = false;
  const second = work.runner.run().then(() => (isDone = true));
  const parallel = work.runner.run();
  expect(work.runner.awaited).toBe(true);
  work.end();
  await first;
  await turn();
  expect([work.started, isDone, work.runner.awaited]).toEqual([2, false, false]);
  const third = work.runner.run();
  work.end();
  await Promise.all([second, parallel]);
  await turn();
  expect(work.started).toBe(3);
  work.end();
  await third;
});

test("a failed run rejects only for the callers that waited for it", async () => {
  const work = new Work();
  const first = work.runner.run();
  await turn();
  const second = work.runner.run();
  work.end(new Error("down"));
  await expect(first).rejects.toThrow("down");
  await turn();
  work.end();
  await second;
  expect(work.started).toBe(2);
});
