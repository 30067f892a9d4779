import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { cors } from "hono/cors";
import { createFinishResponse } from "./http/finish-response.ts";
import type { AppEnv } from "./http/app-env.ts";
import { createFloodGuard } from "./http/flood-guard.ts";
import { renderFailure, toFailure } from "./http/errors.ts";
import { invalidInput } from "./lib/schemas/invalid-input.ts";
import { rejectUpgrade, wantsSocket } from "./http/upgrade.ts";
import { Failure } from "./lib/errors.ts";
import { AREAS } from "./routes/areas.ts";
import { mountMcp } from "./routes/mcp/mount.ts";

/** The whole API. Imports nothing from the platform, so that the OpenAPI document can be emitted in plain Node. */
export function createApp(): OpenAPIHono<AppEnv> {
  const app = new OpenAPIHono<AppEnv>({
    strict: false,
    defaultHook: (result, c) => {
      if (!result.success) throw invalidInput(result.error, result.target, c.get("operation")?.input.invalidMessage);
    },
  });
  app.use(createFinishResponse());
  app.options("*", cors({ origin: "*", allowMethods: ["GET", "POST", "PUT", "PATCH", "DELETE"], maxAge: 86400 }));
  app.use(createFloodGuard());
  const respond = (c: Context<AppEnv>, failure: Failure) => {
    c.set("errorCode", failure.code);
    return wantsSocket(c) ? rejectUpgrade(c, failure) : renderFailure(c, failure);
  };
  app.onError((error, c) => respond(c, toFailure(error, c.get("operation")?.input.invalidMessage)));
  app.notFound((c) => respond(c, noSuchOperation(app, c.req.path)));
  for (const area of AREAS) app.route("/", area);
  mountMcp(app);
  return app;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** A 405 that lists the path's methods if it has any, otherwise a 404. */
function noSuchOperation(app: OpenAPIHono<AppEnv>, path: string): Failure {
  const allowed = METHODS.filter((method) => app.router.match(method, path)[0].some(([[, route]]) => route.path !== "/*"));
  if (allowed.length === 0) return new Failure("not_found", "No such operation");
  return new Failure("method_not_allowed", `This path supports ${allowed.join(", ")}`, { headers: { Allow: allowed.join(", ") } });
}
