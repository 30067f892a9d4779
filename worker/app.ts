import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context, ExecutionContext, MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { createFinishResponse } from "./http/finish-response.ts";
import type { AppEnv } from "./http/app-env.ts";
import { createFloodGuard } from "./http/flood-guard.ts";
import { renderFailure, toFailure } from "./http/errors.ts";
import { invalidInput } from "./lib/schemas/invalid-input.ts";
import { rejectUpgrade, wantsSocket } from "./http/upgrade.ts";
import { Failure } from "./lib/errors.ts";
import { type Area, AREAS, type Router } from "./routes/areas.ts";

type Middleware = readonly [finishResponse: MiddlewareHandler<AppEnv>, floodGuard: MiddlewareHandler<AppEnv>];

/** The API, which loads each of its areas at the first request to it. */
export class Api {
  readonly #areas: Area[];
  readonly #bySegment: Map<string, Area>;
  readonly #middleware: Middleware = [createFinishResponse(), createFloodGuard()];
  readonly #apps = new Map<Area | undefined, Router>();
  #whole: Router | undefined;

  constructor(areas = AREAS) {
    this.#areas = areas;
    this.#bySegment = new Map(areas.flatMap((area) => area.segments.map((segment) => [segment, area] as const)));
  }

  fetch(request: Request, env: Env, ctx: ExecutionContext): Response | Promise<Response> {
    const area = this.#bySegment.get(firstSegment(request.url));
    const app = this.#apps.get(area);
    if (app) return app.fetch(request, env, ctx);
    // Any app answers a preflight request, so none is loaded for it.
    return this.#load(request.method === "OPTIONS" ? undefined : area).then((loaded) => loaded.fetch(request, env, ctx));
  }

  async #load(area: Area | undefined): Promise<Router> {
    const app = createApp(area ? await area.load(this) : [], this.#middleware);
    this.#apps.set(area, app);
    return app;
  }

  /** All areas in one app, as the OpenAPI document describes them. */
  async whole(): Promise<Router> {
    const routers = await Promise.all(this.#areas.map((area) => area.load(this)));
    return (this.#whole ??= createApp(routers.flat(), this.#middleware));
  }
}

/** The first segment of a URL's path. */
function firstSegment(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2) + 1;
  let end = start;
  while (end < url.length && !"/?#".includes(url.charAt(end))) end++;
  return url.slice(start, end);
}

/** The app of some areas' routers. Imports nothing from the platform, so that the OpenAPI document can be emitted in plain Node. */
function createApp(routers: Router[], [finishResponse, floodGuard]: Middleware): Router {
  const app = new OpenAPIHono<AppEnv>({
    strict: false,
    defaultHook: (result, c) => {
      if (!result.success) throw invalidInput(result.error, result.target, c.get("operation")?.input.invalidMessage);
    },
  });
  app.use(finishResponse);
  app.options("*", cors({ origin: "*", allowMethods: ["GET", "POST", "PUT", "PATCH", "DELETE"], maxAge: 86400 }));
  app.use(floodGuard);
  const respond = (c: Context<AppEnv>, failure: Failure) => {
    c.set("errorCode", failure.code);
    return wantsSocket(c) ? rejectUpgrade(c, failure) : renderFailure(c, failure);
  };
  app.onError((error, c) => respond(c, toFailure(error, c.get("operation")?.input.invalidMessage)));
  app.notFound((c) => respond(c, noSuchOperation(app, c.req.path)));
  for (const router of routers) app.route("/", router);
  return app;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** A 405 that lists the path's methods if it has any, otherwise a 404. */
function noSuchOperation(app: OpenAPIHono<AppEnv>, path: string): Failure {
  const allowed = METHODS.filter((method) => app.router.match(method, path)[0].some(([[, route]]) => route.path !== "/*"));
  if (allowed.length === 0) return new Failure("not_found", "No such operation");
  return new Failure("method_not_allowed", `This path supports ${allowed.join(", ")}`, { headers: { Allow: allowed.join(", ") } });
}
