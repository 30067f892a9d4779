import type { MiddlewareHandler } from "hono";
import { randomHex } from "../lib/ids.ts";
import type { AppEnv } from "./app-env.ts";

const REQUEST_ID = /^[\w.:-]{8,100}$/;

/** Gives each request its id (the caller's where it is valid) and writes one line of what became of it; never a header, query or body. */
export const requestLog: MiddlewareHandler<AppEnv> = async (c, next) => {
  const started = Date.now();
  const given = c.req.header("Tifo-Request-Id");
  const requestId = given !== undefined && REQUEST_ID.test(given) ? given : randomHex(12);
  c.set("requestId", requestId);
  c.set("usage", { roundTrips: 0, statements: 0 });
  await next();
  if (c.res.status !== 101) c.header("Tifo-Request-Id", requestId);
  const { status } = c.res;
  const line = {
    level: status >= 500 ? "error" : "info",
    requestId,
    method: c.req.method,
    route: c.var.route,
    status,
    ms: Date.now() - started,
    siteId: c.var.ctx?.siteId,
    d1: c.var.usage,
    cause: status >= 500 ? describeCause(c.error) : undefined,
  };
  if (status >= 500) console.error(JSON.stringify(line));
  else console.log(JSON.stringify(line));
};

function describeCause(error: Error | undefined): string | undefined {
  if (!error) return undefined;
  const cause = error.cause instanceof Error ? error.cause : error;
  return cause.stack ?? cause.message;
}
