import type { Context } from "hono";
import { CLOSE } from "#worker/durable-objects/relay/relay.protocol.ts";
import { ERRORS, type Failure } from "#worker/lib/errors.ts";
import { logError } from "#worker/lib/log.ts";
import { closedSocket } from "#worker/services/realtime/realtime.ts";
import type { AppEnv } from "./app-env.ts";

const CLOSE_BY_STATUS: Record<number, number> = {
  401: CLOSE.unauthenticated,
  403: CLOSE.forbidden,
  404: CLOSE.notFound,
  405: CLOSE.notFound,
  429: CLOSE.tooMany,
  500: CLOSE.internal,
  503: CLOSE.unavailable,
};

/** Whether the request asks for a WebSocket of the realtime API. */
export function wantsSocket(c: Context<AppEnv>): boolean {
  return c.req.path.startsWith("/realtime/") && c.req.header("Upgrade")?.toLowerCase() === "websocket";
}

/** A browser can't read the HTTP status of a rejected upgrade, so the error is sent over the socket, which closes with a matching code. */
export function rejectUpgrade(c: Context<AppEnv>, failure: Failure): Response {
  const close = CLOSE_BY_STATUS[ERRORS[failure.code].status] ?? CLOSE.badRequest;
  if (close === CLOSE.internal) logError("upgrade_failed", failure.cause ?? failure, { requestId: c.get("requestId") });
  return closedSocket({ close, code: failure.code, message: failure.message });
}
