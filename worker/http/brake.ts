import type { MiddlewareHandler } from "hono";
import { Failure } from "../lib/errors.ts";
import type { AppEnv } from "./app-env.ts";
import { callerAddress } from "./limits.ts";

/** Stops floods from one address before they cost anything: permissive and per location, so exact quotas lie elsewhere. */
export const brake: MiddlewareHandler<AppEnv> = async (c, next) => {
  const { success } = await c.env.BRAKE.limit({ key: callerAddress(c) });
  if (!success) throw new Failure("rate_limited", "Too many requests from this address", { headers: { "Retry-After": "10" } });
  await next();
};
