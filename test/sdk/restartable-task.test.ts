import { expect, test } from "vitest";
import { restartableTask } from "#sdk/core/restartable-task.ts";

/** A task whose runs the test ends. */
function work() {
  const runs: { end: () => void; counts: () => boolean }[] = [];
  const task = restartableTask((counts) => new Promise((end) => runs.push({ end, counts })));
  return { task, runs };
}

test("requests during a run cause exactly one more run", async () => {
  const { task, runs } = work();
  const first = task.run();
  const again = [task.run(), task.run(), task.run()];
  expect(runs).toHaveLength(1);
  runs[0]?.end();
  await first;
  await Promise.resolve();
  expect(runs).toHaveLength(2);
  runs[1]?.end();
  await Promise.all(again);
  expect(runs).toHaveLength(2);
});

test("a restart doesn't wait, and the run that it replaces no longer counts", async () => {
  const { task, runs } = work();
  void task.run();
  const stale = task.run();
  const fresh = task.restart();
  expect(runs.map(({ counts }) => counts())).toEqual([false, true]);
  runs[0]?.end();
  await stale;
  expect(runs).toHaveLength(2);
  runs[1]?.end();
  await fresh;
  void task.run();
  expect(runs).toHaveLength(3);
});
