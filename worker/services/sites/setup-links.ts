import { and, eq, gt } from "drizzle-orm";
import type { AccountRow } from "#db/schema/accounts.ts";
import { setupLinks } from "#db/schema/setup-links.ts";
import type { SiteRow } from "#db/schema/sites.ts";
import { randomToken, sha256 } from "#worker/lib/crypto/crypto.ts";
import { LostRace, notFound } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { commit, commitIfUnchanged, type Ctx } from "#worker/services/core/context.ts";
import type { SetUpSite } from "./setup-schemas.ts";
import { rejectTakenSlug } from "./placement.ts";
import { planSite } from "./sites.ts";

/** Creates the link with which somebody sets up a site without the super key. It replaces the one before. */
export async function createSetupLink(ctx: Ctx, { lifetime }: { lifetime: number }): Promise<{ setupToken: string; expires: number }> {
  const setupToken = `tifo_setup_${randomToken(32)}`;
  const expires = ctx.now + lifetime * 1000;
  const row = { hash: await sha256(setupToken), expires, created: ctx.now };
  await commit(ctx, [ctx.db.delete(setupLinks), ctx.db.insert(setupLinks).values(row)]);
  return { setupToken, expires };
}

/**
 * Creates a site and its first admin with a setup link, which then no longer works. An error, such as a taken slug, leaves it valid. The
 * site is on the first shard, because the link is: one batch uses it and creates the site.
 */
export async function setUpSite(ctx: Ctx, { setupToken, ...input }: SetUpSite): Promise<{ site: SiteRow; admin: AccountRow }> {
  const invalidLink = notFound("The setup link is invalid, expired or already used");
  const isOpen = and(eq(setupLinks.hash, await sha256(setupToken)), gt(setupLinks.expires, ctx.now));
  // Before the password is hashed, which takes as long as everything else together.
  const [open] = await ctx.db.select({ hash: setupLinks.hash }).from(setupLinks).where(isOpen);
  if (!open) throw invalidLink;
  const own: Ctx = { ...ctx, siteId: newId(ctx.now), caller: async () => ({ kind: "system" }) };
  const { site, admin, changes, events } = await planSite(own, input);
  const use = ctx.db.delete(setupLinks).where(isOpen);
  try {
    await rejectTakenSlug(() => commitIfUnchanged(own, [use, ...changes], ...events));
  } catch (error) {
    throw error instanceof LostRace ? invalidLink : error;
  }
  return { site, admin };
}
