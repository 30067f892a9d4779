import { and, eq, ne, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { accounts, apiKeys, globalAccounts, sites, userProfiles } from "../../db/schema/index.ts";
import { randomToken, sha256 } from "../lib/crypto.ts";
import { invalid, notFound, refuseDuplicate } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { type AccountRow, toAccount } from "../routes/accounts/schemas.ts";
import { type CreateSite, SiteSettings, type SiteRow, toSite, type UpdateSite } from "../routes/sites/schemas.ts";
import { newAccount, profileOf } from "./accounts.ts";
import { commit, commitIfCurrent, type Ctx, newRow, nextVersion } from "./context.ts";

export async function getSite(ctx: Ctx): Promise<SiteRow> {
  const [site] = await ctx.db.select().from(sites).where(eq(sites.id, ctx.siteId));
  if (!site) throw notFound("Site not found");
  return site;
}

/** Replaces what a site may change of itself; features and charge rate stay the operator's. */
export async function updateSite(ctx: Ctx, input: UpdateSite): Promise<SiteRow> {
  requireOwnSite(ctx, input.siteId);
  const current = await getSite(ctx);
  const { name, slug = current.slug, collections, regions, settings, style, shards, tags, devicelimit } = input;
  const next: SiteRow = {
    ...current,
    name,
    slug,
    collections,
    regions,
    settings,
    style,
    shards,
    tags,
    deviceLimit: devicelimit,
    ...nextVersion(ctx, current),
  };
  const change = ctx.db
    .update(sites)
    .set(next)
    .where(and(eq(sites.id, current.id), eq(sites.version, current.version)));
  await refuseTakenSlug(() => commitIfCurrent(ctx, change, { type: "site.updated", resource: `site/${next.id}`, data: toSite(next) }));
  return next;
}

/** Makes a site with its first admin and a developer key that is shown this once: how a deployment gets a site. */
export async function createSite(ctx: Ctx, input: CreateSite): Promise<{ site: SiteRow; admin: AccountRow; developerKey: string }> {
  const { siteId: id, ...stamps } = { ...newRow(ctx), siteId: newId(ctx.now) };
  const site: SiteRow = {
    ...stamps,
    id,
    slug: input.slug,
    name: input.name,
    collections: [],
    regions: {},
    settings: SiteSettings.parse({}),
    style: {},
    features: {},
    shards: [],
    tags: [],
    deviceLimit: 3,
    serviceChargeRate: null,
  };
  const own: Ctx = { ...ctx, siteId: site.id };
  const developerKey = `tifo_dev_${randomToken(24)}`;
  const admin = await newAccount(own, { ...input.admin, marketingOptin: false }, [{ scope: "*", pageId: [], write: true }]);
  const changes = [
    ctx.db.insert(sites).values(site),
    ctx.db.insert(accounts).values(admin),
    ctx.db.insert(userProfiles).values(profileOf(own, admin)),
    ctx.db
      .insert(apiKeys)
      .values({ ...newRow(own), hash: await sha256(developerKey), name: "First key", clientName: null, roles: ["*"], expires: null }),
    ...(await linkGlobalAccount(own, admin)),
  ];
  await refuseTakenSlug(() =>
    commit(
      own,
      changes,
      { type: "site.created", resource: `site/${site.id}`, data: toSite(site) },
      { type: "new_account", resource: `account/${admin.id}`, data: toAccount(admin) },
    ),
  );
  return { site, admin, developerKey };
}

/** Whoever administers several sites under one e-mail is one global account; its password starts as the first site's. */
async function linkGlobalAccount(ctx: Ctx, admin: AccountRow): Promise<BatchItem<"sqlite">[]> {
  const others = await ctx.db
    .select()
    .from(accounts)
    .where(and(eq(accounts.email, admin.email), ne(accounts.siteId, ctx.siteId), sql`json_array_length(${accounts.roles}) > 0`))
    .orderBy(accounts.created);
  const [first] = others;
  if (!first?.passwordHash) return [];
  const globalId = others.find((other) => other.globalAccountId !== null)?.globalAccountId ?? newId(ctx.now);
  admin.globalAccountId = globalId;
  const stamps = { created: ctx.now, modified: ctx.now };
  return [
    ctx.db
      .insert(globalAccounts)
      .values({ ...stamps, id: globalId, email: admin.email, passwordHash: first.passwordHash })
      .onConflictDoNothing(),
    ctx.db
      .update(accounts)
      .set({ globalAccountId: globalId })
      .where(and(eq(accounts.email, admin.email), sql`json_array_length(${accounts.roles}) > 0`)),
  ];
}

function refuseTakenSlug(write: () => Promise<unknown>): Promise<unknown> {
  return refuseDuplicate("sites.slug", "Another site has this slug", write);
}

/** A siteId in a body is the caller's own, or a 400. */
export function requireOwnSite(ctx: Ctx, siteId: string | undefined): void {
  if (siteId !== undefined && siteId !== ctx.siteId) throw invalid("siteId", "Must equal Tifo-Client-Id");
}
