/** The promise's result, or an error after `ms` milliseconds; the work itself continues. */
export async function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No response within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Runs work with a signal that aborts with a TimeoutError after `ms` milliseconds. The timer ends with the work: that of
 * `AbortSignal.timeout` would keep running, and the platform allows 10,000 at a time.
 */
export async function withDeadline<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(timeoutError(ms)), ms);
  try {
    return await work(controller.signal);
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
 * a tenth of each call. So a call may take up to that much longer than `ms`. No timer outlives its calls.
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
    } finally {
      if (--window.calls === 0) this.#close(window);
    }
  }

  #current(): Window {
    const now = Date.now();
    if (this.#window && now - this.#window.started < WINDOW_MS) return this.#window;
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(timeoutError(this.ms)), this.ms + WINDOW_MS);
    this.#window = { started: now, signal: controller.signal, timer, calls: 0 };
    return this.#window;
  }

  #close(window: Window): void {
    clearTimeout(window.timer);
    if (this.#window === window) this.#window = undefined;
  }
}

function timeoutError(ms: number): DOMException {
  return new DOMException(`No response within ${ms} ms: timeout`, "TimeoutError");
}
