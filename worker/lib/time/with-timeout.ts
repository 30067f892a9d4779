/** The promise's result, or an error after `ms` milliseconds; the work itself goes on. */
export async function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Runs work that heeds a signal, which is aborted with a TimeoutError after `ms` milliseconds. The timer ends with the work: that of
 * `AbortSignal.timeout` would run on, and the platform allows 10,000 at once.
 */
export async function withDeadline<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(lateness(ms)), ms);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** What calls of one deadline share. */
interface Window {
  begun: number;
  signal: AbortSignal;
  timer: ReturnType<typeof setTimeout>;
  /** Calls that are under way. */
  calls: number;
}

/** For how long calls that begin share a timer, in milliseconds. */
const WINDOW_MS = 250;

/**
 * `withDeadline` for calls that are many and short: those that begin within a quarter of a second share a timer and a signal, which each
 * call would else pay a tenth of its time for. So a call may take up to that much longer than `ms`. No timer outlives the calls.
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
    if (this.#window && now - this.#window.begun < WINDOW_MS) return this.#window;
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(lateness(this.ms)), this.ms + WINDOW_MS);
    this.#window = { begun: now, signal: controller.signal, timer, calls: 0 };
    return this.#window;
  }

  #close(window: Window): void {
    clearTimeout(window.timer);
    if (this.#window === window) this.#window = undefined;
  }
}

function lateness(ms: number): DOMException {
  return new DOMException(`No answer within ${ms} ms: timeout`, "TimeoutError");
}
