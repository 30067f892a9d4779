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
