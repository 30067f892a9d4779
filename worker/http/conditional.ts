import type { Context } from "hono";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import type { AppEnv } from "./app-env.ts";

/** Sets the ETag of a single resource from its version, for If-None-Match and If-Match (RFC 9110, section 13). */
export function tagVersion(c: Context<AppEnv>, row: { version: number }): void {
  c.header("ETag", `"v${row.version}"`);
}

/** The same for a response that contains more than the row: If-None-Match compares all of it, If-Match only the row's version. */
export async function tagVersionOf(c: Context<AppEnv>, row: { version: number }, more: string): Promise<void> {
  c.header("ETag", `"v${row.version}-${(await sha256(more)).slice(0, 16)}"`);
}

/** Sets the ETag of a resource's public part. If-Match never accepts it: a write based on it could drop fields that the reader couldn't see. */
export async function tagPublicPart(c: Context<AppEnv>, row: { version: number }, shown = ""): Promise<void> {
  c.header("ETag", `"public-${(await sha256(`${row.version} ${shown}`)).slice(0, 16)}"`);
}

/** Sets the ETag of a generated text from its content. */
export async function tagText(c: Context<AppEnv>, text: string): Promise<void> {
  c.header("ETag", `"${(await sha256(text)).slice(0, 32)}"`);
}

/** Responds with 304 to a GET or HEAD if the caller already has this ETag (RFC 9110, section 13.1.2). */
export function respondNotModified(c: Context<AppEnv>, method: string): void {
  if (!["GET", "HEAD"].includes(method) || c.res.status !== 200) return;
  const known = c.req.header("If-None-Match");
  const tag = known === undefined ? null : c.res.headers.get("ETag");
  if (known === undefined || tag === null) return;
  if (known.split(",").some((other) => ["*", tag].includes(other.trim().replace(/^W\//, "")))) {
    c.res = new Response(null, { status: 304, headers: { ETag: tag, "Cache-Control": c.res.headers.get("Cache-Control") ?? "no-store" } });
  }
}
