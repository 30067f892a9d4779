import type { Context, MiddlewareHandler } from "hono";
import { sha256 } from "../lib/crypto.ts";
import type { AppEnv } from "./app-env.ts";

/** Marks a single resource with its version, to be compared by If-None-Match and If-Match (RFC 9110, section 13). */
export function tagVersion(c: Context<AppEnv>, row: { version: number }): void {
  c.header("ETag", `"v${row.version}"`);
}

/** Marks a text that is made anew for each caller by what it says. */
export async function tagText(c: Context<AppEnv>, text: string): Promise<void> {
  c.header("ETag", `"${(await sha256(text)).slice(0, 32)}"`);
}

/** Nothing is cached unless an operation says so; a GET whose ETag the caller has already is answered with 304. */
export const conditional: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  if (c.res.status === 101) return;
  if (!c.res.headers.has("Cache-Control")) c.header("Cache-Control", "no-store");
  const tag = c.res.headers.get("ETag");
  const known = c.req.header("If-None-Match");
  if (c.req.method !== "GET" || tag === null || known === undefined || c.res.status !== 200) return;
  if (known.split(",").some((other) => ["*", tag].includes(other.trim().replace(/^W\//, "")))) {
    c.res = new Response(null, { status: 304, headers: { ETag: tag, "Cache-Control": c.res.headers.get("Cache-Control") ?? "no-store" } });
  }
};
