import type { Context } from "hono";
import type { Actor } from "#worker/services/core/context.ts";
import type { AppEnv, Step } from "#worker/http/app-env.ts";

/** Who calls, with a round trip to D1 if no read has checked the credentials yet; throws the 401 or 403. */
export function confirmCaller(c: Context<AppEnv>): Promise<Actor> {
  return c.get("identity").confirm(c.env, c.get("usage"));
}

/** Checks a caller whom no query has checked, also before an error is returned: 401 and 403 take precedence over a 400. */
export const confirmUnchecked: Step = async (c, next) => {
  await next();
  if (c.get("identity").pending()) await confirmCaller(c);
};
