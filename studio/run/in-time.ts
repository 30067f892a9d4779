/** How long a request of the desk may last, with all attempts of the client. */
const REQUEST_MS = 10_000;

/**
 * Options of a request that fails unless it is answered soon, because what an operator presses must not happen a minute later. Only for
 * requests that may be sent anew after their answer was lost: a generation has one take, what is cleared, held or paused stays so, and the
 * quick bar keeps the key of a press without an answer.
 */
export function inTime(): { signal: AbortSignal } {
  return { signal: AbortSignal.timeout(REQUEST_MS) };
}
