import type { Context, MiddlewareHandler } from "hono";
import type { AppEnv } from "./app-env.ts";
import { omitWhatIsKnown } from "./conditional.ts";

const REQUEST_ID = /^[\w.:-]{8,100}$/;
const READABLE = "Content-Range,ETag,Idempotent-Replayed,Location,RateLimit,RateLimit-Policy,Retry-After,Tifo-Request-Id";

/** Around every request: gives it its id (the caller's where that is valid), finishes its answer and writes one line of what became of it. */
export const answer: MiddlewareHandler<AppEnv> = async (c, next) => {
  const started = Date.now();
  const given = c.req.header("Tifo-Request-Id");
  const requestId = given !== undefined && REQUEST_ID.test(given) ? given : crypto.randomUUID();
  c.set("requestId", requestId);
  c.set("usage", { roundTrips: 0, statements: 0 });
  await next();
  // The headers of an upgrade are the platform's.
  if (c.res.status !== 101) {
    omitWhatIsKnown(c);
    finish(c, requestId);
  }
  writeLine(c, requestId, started);
};

/**
 * What every response has: its request's id, that its type isn't guessed, that only https leads here, that nobody keeps it unless the
 * operation says so, and for browsers that any origin may read it.
 * Set on the answer itself: Hono's own way builds the whole answer anew for each header.
 */
function finish(c: Context<AppEnv>, requestId: string): void {
  const { headers } = c.res;
  headers.set("Tifo-Request-Id", requestId);
  headers.set("X-Content-Type-Options", "nosniff");
  // Browsers heed it over https alone, so local servers are left as they are.
  headers.set("Strict-Transport-Security", "max-age=31536000");
  const kept = headers.has("Cache-Control");
  if (!kept) headers.set("Cache-Control", "no-store");
  // What a cache may keep serves browsers too, whoever asked first.
  if (!kept && c.req.header("Origin") === undefined) return;
  headers.set("Access-Control-Allow-Origin", "*");
  headers.set("Access-Control-Expose-Headers", READABLE);
}

/** One structured line; never a header, query or body. */
function writeLine(c: Context<AppEnv>, requestId: string, started: number): void {
  const { status } = c.res;
  const failed = status >= 500;
  const { roundTrips, statements } = c.get("usage");
  const line = JSON.stringify({
    level: failed ? "error" : "info",
    requestId,
    method: c.req.method,
    route: c.get("route"),
    status,
    ms: Date.now() - started,
    siteId: c.get("ctx")?.siteId,
    d1: { roundTrips, statements },
    cause: failed ? describeCause(c.error) : undefined,
  });
  if (failed) console.error(line);
  else console.log(line);
}

function describeCause(error: Error | undefined): string | undefined {
  if (!error) return undefined;
  const cause = error.cause instanceof Error ? error.cause : error;
  return cause.stack ?? cause.message;
}
