import { isTimeout, TimeoutError, withTimeout } from "#worker/lib/time/with-timeout.ts";
import type { Outcome } from "./branch.protocol.ts";

/** What a call returns within `ms`, without throwing. */
export async function outcomeOf<T>(call: Promise<T>, ms: number): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await withTimeout(call, ms) };
  } catch (error) {
    return { ok: false, late: isTimeout(error), error: String(error) };
  }
}

/** The value of an outcome. Throws the error of a failed call, a TimeoutError of a late one. */
export function valueOf<T>(outcome: Outcome<T>, ms: number): T {
  if (outcome.ok) return outcome.value;
  throw outcome.late ? new TimeoutError(ms) : new Error(outcome.error);
}

/** Throws if any of the calls has failed. */
export function requireAll<T>(outcomes: Outcome<T>[]): T[] {
  return outcomes.map((outcome) => valueOf(outcome, 0));
}
