/**
 * Coalesces requests for the same work: a caller waits for the first full run that starts after its call, and all calls during a run share
 * the next one. So nobody waits for more than the current run and the next.
 */
export class CoalescedRunner {
  readonly #work: () => Promise<void>;
  #current: Promise<unknown> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Whether a caller waits for a run after the current one. */
  get awaited(): boolean {
    return this.#next !== undefined;
  }

  run(): Promise<void> {
    this.#next ??= this.#current.then(() => this.#start());
    return this.#next;
  }

  #start(): Promise<void> {
    this.#next = undefined;
    const run = this.#work();
    this.#current = run.catch(() => undefined);
    return run;
  }
}
