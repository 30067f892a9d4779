import { TifoProblem } from "#sdk/client/index.ts";

/**
 * Whether an error is the server's answer. If not, nobody knows whether the request was done: no answer came, it failed on the way, or the
 * first attempt is still running. Sent again, it then needs the same Idempotency-Key; after an answer, a new one.
 */
export function isAnswer(error: unknown): boolean {
  return error instanceof TifoProblem && error.status >= 400 && error.status < 500 && error.code !== "idempotency_in_flight";
}
