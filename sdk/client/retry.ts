import { reconnectDelay } from "../channel/backoff.ts";

/** How the client repeats what failed on the way. */
export interface RetryOptions {
  /** Tries in all. Default 4; 1 repeats nothing. */
  attempts?: number;
  /** Milliseconds within which a try's answer begins, but for uploads (a body that isn't JSON), which take what they take. Default 30,000. */
  timeout?: number;
  random?: () => number;
  /** Resolves after so many milliseconds, or once the signal is aborted. */
  sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

type Fetch = (request: Request) => Promise<Response>;

// Answers by which the server says that it did nothing and may be asked again.
const ASK_AGAIN: readonly number[] = [429, 502, 503, 504];
const WRITES: readonly string[] = ["POST", "PUT", "PATCH", "DELETE"];
const LONGEST_WAIT = 30_000;
const TIMEOUT = 30_000;

/**
 * Repeats requests that got no answer, or one that asks for patience: `Retry-After` is obeyed, and where it asks for more than half a
 * minute the answer is the caller's; without it, full jitter. Every write carries an `Idempotency-Key`, the same on each try, so that none
 * runs twice. The request's signal ends it at any moment.
 */
export function withRetries(
  fetch: Fetch,
  { attempts = 4, timeout = TIMEOUT, random = Math.random, sleep = pause }: RetryOptions = {},
): Fetch {
  return async (request) => {
    const { signal } = request;
    if (WRITES.includes(request.method) && !request.headers.has("Idempotency-Key")) {
      request.headers.set("Idempotency-Key", crypto.randomUUID());
    }
    for (let attempt = 0; ; attempt++) {
      const last = attempt + 1 >= attempts;
      const jitter = reconnectDelay(attempt, random);
      try {
        const response = await fetchWithin(fetch, request, timeout);
        const wait = waitOf(response) ?? jitter;
        if (last || !ASK_AGAIN.includes(response.status) || wait > LONGEST_WAIT) return response;
        await response.body?.cancel();
        await sleep(wait, signal);
      } catch (error) {
        if (last || signal.aborted) throw error;
        await sleep(jitter, signal);
      }
    }
  };
}

/** One try. One that hangs is given up, and counts as failed. */
async function fetchWithin(fetch: Fetch, request: Request, timeout: number): Promise<Response> {
  const { signal } = request;
  const ending = new AbortController();
  const end = () => ending.abort(signal.reason);
  if (signal.aborted) end();
  signal.addEventListener("abort", end);
  const timer = isUpload(request) ? undefined : setTimeout(end, timeout);
  try {
    return await fetch(new Request(request.clone(), { signal: ending.signal }));
  } finally {
    clearTimeout(timer);
  }
}

function isUpload({ headers }: Request): boolean {
  return headers.has("Content-Type") && headers.get("Content-Type") !== "application/json";
}

/** Milliseconds that the server asks for. */
function waitOf(response: Response): number | undefined {
  const seconds = Number(response.headers.get("Retry-After") ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener("abort", end, { once: true });
    function end(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    }
    if (signal.aborted) end();
  });
}
