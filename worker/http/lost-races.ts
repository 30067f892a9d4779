import type { Context, Next } from "hono";
import { Failure, LostRace } from "#worker/lib/errors.ts";
import type { AppEnv } from "./app-env.ts";

/** Attempts of a request that loses to others which write the same row at the same time. */
const ATTEMPTS = 2;
/** The same of one whose change commutes with theirs: each round one of them wins. */
const COMMUTING_ATTEMPTS = 30;
const LONGEST_PAUSE_MS = 20;

/**
 * A handler that runs again where another request changed the row between its read and its write: it reads the new row, so that If-Match
 * is compared with that, and applies the change to it. Only where nothing has been written yet: a batch that loses leaves nothing behind.
 */
export function rerunLostRaces<C extends Context<AppEnv>, R>(
  route: { responses: object },
  handler: (c: C, next: Next) => R,
): (c: C, next: Next) => R {
  // A proxy, since a function that waits for the answer would have another type than the route asks for.
  return new Proxy(handler, { apply: (target, _self, [c, next]: [C, Next]) => repeat(c, route, async () => target(c, next)) });
}

async function repeat<R>(
  { var: { usage, ctx, commutes } }: Context<AppEnv>,
  route: { responses: object },
  run: () => Promise<R>,
): Promise<R> {
  const attempts = commutes ? COMMUTING_ATTEMPTS : ATTEMPTS;
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

/** So that those who lost together don't meet again. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * LONGEST_PAUSE_MS));
}
