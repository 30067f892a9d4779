/** An asynchronous task of which at most one run counts at a time. */
export interface RestartableTask {
  /** Starts immediately, or once more after the current run, however often it is called in the meantime. */
  run(): Promise<void>;
  /** Starts immediately and replaces the current run, whose result is discarded. */
  restart(): Promise<void>;
  /** Discards the result of the current run. */
  cancel(): void;
  isRunning(): boolean;
}

/** `work` gets a function that tells whether its run is still current; if not, it must discard what it loaded. It must not reject. */
export function restartableTask(work: (isCurrent: () => boolean) => Promise<void>): RestartableTask {
  let generation = 0;
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  function restart(): Promise<void> {
    const thisRun = ++generation;
    next = null;
    const done = work(() => thisRun === generation).finally(() => {
      if (thisRun === generation) running = null;
    });
    running = done;
    return done;
  }

  return {
    run() {
      if (!running) return restart();
      const before = generation;
      next ??= running.then(() => (generation === before ? restart() : undefined));
      return next;
    },
    restart,
    cancel() {
      generation++;
      running = null;
      next = null;
    },
    isRunning: () => running !== null,
  };
}
