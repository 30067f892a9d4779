import { reconnectDelay } from "../channel/backoff.ts";

/** How the client repeats what failed on the way. */
export interface RetryOptions {
  /** Tries in all. Default 4; 1 repeats nothing. */
  attempts?: number;
  random?: () => number;
  sleep?: (milliseconds: number) => Promise<void>;
}

type Fetch = (request: Request) => Promise<Response>;

// Answers by which the server says that it did nothing and may be asked again.
const ASK_AGAIN: readonly number[] = [429, 502, 503, 504];
const WRITES: readonly string[] = ["POST", "PUT", "PATCH", "DELETE"];
const LONGEST_WAIT = 30_000;

/**
 * Repeats requests that got no answer, or one that asks for patience (`Retry-After` is obeyed, else full jitter). Every write carries an
 * `Idempotency-Key`, the same on each try, so that none runs twice.
 */
export function withRetries(fetch: Fetch, { attempts = 4, random = Math.random, sleep = pause }: RetryOptions = {}): Fetch {
  return async (request) => {
    if (WRITES.includes(request.method) && !request.headers.has("Idempotency-Key")) {
      request.headers.set("Idempotency-Key", crypto.randomUUID());
    }
    for (let attempt = 0; ; attempt++) {
      const last = attempt + 1 >= attempts;
      try {
        const response = await fetch(request.clone());
        if (last || !ASK_AGAIN.includes(response.status)) return response;
        await response.body?.cancel();
        await sleep(waitOf(response) ?? reconnectDelay(attempt, random));
      } catch (error) {
        if (last || request.signal.aborted) throw error;
        await sleep(reconnectDelay(attempt, random));
      }
    }
  };
}

/** Milliseconds that the server asks for, in whole seconds or none. */
function waitOf(response: Response): number | undefined {
  const seconds = Number(response.headers.get("Retry-After") ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(seconds * 1000, LONGEST_WAIT) : undefined;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
