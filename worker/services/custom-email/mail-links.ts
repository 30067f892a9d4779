import { eq } from "drizzle-orm";
import type { Db } from "#db/client.ts";
import { sites } from "#db/schema/sites.ts";

/** The `purpose` parameter of a link to an origin's default page, which tells the page what the token is for. */
export type LinkPurpose = "new-password" | "verify-email" | "global-account";

/** What an email contains: a link, a code to paste, or both. */
export interface MailedToken {
  link?: string | undefined;
  code?: string | undefined;
}

/**
 * A token as an email shows it. `baseUrl` is the page given in the request. Without one, the link points to the site's first allowed origin,
 * and the email also shows the token as a code, since that page may not handle it.
 */
export async function mailedToken(
  db: Db,
  siteId: string,
  { baseUrl, token, purpose }: { baseUrl: string; token: string; purpose: LinkPurpose },
): Promise<MailedToken> {
  if (baseUrl !== "") return { link: withParams(baseUrl, { token }), code: undefined };
  const [site] = await db.select({ settings: sites.settings }).from(sites).where(eq(sites.id, siteId));
  const origin = site?.settings.security.allowedOrigins[0];
  return { link: origin === undefined ? undefined : withParams(origin, { token, purpose }), code: token };
}

function withParams(url: string, params: Record<string, string>): string {
  const link = new URL(url);
  for (const [name, value] of Object.entries(params)) link.searchParams.set(name, value);
  return link.href;
}
