import { OpenAPIHono } from "@hono/zod-openapi";
import type { ExecutionContext } from "hono";
import type { AppEnv } from "#worker/http/app-env.ts";
import { bufferBody } from "#worker/http/middleware/body.ts";

const MAX_BYTES = 256 * 1024;

/** The API as its tools call it. */
export interface InProcessApi {
  fetch: (request: Request, env: Env, ctx: ExecutionContext) => Response | Promise<Response>;
  /** An app with all operations. */
  whole: () => Promise<OpenAPIHono<AppEnv>>;
}

/** Serves the Model Context Protocol at `/mcp`. Its SDK is only evaluated when the first client calls. */
export function mcpRouter(api: InProcessApi): OpenAPIHono<AppEnv> {
  const router = new OpenAPIHono<AppEnv>();
  router.all("/mcp", async (c) => {
    await bufferBody(c, MAX_BYTES);
    const { serveMcp } = await import("./server.ts");
    return serveMcp(api, c);
  });
  return router;
}
