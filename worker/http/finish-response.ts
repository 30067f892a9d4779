import type { Context, MiddlewareHandler, Next } from "hono";
import { isFault } from "#worker/lib/errors.ts";
import { LogSampler } from "#worker/lib/log-sampler.ts";
import { handOverTo, RequestRecorder } from "#worker/services/insights/request-recorder.ts";
import { recordsRequests } from "#worker/services/insights/requests.ts";
import { hasAlerts } from "#worker/services/operations/alert-rules.ts";
import { IsolateMetrics } from "#worker/services/operations/isolate-metrics.ts";
import { addRequestCounts } from "#worker/services/operations/request-counts.ts";
import type { AppEnv } from "./app-env.ts";
import { respondNotModified } from "./conditional.ts";
import { numberOf } from "#worker/lib/variables.ts";

const REQUEST_ID = /^[\w.:-]{8,100}$/;
const READABLE = "Content-Range,ETag,Idempotent-Replayed,Location,RateLimit,RateLimit-Policy,Retry-After,Tifo-Bookmark,Tifo-Request-Id";

/** Wraps every request: assigns its id (the caller's if valid), completes the response headers, counts it and writes one log line. */
export function createFinishResponse(): MiddlewareHandler<AppEnv> {
  const isolate: Isolate = {
    metrics: new IsolateMetrics(),
    sampler: new LogSampler(),
    faultSampler: new LogSampler(),
    recorder: new RequestRecorder(),
  };
  return (c, next) => finishResponse(c, next, isolate);
}

/** What outlives a request. */
interface Isolate {
  metrics: IsolateMetrics;
  sampler: LogSampler;
  /** Of its own, so that other requests don't crowd out the faults. */
  faultSampler: LogSampler;
  recorder: RequestRecorder;
}

async function finishResponse(c: Context<AppEnv>, next: Next, isolate: Isolate): Promise<void> {
  const { metrics, recorder } = isolate;
  const started = Date.now();
  // Each access to a part of a request or response is a call into the runtime.
  const { method, headers } = c.req.raw;
  c.set("metrics", metrics);
  const requested = headers.get("Tifo-Request-Id");
  const requestId = requested !== null && REQUEST_ID.test(requested) ? requested : crypto.randomUUID();
  c.set("requestId", requestId);
  c.set("usage", { roundTrips: 0, statements: 0 });
  await next();
  // The platform sets the headers of an upgrade.
  if (c.res.status !== 101) {
    respondNotModified(c, method);
    setHeaders(c, headers, requestId);
  }
  const { status } = c.res;
  const ended = Date.now();
  const failed = isFault(status, c.get("errorCode"), c.error);
  const request: FinishedRequest = { requestId, method, headers, status, failed, at: started, ms: ended - started };
  metrics.record(c.get("operation"), request, ended);
  if (hasAlerts(c.env)) reportRequests(c, metrics, ended);
  if (recordsRequests(c.env)) recordRequest(c, recorder, request);
  const sampler = failed ? isolate.faultSampler : isolate.sampler;
  const weight = sampler.weigh(numberOf(c.env, "TIFO_LOG_LINES"), ended);
  if (weight > 0) writeLine(c, request, weight);
}

interface FinishedRequest {
  requestId: string;
  method: string;
  headers: Headers;
  status: number;
  failed: boolean;
  at: number;
  ms: number;
}

/** For alerts on the error rate: every five minutes, after the response. */
function reportRequests(c: Context<AppEnv>, metrics: IsolateMetrics, now: number): void {
  const counts = metrics.takeUnreported(now);
  if (counts) c.executionCtx.waitUntil(addRequestCounts(c.env, counts, now));
}

/** For the site's request log, in batches, after the response. Calls that read the log aren't in it: they would fill it. */
function recordRequest(c: Context<AppEnv>, recorder: RequestRecorder, request: FinishedRequest): void {
  const { requestId, method, headers, status, at, ms } = request;
  const operation = c.get("operation");
  const code = c.get("errorCode") ?? null;
  // Neither a preflight nor the Model Context Protocol, whose calls of operations are requests of their own.
  if ((!operation && code === null) || operation?.operationId === "listRequests") return;
  const confirmed = c.get("identity")?.siteId;
  const siteId = recorder.siteOf(confirmed, confirmed ?? headers.get("Tifo-Client-Id") ?? c.req.query("clientId"));
  if (siteId === undefined) return;
  const { path: route = null, operationId = null } = operation ?? {};
  const entry = { at, method, route, operationId, status, ms, requestId, code };
  const handOver = recorder.add(siteId, entry, handOverTo(c.env));
  if (handOver) c.executionCtx.waitUntil(handOver);
}

/**
 * Sets the headers of every response: request id, no type sniffing, https only, no caching unless the operation allows it, and CORS for
 * any origin. Set on the response itself, because Hono's `c.header` rebuilds the response for each header.
 */
function setHeaders(c: Context<AppEnv>, requested: Headers, requestId: string): void {
  const { headers } = c.res;
  headers.set("Tifo-Request-Id", requestId);
  headers.set("X-Content-Type-Options", "nosniff");
  // Browsers ignore it over http, so local servers aren't affected.
  headers.set("Strict-Transport-Security", "max-age=31536000");
  const caching = headers.get("Cache-Control");
  if (caching === null) headers.set("Cache-Control", "no-store");
  // A stored response would give its bookmark to others, and an old one to the caller.
  const bookmark = caching === null || caching.includes("no-store") ? c.get("sessions")?.bookmark() : undefined;
  if (bookmark !== undefined) headers.set("Tifo-Bookmark", bookmark);
  // A cached response is also served to browsers, even if another client requested it first.
  if (caching === null && !requested.has("Origin")) return;
  headers.set("Access-Control-Allow-Origin", "*");
  headers.set("Access-Control-Expose-Headers", READABLE);
}

/** Writes one structured log line; never a header, query or body. `sampled`: the number of requests that it stands for, if several. */
function writeLine(c: Context<AppEnv>, { requestId, method, status, failed, ms }: FinishedRequest, weight: number): void {
  const { roundTrips, statements } = c.get("usage");
  const line = JSON.stringify({
    level: failed ? "error" : "info",
    requestId,
    method,
    route: c.get("operation")?.path,
    status,
    ms,
    siteId: c.get("ctx")?.siteId,
    d1: { roundTrips, statements },
    sampled: weight > 1 ? weight : undefined,
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
