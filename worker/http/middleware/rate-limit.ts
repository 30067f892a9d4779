import type { Context, Next } from "hono";
import type { AppEnv, Step } from "#worker/http/app-env.ts";
import { takeLimit } from "#worker/http/limits.ts";
import type { LimitSpec } from "#worker/http/operation-policy.ts";
import { confirmCaller } from "./confirm-caller.ts";

/**
 * Takes one from the operation's limit (429) for each request, once the caller is confirmed: before any query returns or changes a row
 * and, unless the limit is taken with the first read, before the handler runs.
 */
export function rateLimit({ name, withFirstRead = false }: LimitSpec): Step {
  return async (c, next) => {
    let taken: Promise<void> | undefined;
    const admit = () => (taken ??= confirmCaller(c).then((actor) => takeLimit(c, name, actor)));
    c.get("identity").admit = admit;
    if (!withFirstRead) c.set("admit", admit);
    await next();
    // The client of the database wraps what is thrown within a query, so a 429 is thrown here again.
    if (taken) await taken;
    else if (c.res.ok) throw new Error(`${c.get("operation")?.operationId} succeeded without a read that takes its limit`);
  };
}

/** A handler that runs once the request is within the operation's limit: after validation, so that an invalid request takes nothing. */
export function admitFirst<C extends Context<AppEnv>, R>(handler: (c: C, next: Next) => R): (c: C, next: Next) => R {
  // A proxy, since a function that awaits would have another type than the route asks for.
  return new Proxy(handler, {
    apply: (target, _self, [c, next]: [C, Next]) => {
      const admit = c.get("admit");
      return admit ? admit().then(() => target(c, next)) : target(c, next);
    },
  });
}
