/** One piece of work that is done by turns. */
export interface RestartableTask {
  /** Begins at once; or, where a turn is under way, once more after it, however often it was asked for meanwhile. */
  run(): Promise<void>;
  /** Begins at once and in place of a turn that is under way, of which nothing is taken any more. */
  restart(): Promise<void>;
  /** Nothing is taken any more of a turn that is under way. */
  cancel(): void;
  isRunning(): boolean;
}

/** `work` hears whether its turn still counts: what it has loaded otherwise is not to be shown. It must not reject. */
export function restartableTask(work: (isCurrent: () => boolean) => Promise<void>): RestartableTask {
  let turn = 0;
  let underWay: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  function restart(): Promise<void> {
    const mine = ++turn;
    next = null;
    const done = work(() => mine === turn).finally(() => {
      if (mine === turn) underWay = null;
    });
    underWay = done;
    return done;
  }

  return {
    run() {
      if (!underWay) return restart();
      const before = turn;
      next ??= underWay.then(() => (turn === before ? restart() : undefined));
      return next;
    },
    restart,
    cancel() {
      turn++;
      underWay = null;
      next = null;
    },
    isRunning: () => underWay !== null,
  };
}
