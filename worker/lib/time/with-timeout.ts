/** Work took longer than allowed. */
export class TimeoutError extends Error {
  override readonly name = "TimeoutError";

  constructor(ms: number, cause?: unknown) {
    super(`No response within ${ms} ms`, { cause });
  }
}

/** Whether the error or one of its causes is a timeout. */
export function isTimeout(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof TimeoutError) return true;
  return false;
}

/** The promise's result, or a TimeoutError after `ms` milliseconds; the work itself continues. */
export async function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimeoutError(ms)), ms);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether the promise settles within `ms` milliseconds, in whichever way. */
export function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  );
  return withTimeout(settled, ms).catch(() => false);
}

/** The result of the first attempt that succeeds, or else the last one's failure; those before may never settle. */
export function firstSuccess<T>(before: Promise<T>[], last: Promise<T>): Promise<T> {
  return Promise.race([...before.map((attempt) => attempt.catch(() => last)), last]);
}

/**
 * Runs work with a signal that aborts after `ms` milliseconds; what the work throws then becomes a TimeoutError, because the platform
 * doesn't preserve the class of an abort's reason. `AbortSignal.timeout` would keep its timer, and the platform allows 10,000 at a time.
 */
export async function withDeadline<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), ms);
  try {
    return await work(controller.signal);
  } catch (error) {
    throw controller.signal.aborted ? new TimeoutError(ms, error) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** The timer and signal that calls share. */
interface Window {
  started: number;
  signal: AbortSignal;
  timer: ReturnType<typeof setTimeout>;
  /** Calls in progress. */
  calls: number;
}

/** How long new calls join the same timer, in milliseconds. */
const WINDOW_MS = 250;

/**
 * `withDeadline` for many short calls: those that start within a quarter of a second share a timer and a signal, which would otherwise cost
 * six microseconds a call, 4 % of a webhook delivery. So a call may take up to that much longer than `ms`. No timer outlives its calls.
 */
export class SharedDeadline {
  readonly ms: number;
  #window: Window | undefined;

  constructor(ms: number) {
    this.ms = ms;
  }

  async run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const window = this.#current();
    window.calls++;
    try {
      return await work(window.signal);
    } catch (error) {
      throw window.signal.aborted ? new TimeoutError(this.ms, error) : error;
    } finally {
      if (--window.calls === 0) this.#close(window);
    }
  }

  #current(): Window {
    const now = Date.now();
    if (this.#window && now - this.#window.started < WINDOW_MS) return this.#window;
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), this.ms + WINDOW_MS);
    this.#window = { started: now, signal: controller.signal, timer, calls: 0 };
    return this.#window;
  }

  #close(window: Window): void {
    clearTimeout(window.timer);
    if (this.#window === window) this.#window = undefined;
  }
}
