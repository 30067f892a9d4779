import { and, eq, getTableColumns } from "drizzle-orm";
import type { AccountRow } from "#db/schema/accounts.ts";
import { apiKeys, type SiteRow, sites } from "#db/schema/sites.ts";
import { streamProviders } from "#db/schema/streams/streams.ts";
import { siteThemes } from "#db/schema/themes.ts";
import { forbidden, invalid, notFound } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { type CreateSite, type SiteFeatures, toSite, type UpdateSite } from "./schemas.ts";
import { ManifestSettings } from "./setting-schemas.ts";
import { newSiteRow } from "./site-row.ts";
import { accountEvent, insertAccount, newAccount } from "#worker/services/accounts/account-rows.ts";
import { newKey } from "./api-keys.ts";
import { commit, commitIfUnchanged, type Ctx, isManager, type NewEvent, newRow, nextVersion } from "#worker/services/core/context.ts";
import { requireCanGrantRoles } from "#worker/services/accounts/role-rules.ts";
import { inSegments } from "#worker/services/core/named-references.ts";
import { newReferences, type Reference, referencesExist, withReferences } from "#worker/services/core/references.ts";
import { isSandbox } from "#worker/services/sandboxes/is-sandbox.ts";
import { UserSegments } from "#worker/services/segments/schemas.ts";
import { removedSegments, unusedSegments, whileUnused } from "#worker/services/segments/uses.ts";
import { ctxOf } from "#worker/services/core/databases.ts";
import { getSite, requireOwnSite } from "./current-site.ts";
import { placeSite, rejectTakenSlug, reserveSlug } from "./placement.ts";

/** The site, the id of its admin theme, and whether the caller manages it. */
export async function getSiteWithTheme(ctx: Ctx): Promise<{ site: SiteRow; adminTheme: string | null; manages: boolean }> {
  const [found] = await ctx.db
    .select({ ...getTableColumns(sites), adminTheme: siteThemes.themeId })
    .from(sites)
    .leftJoin(siteThemes, eq(siteThemes.siteId, sites.id))
    .where(eq(sites.id, ctx.siteId));
  if (!found) throw notFound("Site not found");
  const { adminTheme, ...site } = found;
  return { site, adminTheme, manages: isManager(await ctx.caller()) };
}

/** Replaces the site's own settings; features and service charge rate belong to the operator. */
export async function updateSite(ctx: Ctx, input: UpdateSite): Promise<SiteRow> {
  requireOwnSite(ctx, input.siteId);
  const current = await getSite(ctx);
  if (weakensSecurity(current.settings.security, input.settings.security)) await requireCanGrantRoles(ctx);
  if (input.settings.streamProvider !== current.settings.streamProvider) await requireStreamProvider(ctx, input.settings.streamProvider);
  if (input.settings.manifest?.cues.length) await requireNoSandbox(ctx);
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
  const removed = removedSegments(current.settings, settings);
  const references = newReferences(inSettings(settings), inSettings(storedSettings(current)));
  const change = ctx.db
    .update(sites)
    .set(next)
    .where(
      and(eq(sites.id, current.id), eq(sites.version, current.version), unusedSegments(ctx, removed), referencesExist(ctx, references)),
    );
  const event: NewEvent<"site.updated"> = { type: "site.updated", resource: `site/${next.id}`, data: toSite(next) };
  const write = () => commitIfUnchanged(ctx, change, event);
  if (slug !== current.slug) await reserveSlug(ctx, current.id, slug);
  await rejectTakenSlug(() => withReferences(ctx, references, () => whileUnused(ctx, removed, write)));
  return next;
}

/** The server would read a stranger's choice of addresses every few seconds for days, and no limit of a sandbox counts what it finds. */
async function requireNoSandbox(ctx: Ctx): Promise<void> {
  if (await isSandbox(ctx.env, ctx.siteId)) throw forbidden("A sandbox can't read cues from playlists; claim it first");
}

/** The data providers that the cues of playlists are events of. */
type ReferringSettings = Pick<UpdateSite["settings"], "userSegments" | "manifest">;

