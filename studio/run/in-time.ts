/** How long a request of Run may last, with all attempts of the client. */
const REQUEST_MS = 10_000;

/**
 * Options of a request that changes what is on air: it fails unless it is answered soon, because what an operator presses must not happen
 * a minute later. Taking again is safe, because a generation has one take.
 */
export function inTime(): { signal: AbortSignal } {
  return { signal: AbortSignal.timeout(REQUEST_MS) };
}
