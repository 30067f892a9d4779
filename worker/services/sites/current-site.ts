import { eq } from "drizzle-orm";
import { type SiteRow, sites } from "#db/schema/sites.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { invalid, notFound } from "#worker/lib/errors.ts";

export async function getSite(ctx: Ctx): Promise<SiteRow> {
  const [site] = await ctx.db.select().from(sites).where(eq(sites.id, ctx.siteId));
  if (!site) throw notFound("Site not found");
  return site;
}

/** A 400 unless a siteId in a body is the caller's own. */
export function requireOwnSite(ctx: Ctx, siteId: string | undefined): void {
  if (siteId !== undefined && siteId !== ctx.siteId) throw invalid("siteId", "Must equal Tifo-Client-Id");
}

/** A 400 at `path` unless the URL's origin is listed by the site or, in development, is loopback. */
export async function requireAllowedUrl(ctx: Ctx, path: string, url: string, site?: SiteRow): Promise<void> {
  const { origin, protocol, hostname, username, password } = new URL(url);
  const { allowedOrigins } = (site ?? (await getSite(ctx))).settings.security;
  const onLoopback = ctx.env.TIFO_DEVELOPMENT === "true" && protocol === "http:" && ["localhost", "127.0.0.1"].includes(hostname);
  if ((allowedOrigins.includes(origin) || onLoopback) && username === "" && password === "") return;
  throw invalid(path, "Its origin is not among the site's settings.security.allowedOrigins");
}

/** Whether a URL is a page of this deployment's Studio that links of this site may open, such as `join`, and nothing else. */
export function isStudioPage(ctx: Ctx, url: string, apiOrigin: string, page: "join" | "reset" | "reset-global"): boolean {
  return url === `${apiOrigin}/studio/${page}?site=${ctx.siteId}`;
}
