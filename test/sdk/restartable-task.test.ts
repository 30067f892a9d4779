import { expect, test } from "vitest";
import { restartableTask } from "#sdk/core/restartable-task.ts";

/** Work that ends when it is told to. */
function work() {
  const turns: { end: () => void; counts: () => boolean }[] = [];
  const by = restartableTask((counts) => new Promise((end) => turns.push({ end, counts })));
  return { by, turns };
}

test("what is asked for meanwhile is done once more, and once only", async () => {
  const { by, turns } = work();
  const first = by.run();
  const again = [by.run(), by.run(), by.run()];
  expect(turns).toHaveLength(1);
  turns[0]?.end();
  await first;
  await Promise.resolve();
  expect(turns).toHaveLength(2);
  turns[1]?.end();
  await Promise.all(again);
  expect(turns).toHaveLength(2);
});

test("a restart waits for nobody, and what it replaces counts no more", async () => {
  const { by, turns } = work();
  void by.run();
  const stale = by.run();
  const fresh = by.restart();
  expect(turns.map(({ counts }) => counts())).toEqual([false, true]);
  turns[0]?.end();
  await stale;
  expect(turns).toHaveLength(2);
  turns[1]?.end();
  await fresh;
  void by.run();
  expect(turns).toHaveLength(3);
});
