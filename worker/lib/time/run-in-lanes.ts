/** How to run items side by side. */
export interface Lanes<T> {
  /** Items of one lane run one after another, in order. An item without a lane runs alone: after all before it, and before all behind it. */
  laneOf: (item: T) => string | null;
  run: (item: T) => Promise<void>;
  /** How many items run at a time. */
  limit: number;
}

/** Runs each item once, and resolves when all are done. `run` must not throw. */
export async function runInLanes<T>(items: readonly T[], { laneOf, run, limit }: Lanes<T>): Promise<void> {
  let lanes = new Map<string, T[]>();
  const finish = async (): Promise<void> => {
    const queues = lanes.values();
    lanes = new Map();
    const work = async (): Promise<void> => {
      for (const queue of queues) for (const item of queue) await run(item);
    };
    await Promise.all(Array.from({ length: limit }, work));
  };
  for (const item of items) {
    const lane = laneOf(item);
    if (lane !== null) {
      lanes.set(lane, [...(lanes.get(lane) ?? []), item]);
      continue;
    }
    await finish();
    await run(item);
  }
  await finish();
}
