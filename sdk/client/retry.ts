import { reconnectDelay } from "../channel/backoff.ts";
import { problemOf } from "./problem.ts";

/** How the client retries failed requests. */
export interface RetryOptions {
  /** Maximum number of attempts. Default 4; 1 disables retries. */
  attempts?: number;
  /** Milliseconds until an attempt without a whole response fails. Bodies that aren't JSON take as long as they take. Default 30,000. */
  timeout?: number;
  random?: () => number;
  /** Resolves after this many milliseconds, or when the signal is aborted. */
  sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

type Fetch = (request: Request) => Promise<Response>;

// Statuses with which the server says that it did nothing and that the request can be retried.
const RETRYABLE: readonly number[] = [429, 502, 503, 504];
/** What the operator hasn't set up, such as Stripe keys, is still missing a second later. */
const PERMANENT = /_not_configured$/;
const WRITES: readonly string[] = ["POST", "PUT", "PATCH", "DELETE"];
const MAX_WAIT = 30_000;
const TIMEOUT = 30_000;

/**
 * Retries requests that got no response or a retryable status, unless the error's code says that it won't go away. It honours
 * `Retry-After`, and returns the response if that is over half a minute; without it, retries use full jitter. Every write has an
 * `Idempotency-Key`, the same for each attempt, so that none runs twice. The request's signal aborts it at any time.
 */
export function withRetries(
  fetch: Fetch,
  { attempts = 4, timeout = TIMEOUT, random = Math.random, sleep = delay }: RetryOptions = {},
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
        const wait = retryAfter(response) ?? jitter;
        if (last || !RETRYABLE.includes(response.status) || wait > MAX_WAIT || (await isPermanent(response))) return response;
        await response.body?.cancel();
        await sleep(wait, signal);
      } catch (error) {
        if (last || signal.aborted) throw error;
        await sleep(jitter, signal);
      }
    }
  };
}

/** Whether the code of an error says that a retry can't succeed. Reads a copy of the body. */
async function isPermanent(response: Response): Promise<boolean> {
  if (response.status !== 503 || !isJson(response)) return false;
  const { code } = await problemOf(response.clone());
  return PERMANENT.test(code);
}

/** One attempt, with the whole of a JSON response. If it hangs, it is aborted and counts as failed. */
async function fetchWithin(fetch: Fetch, request: Request, timeout: number): Promise<Response> {
  const { signal } = request;
  const controller = new AbortController();
  const end = () => controller.abort(signal.reason);
  if (signal.aborted) end();
  signal.addEventListener("abort", end);
  const timer = isUpload(request) ? undefined : setTimeout(end, timeout);
  try {
    const response = await fetch(new Request(request.clone(), { signal: controller.signal }));
    if (isJson(response)) await response.clone().arrayBuffer();
    return response;
  } finally {
    clearTimeout(timer);
  }
}

function isJson({ headers }: Response): boolean {
  return /[/+]json/.test(headers.get("Content-Type") ?? "");
}

function isUpload({ headers }: Request): boolean {
  return headers.has("Content-Type") && headers.get("Content-Type") !== "application/json";
}

/** The server's `Retry-After` in milliseconds. */
function retryAfter(response: Response): number | undefined {
  const seconds = Number(response.headers.get("Retry-After") ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
}

function delay(milliseconds: number, signal: AbortSignal): Promise<void> {
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
