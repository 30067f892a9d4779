import type { OpenAPIHono } from "@hono/zod-openapi";
import type { AppEnv } from "#worker/http/app-env.ts";
import { bufferBody } from "#worker/http/middleware/body.ts";

const MAX_BYTES = 256 * 1024;

/** Serves the Model Context Protocol at `/mcp`. Its SDK is only evaluated when the first client calls. */
export function mountMcp(app: OpenAPIHono<AppEnv>): void {
  app.all("/mcp", async (c) => {
    await bufferBody(c, MAX_BYTES);
    const { serveMcp } = await import("./server.ts");
    return serveMcp(app, c);
  });
}
