import { nudgeLogs } from "#worker/services/core/context.ts";
import type { Step } from "#worker/http/app-env.ts";

/** Wakes the logs of the sites that the handler has changed. */
export const wakeLogs: Step = async (c, next) => {
  await next();
  nudgeLogs(c.get("ctx"));
};
