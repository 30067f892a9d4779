/**
 * Work that many ask for at once: who asks waits for the first whole run that begins after it, and all who ask during a run share the next.
 * However often it is asked for, nobody waits for more than the run under way and that one.
 */
export class CoalescedRunner {
  readonly #work: () => Promise<void>;
  #current: Promise<unknown> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Whether somebody waits for a run after the one under way. */
  get awaited(): boolean {
    return this.#next !== undefined;
  }

  run(): Promise<void> {
    this.#next ??= this.#current.then(() => this.#begin());
    return this.#next;
  }

  #begin(): Promise<void> {
    this.#next = undefined;
    const run = this.#work();
    this.#current = run.catch(() => undefined);
    return run;
  }
}
