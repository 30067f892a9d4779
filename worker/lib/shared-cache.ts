import { firstSuccess, settlesWithin, TimeoutError } from "#worker/lib/time/with-timeout.ts";

/** A request that shares what another one loads has it loaded again after this, because the other may have been cancelled. */
export const SHARED_WAIT_MS = 1_000;
const MAX_LOADS = 3;
/** How many times as long a request waits for the last of them. */
const LAST_WAIT = 10;

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
  /** For how long a failure is repeated. */
  failedMs: number | ((error: unknown) => number);
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
 * What the requests of an isolate share, by key: one of them loads, the others wait for it. If that takes longer than `waitMs`, it may have
 * died with its request: the first of those that wait loads again, and all of them use what succeeds first.
 */
export class SharedCache<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #options: Options<T>;
  #size = 0;

  constructor(options: Options<T>) {
    this.#options = options;
  }

  /** `defer` lets the load finish for the others if this request ends early; without it, they load again. */
  async get(key: string, load: () => Promise<Loaded<T>>, defer: (work: Promise<unknown>) => void = ignore): Promise<T> {
    const joined: Promise<T>[] = [];
    let known = this.#current(key);
    while (known?.isLoading) {
      const result = firstSuccess(joined, known.result);
      const isLast = joined.push(known.result) === MAX_LOADS;
      const waitMs = isLast ? LAST_WAIT * this.#options.waitMs : this.#options.waitMs;
      if (await settlesWithin(result, waitMs)) return result;
      if (isLast) throw new TimeoutError(waitMs);
      if (this.#entries.get(key) === known) this.#forget(key);
      known = this.#current(key);
    }
    return firstSuccess(joined, known?.result ?? this.#load(key, load, defer));
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

  #current(key: string): Entry<T> | undefined {
    const known = this.#entries.get(key);
    return known && known.until > Date.now() ? known : undefined;
  }

  async #load(key: string, load: () => Promise<Loaded<T>>, defer: (work: Promise<unknown>) => void): Promise<T> {
    const loading = load();
    const result = loading.then(({ value }) => value);
    const entry: Entry<T> = { until: Infinity, isLoading: true, result, size: 0 };
    this.#remember(key, entry);
    this.#makeRoom();
    const settled = loading.then(
      ({ value, freshMs }) => ({ freshMs, size: this.#sizeOf(value) }),
      (error: unknown) => ({ freshMs: this.#failedMs(error), size: 0 }),
    );
    defer(settled);
    const { freshMs, size } = await settled;
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

  #failedMs(error: unknown): number {
    const { failedMs } = this.#options;
    return typeof failedMs === "number" ? failedMs : failedMs(error);
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
