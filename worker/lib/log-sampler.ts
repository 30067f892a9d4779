const WINDOW_MS = 1_000;

/** One of so many lines is written beyond the rate. */
export const SAMPLED = 100;

/**
 * Which of an isolate's log lines are written: all up to a number a second, and of the others one in a hundred. Writing a line takes a third
 * of the time of a request that only validates its input.
 */
export class LogSampler {
  #window = 0;
  #lines = 0;

  /** How many lines the next one stands for; 0 if it isn't written. `rate` is the number a second, 0 for no limit. */
  weigh(rate: number, now: number): number {
    if (!(rate > 0)) return 1;
    if (now - this.#window >= WINDOW_MS) {
      this.#window = now;
      this.#lines = 0;
    }
    this.#lines++;
    if (this.#lines <= rate) return 1;
    return (this.#lines - rate) % SAMPLED === 0 ? SAMPLED : 0;
  }
}
