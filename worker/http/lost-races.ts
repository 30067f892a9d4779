import type { Context, Next } from "hono";
import { Failure, LostRace } from "#worker/lib/errors.ts";
import type { AppEnv } from "./app-env.ts";

/** Attempts of a request that loses to concurrent writes of the same row. */
const ATTEMPTS = 2;
/** The same for changes that commute: in each round one of them wins. */
const COMMUTING_ATTEMPTS = 30;
const MAX_PAUSE_MS = 20;

/**
 * A handler that reruns if another request changed the row between its read and its write: it reads the new row, compares If-Match with
 * it, and applies the change to it. Only if nothing has been written yet: a batch that loses is rolled back.
 */
export function rerunLostRaces<C extends Context<AppEnv>, R>(
  route: { responses: object },
  handler: (c: C, next: Next) => R,
): (c: C, next: Next) => R {
  // A proxy, because an async wrapper wouldn't have the type that the route expects.
  return new Proxy(handler, { apply: (target, _self, [c, next]: [C, Next]) => runWithRetries(c, route, () => target(c, next)) });
}

async function runWithRetries(c: Context<AppEnv>, route: { responses: object }, run: () => unknown): Promise<unknown> {
  const usage = c.get("usage");
  const ctx = c.get("ctx");
  const attempts = c.get("operation")?.retries.commutes ? COMMUTING_ATTEMPTS : ATTEMPTS;
  const { writes } = usage;
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof LostRace)) throw error;
      if (attempt === attempts || usage.writes !== writes)
        throw ctx.ifMatch && "412" in route.responses ? new Failure("precondition_failed", error.message) : error;
      ctx.attempt = attempt + 1;
      if (attempt > 1) await pause();
    }
  }
}

/** Keeps requests that lost together from colliding again. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * MAX_PAUSE_MS));
}
