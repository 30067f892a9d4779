import { isTimeout, withTimeout } from "#worker/lib/time/with-timeout.ts";

/** A request that shares what another one loads loads it itself after this, because the other may have been cancelled. */
export const SHARED_WAIT_MS = 1_000;
const MAX_WAITS = 2;

interface Entry<T> {
  /** ms; while it loads, Infinity. */
  until: number;
  isLoading: boolean;
  result: Promise<T>;
  /** 0 while it loads. */
  size: number;
}

interface Options<T> {
  /** Entries at most; the oldest give way. */
  max: number;
  waitMs: number;
  failedMs: number;
  /** The size of a value, if what all of them have together is limited too: by `maxSize`, in the same unit. */
  sizeOf?: (value: T) => number;
  maxSize?: number;
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
  readonly #options: Options<T>;
  #size = 0;

  constructor(options: Options<T>) {
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
      if (this.#entries.get(key) === known) this.#forget(key);
      return this.get(key, load, defer, waits + 1);
    }
  }

  /** Replaces what is known, by a value that a request has learned otherwise. */
  put(key: string, { value, freshMs }: Loaded<T>): void {
    this.#remember(key, { until: Date.now() + freshMs, isLoading: false, result: Promise.resolve(value), size: this.#sizeOf(value) });
    this.#makeRoom();
  }

  /** The next request loads again. */
  drop(key: string): void {
    this.#forget(key);
  }

  async #load(key: string, load: () => Promise<Loaded<T>>, defer: (work: Promise<unknown>) => void): Promise<T> {
    let freshMs = this.#options.failedMs;
    let size = 0;
    const loading = load().then((loaded) => {
      freshMs = loaded.freshMs;
      size = this.#sizeOf(loaded.value);
      return loaded.value;
    });
    const entry: Entry<T> = { until: Infinity, isLoading: true, result: loading, size: 0 };
    this.#remember(key, entry);
    this.#makeRoom();
    const settled = loading.then(
      () => undefined,
      () => undefined,
    );
    defer(settled);
    await settled;
    entry.until = Date.now() + freshMs;
    entry.isLoading = false;
    // It may have given way while it was loading.
    if (this.#entries.get(key) === entry) {
      entry.size = size;
      this.#size += size;
      this.#makeRoom();
    }
    return entry.result;
  }

  #sizeOf(value: T): number {
    return this.#options.sizeOf?.(value) ?? 0;
  }

  #remember(key: string, entry: Entry<T>): void {
    this.#forget(key);
    this.#entries.set(key, entry);
    this.#size += entry.size;
  }

  #forget(key: string): void {
    this.#size -= this.#entries.get(key)?.size ?? 0;
    this.#entries.delete(key);
  }

  /** The oldest give way. Those without a size are on their way and free nothing. */
  #makeRoom(): void {
    const { max, maxSize = Infinity } = this.#options;
    for (const [key, { size }] of this.#entries) {
      const isTooLarge = this.#size > maxSize;
      if (this.#entries.size <= max && !isTooLarge) return;
      if (this.#entries.size > max || size > 0) this.#forget(key);
    }
  }
}

function ignore(): void {}
