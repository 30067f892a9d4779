import { CALL_MS, ROUND_TRIP_MS } from "./costs.ts";

export const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A simulated Durable Object: one thread, a number of connections, and a memory that it can lose. */
export class SimulatedObject {
  readonly kind: string;
  /** Requests by second. */
  readonly requests = new Map<number, number>();
  readonly #connections: number;
  #open = 0;
  readonly #queue: (() => void)[] = [];
  #busyUntil = 0;
  #generation = 0;

  constructor(kind: string, connections: number) {
    this.kind = kind;
    this.#connections = connections;
  }

  /** Loses what is in progress: its callers get an error, whatever it has done. */
  lose(): void {
    this.#generation++;
    this.#busyUntil = 0;
  }

  /** Handles one request; `work` returns its result and the milliseconds that the object is busy with it. */
  async handle<T>(work: () => Promise<{ result: T; busy: number }>): Promise<T> {
    const generation = this.#generation;
    await wait(ROUND_TRIP_MS / 2);
    const second = Math.floor(Date.now() / 1000);
    this.requests.set(second, (this.requests.get(second) ?? 0) + 1);
    if (generation !== this.#generation) throw new Error(`${this.kind} was reset`);
    const { result, busy } = await work();
    await this.occupy(CALL_MS + busy);
    await wait(ROUND_TRIP_MS / 2);
    if (generation !== this.#generation) throw new Error(`${this.kind} was reset`);
    return result;
  }

  /** Resolves once the object has done this much work. */
  async occupy(ms: number): Promise<void> {
    this.#busyUntil = Math.max(this.#busyUntil, Date.now()) + ms;
    const left = this.#busyUntil - Date.now();
    if (left > 0) await wait(Math.ceil(left));
  }

  /** Makes a call to another object over one of this object's connections. */
  async calling<T>(call: () => Promise<T>): Promise<T> {
    if (this.#open >= this.#connections) await new Promise<void>((resolve) => this.#queue.push(resolve));
    else this.#open++;
    try {
      return await call();
    } finally {
      const next = this.#queue.shift();
      if (next) next();
      else this.#open--;
    }
  }

  get peak(): number {
    return Math.max(0, ...this.requests.values());
  }

  get total(): number {
    let total = 0;
    for (const count of this.requests.values()) total += count;
    return total;
  }
}
