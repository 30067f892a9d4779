import { expect, test } from "vitest";
import { CoalescedRunner } from "./coalesced-runner.ts";

/** Work whose runs end when they are told to, in order. */
class Work {
  started = 0;
  readonly rounds = new CoalescedRunner(() => this.begin());
  private readonly ends: { resolve: () => void; reject: (error: Error) => void }[] = [];

  end(error?: Error): void {
    const end = this.ends.shift();
    if (error) end?.reject(error);
    else end?.resolve();
  }

  private begin(): Promise<void> {
    this.started += 1;
    return new Promise((resolve, reject) => void this.ends.push({ resolve, reject }));
  }
}

const turn = () => new Promise((resolve) => setTimeout(resolve));

test("who asks during a run waits for one whole run after it, and for no other, however many ask meanwhile", async () => {
  const work = new Work();
  const first = work.rounds.run();
  await turn();
  let isAnswered = false;
  const second = work.rounds.run().then(() => (isAnswered = true));
  const beside = work.rounds.run();
  expect(work.rounds.awaited).toBe(true);
  work.end();
  await first;
  await turn();
  expect([work.started, isAnswered, work.rounds.awaited]).toEqual([2, false, false]);
  const third = work.rounds.run();
  work.end();
  await Promise.all([second, beside]);
  await turn();
  expect(work.started).toBe(3);
  work.end();
  await third;
});

test("a run that fails is told to those who waited for it, and to nobody else", async () => {
  const work = new Work();
  const first = work.rounds.run();
  await turn();
  const second = work.rounds.run();
  work.end(new Error("down"));
  await expect(first).rejects.toThrow("down");
  await turn();
  work.end();
  await second;
  expect(work.started).toBe(2);
});