function inSettings({ userSegments, manifest }: ReferringSettings): Reference[] {
  const cues = (manifest?.cues ?? []).map(({ dataProviderId: id }, index): Reference => ({
    kind: "data provider",
    id,
    path: `settings.manifest.cues.${index}.dataProviderId`,
  }));
  return [...inSegments(userSegments), ...cues];
}

/** Without those that an earlier release stored in another form. */
function storedSettings({ settings }: SiteRow): ReferringSettings {
  return { userSegments: UserSegments.safeParse(settings.userSegments).data, manifest: ManifestSettings.safeParse(settings.manifest).data };
}

type Security = SiteRow["settings"]["security"];

/**
 * Whether a change of these settings lets in what was kept out. Anyone who can name an identity provider can sign in as anybody; an allowed origin
 * takes keys from browsers and is where the links in emails lead, such as those that reset an admin's password.
 */
function weakensSecurity(before: Security, after: Security): boolean {
  const known = new Set(before.providers.map((provider) => JSON.stringify(provider)));
  const requirements = ["requireVerifiedEmail", "requireStaffTotp", "longInviteTokens"] as const;
  return (
    !after.providers.every((provider) => known.has(JSON.stringify(provider))) ||
    !after.allowedOrigins.every((origin) => before.allowedOrigins.includes(origin)) ||
    requirements.some((name) => (before[name] ?? false) && !(after[name] ?? false)) ||
    (after.allowNewAdmins && !before.allowNewAdmins)
  );
}

async function requireStreamProvider(ctx: Ctx, name: string | undefined): Promise<void> {
  if (name === undefined) return;
  const [found] = await ctx.db
    .select({ id: streamProviders.id })
    .from(streamProviders)
    .where(and(eq(streamProviders.siteId, ctx.siteId), eq(streamProviders.name, name)));
  if (!found) throw invalid("settings.streamProvider", "No provider is registered with this name");
}

/** Replaces a site's features and, if given, its service charge rate; only for the operator. */
export async function replaceFeatures(ctx: Ctx, siteId: string, { features, contractServiceChargeRate }: SiteFeatures): Promise<SiteRow> {
  const own = ctxOf(ctx, siteId);
  const current = await getSite(own);
  const serviceChargeRate = contractServiceChargeRate === undefined ? current.serviceChargeRate : contractServiceChargeRate;
  const next: SiteRow = { ...current, features, serviceChargeRate, ...nextVersion(ctx, current) };
  const change = own.db
    .update(sites)
    .set(next)
    .where(and(eq(sites.id, siteId), eq(sites.version, current.version)));
  await commitIfUnchanged(own, change, { type: "site.featuresReplaced", resource: `site/${siteId}`, data: toSite(next) });
  return next;
}

/** Creates a site with its first admin and a developer key that is shown only once. */
export async function createSite(ctx: Ctx, input: CreateSite): Promise<{ site: SiteRow; admin: AccountRow; developerKey: string }> {
  const { key: developerKey, hash } = await newKey();
  return placeSite(ctx, { id: newId(ctx.now), slug: input.slug }, async (own) => {
    const { site, admin, changes, events } = await planSite(own, input);
    const key = { ...newRow(own), hash, name: "First key", clientName: null, roles: ["*"], expires: null };
    await commit(own, [...changes, own.db.insert(apiKeys).values(key)], ...events);
    return { site, admin, developerKey };
  });
}

/** A new site with the id of the context and its first admin: the rows, what inserts them, and their events. */
export async function planSite(own: Ctx, input: CreateSite) {
  const site = newSiteRow(own, input);
  const fresh = await newAccount(own, { ...input.admin, marketingOptin: false }, [{ scope: "*", pageId: [], write: true }]);
  const admin: AccountRow = { ...fresh, trusted: true };
  const created: NewEvent<"site.created"> = { type: "site.created", resource: `site/${site.id}`, data: toSite(site) };
  const events: [NewEvent, NewEvent] = [created, accountEvent("new_account", admin)];
  return { site, admin, changes: [own.db.insert(sites).values(site), ...insertAccount(own, admin)], events };
}
