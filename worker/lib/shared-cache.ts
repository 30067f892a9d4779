import { isTimeout, withTimeout } from "#worker/lib/time/with-timeout.ts";

const MAX_WAITS = 2;

interface Entry<T> {
  /** ms; while it loads, Infinity. */
  until: number;
  isLoading: boolean;
  result: Promise<T>;
}

/** A loaded value, and for how long it is used (ms). */
export interface Loaded<T> {
  value: T;
  freshMs: number;
}

/**
 * What the requests of an isolate share, by key: one of them loads, the others wait for it. If it dies with its request, the first of
 * those that wait loads again. A failure is repeated for `failedMs`.
 */
export class SharedCache<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #options: { max: number; waitMs: number; failedMs: number };

  constructor(options: { max: number; waitMs: number; failedMs: number }) {
    this.#options = options;
  }

  /** `defer` lets the load finish for the others if this request ends early; without it, they load again. */
  async get(key: string, load: () => Promise<Loaded<T>>, defer: (work: Promise<unknown>) => void = ignore, waits = 0): Promise<T> {
    const known = this.#entries.get(key);
    if (!known || known.until <= Date.now()) return this.#load(key, load, defer);
    if (!known.isLoading) return known.result;
    try {
      return await withTimeout(known.result, this.#options.waitMs);
    } catch (error) {
      if (!isTimeout(error) || waits === MAX_WAITS) throw error;
      if (this.#entries.get(key) === known) this.#entries.delete(key);
      return this.get(key, load, defer, waits + 1);
    }
  }

  /** Replaces what is known, by a value that a request has learned otherwise. */
  put(key: string, { value, freshMs }: Loaded<T>): void {
    this.#remember(key, { until: Date.now() + freshMs, isLoading: false, result: Promise.resolve(value) });
  }

  /** The next request loads again. */
  drop(key: string): void {
    this.#entries.delete(key);
  }

  async #load(key: string, load: () => Promise<Loaded<T>>, defer: (work: Promise<unknown>) => void): Promise<T> {
    let freshMs = this.#options.failedMs;
    const loading = load().then((loaded) => {
      freshMs = loaded.freshMs;
      return loaded.value;
    });
    const entry: Entry<T> = { until: Infinity, isLoading: true, result: loading };
    this.#remember(key, entry);
    const settled = loading.then(
      () => undefined,
      () => undefined,
    );
    defer(settled);
    await settled;
    entry.until = Date.now() + freshMs;
    entry.isLoading = false;
    return entry.result;
  }

  #remember(key: string, entry: Entry<T>): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#options.max && oldest !== undefined) this.#entries.delete(oldest);
  }
}

function ignore(): void {}
