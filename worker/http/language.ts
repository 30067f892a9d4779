import type { Context } from "hono";
import type { AppEnv } from "./app-env.ts";

/** The first language of an Accept-Language header, which browsers sort by preference. */
export function preferredLanguage(header: string | undefined): string | null {
  return /^\s*([a-z]{2,3}(?:-[a-z0-9]{2,8}){0,2})(?![a-z0-9-])/i.exec(header ?? "")?.[1] ?? null;
}

/** What a request says about its viewer besides the account; the country is Cloudflare's. */
export function connectionAttributes(c: Context<AppEnv>): { language: string | null; country: string | null } {
  return { language: preferredLanguage(c.req.header("Accept-Language")), country: c.req.header("CF-IPCountry") ?? null };
}
