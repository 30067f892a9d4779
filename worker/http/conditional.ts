import type { Context } from "hono";
import { sha256 } from "#worker/lib/crypto/crypto.ts";
import type { AppEnv } from "./app-env.ts";

/** Marks a single resource with its version, to be compared by If-None-Match and If-Match (RFC 9110, section 13). */
export function tagVersion(c: Context<AppEnv>, row: { version: number }): void {
  c.header("ETag", `"v${row.version}"`);
}

/** The same where more is answered than the row: this too is compared by If-None-Match, and the row's version alone by If-Match. */
export async function tagVersionOf(c: Context<AppEnv>, row: { version: number }, more: string): Promise<void> {
  c.header("ETag", `"v${row.version}-${(await sha256(more)).slice(0, 16)}"`);
}

/** Marks the public part of a resource. If-Match never accepts it: a change could drop what its reader was not shown. */
export async function tagPublicPart(c: Context<AppEnv>, row: { version: number }, shown = ""): Promise<void> {
  c.header("ETag", `"public-${(await sha256(`${row.version} ${shown}`)).slice(0, 16)}"`);
}

/** Marks a text that is made anew for each caller by what it says. */
export async function tagText(c: Context<AppEnv>, text: string): Promise<void> {
  c.header("ETag", `"${(await sha256(text)).slice(0, 32)}"`);
}

/** A GET or HEAD whose ETag the caller has already is answered with 304 (RFC 9110, section 13.1.2). */
export function omitWhatIsKnown(c: Context<AppEnv>): void {
  if (!["GET", "HEAD"].includes(c.req.method) || c.res.status !== 200) return;
  const known = c.req.header("If-None-Match");
  const tag = known === undefined ? null : c.res.headers.get("ETag");
  if (known === undefined || tag === null) return;
  if (known.split(",").some((other) => ["*", tag].includes(other.trim().replace(/^W\//, "")))) {
    c.res = new Response(null, { status: 304, headers: { ETag: tag, "Cache-Control": c.res.headers.get("Cache-Control") ?? "no-store" } });
  }
}
