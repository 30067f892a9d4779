import { and, eq, getTableColumns, or, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { PAGE_TYPES } from "#db/enums.ts";
import { type NavigationRow, navigations } from "#db/schema/navigation.ts";
import { type PageRow, pages } from "#db/schema/pages.ts";
import type { NavigationEntry } from "#db/types.ts";
import { conflict, rerunOnDuplicate, notFound } from "#worker/lib/errors.ts";
import { managesPage } from "#worker/lib/roles.ts";
import { type NavigationInput, toNavigation } from "./schemas.ts";
import { PAGE_FIELDS, toPage } from "#worker/services/pages/schemas.ts";
import {
  commitIfUnchanged,
  type Ctx,
  deleteRow,
  isManager,
  type NewEvent,
  newRow,
  nextVersion,
  ownRow,
  ownRows,
  requireMatch,
  updateRow,
} from "#worker/services/core/context.ts";
import { pagesOpenTo } from "#worker/services/subscriptions/entitlements.ts";
import { isNamed, type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { pickFields } from "#worker/services/core/fields.ts";
import { inNavigation } from "#worker/services/core/named-references.ts";
import { commitReferencing, newReferences, type Reference, referencesExist, withReferences } from "#worker/services/core/references.ts";
import { insertEventsForRows } from "#worker/services/core/outbox.ts";
import { requireOwnSite } from "#worker/services/sites/current-site.ts";

const navigationList = tableList<NavigationRow>({
  table: navigations,
  rows: (db, slice) => sliceOf(db.select().from(navigations).$dynamic(), slice),
  sort: { modified: navigations.modified, created: navigations.created, name: navigations.name },
  search: { name: navigations.name },
});

const isDefault = eq(navigations.type, "default");
const appliedId = sql<string | null>`json_extract(${pages.data}, '$.navigation')`;

export async function listNavigations(
  ctx: Ctx,
  query: ListQuery & { type?: NavigationRow["type"]; name?: string },
): Promise<ListPage<NavigationRow>> {
  const page = await listRows(
    ctx,
    navigationList,
    query,
    eq(navigations.siteId, ctx.siteId),
    query.type && eq(navigations.type, query.type),
    query.name === undefined ? undefined : isNamed(navigations.name, query.name),
  );
  return { ...page, rows: (await visibleTo(ctx, page.rows)).map(({ row }) => row) };
}

/** A navigation as visible to the caller, and whether it is complete. */
export interface VisibleNavigation {
  row: NavigationRow;
  complete: boolean;
}

export async function getNavigation(ctx: Ctx, id: string): Promise<VisibleNavigation> {
  return visible(ctx, await readNavigation(ctx, id));
}

export async function getDefaultNavigation(ctx: Ctx): Promise<VisibleNavigation> {
  const [navigation] = await select(ctx, isDefault);
  if (!navigation) throw notFound("The site has no default navigation");
  return visible(ctx, navigation);
}

export async function createNavigation(ctx: Ctx, input: NavigationInput): Promise<NavigationRow> {
  requireOwnSite(ctx, input.siteId);
  const navigation: NavigationRow = { ...newRow(ctx), ...columnsOf(input) };
  const [existing] = await select(ctx, isDefault);
  const created: NewEvent = { type: "navigation.created", resource: resourceOf(navigation), data: toNavigation(navigation) };
  const insert = ctx.db.insert(navigations).values(navigation);
  const references = inNavigation(input.parents);
  if (input.type !== "default" || !existing) {
    await rejectSecondDefault(() => commitReferencing(ctx, references, insert, created));
    return navigation;
  }
  const old = demote(ctx, existing);
  const changes = [change(ctx, existing, old, references), insert];
  await withReferences(ctx, references, () => rejectSecondDefault(() => commitIfUnchanged(ctx, changes, updated(old), created)));
  return navigation;
}

/** Replaces a navigation. */
export async function updateNavigation(ctx: Ctx, id: string, input: NavigationInput): Promise<NavigationRow> {
  requireOwnSite(ctx, input.siteId);
  const rows = await select(ctx, or(eq(navigations.id, id), isDefault));
  const current = rows.find((row) => row.id === id);
  if (!current) throw notFound("Navigation not found");
  const next: NavigationRow = { ...current, ...columnsOf(input), ...nextVersion(ctx, current) };
  requirePrivateEntriesKept(ctx, current, input);
  const references = newReferences(inNavigation(input.parents), inNavigation(current.parents));
  const guarded = (write: () => Promise<unknown>) => withReferences(ctx, references, () => rejectSecondDefault(write));
  const existing = input.type === "default" ? rows.find((row) => row.id !== id && row.type === "default") : undefined;
  if (!existing) {
    await guarded(() => commitIfUnchanged(ctx, change(ctx, current, next, references), updated(next)));
    return next;
  }
  const old = demote(ctx, existing);
  // The unique index allows only one default at any time, even within the batch, so the old one is demoted first.
  const changes = [change(ctx, current, { ...next, type: "custom" }, references), change(ctx, existing, old), change(ctx, next, next)];
  await guarded(() => commitIfUnchanged(ctx, changes, updated(next), updated(old)));
  return next;
}

/** Deletes a navigation. Its pages fall back to the default, with an event for each. */
export async function deleteNavigation(ctx: Ctx, id: string): Promise<NavigationRow> {
  const current = await readNavigation(ctx, id);
  requireMatch(ctx, current);
  const changes = [deleteRow(ctx, navigations, current), ...(await detachPages(ctx, id))];
  await commitIfUnchanged(ctx, changes, { type: "navigation.deleted", resource: resourceOf(current), data: toNavigation(current) });
  return current;
}

async function detachPages(ctx: Ctx, navigationId: string): Promise<BatchItem<"sqlite">[]> {
  const actor = await ctx.caller();
  const applied = and(eq(pages.siteId, ctx.siteId), eq(appliedId, navigationId));
  const detached = sql`json_remove(${pages.data}, '$.navigation')`;
  const data = { ...pickFields(getTableColumns(pages), PAGE_FIELDS), collection: "pages", data: sql`json(${detached})`, modified: ctx.now };
  const eventInserts = PAGE_TYPES.map((kind) =>
    insertEventsForRows(ctx, actor, {
      type: `admin.${kind}Updated`,
      area: "page",
      table: pages,
      where: and(applied, eq(pages.type, kind)),
      data,
    }),
  );
  const detach = ctx.db
    .update(pages)
    .set({ data: detached, modified: ctx.now, version: sql`${pages.version} + 1` })
    .where(applied);
  return [...eventInserts, detach];
}

/** Applies the navigation to a page; a channel's viewers are notified. */
export async function applyNavigation(ctx: Ctx, id: string, pageId: string): Promise<void> {
  const ownNavigation = ownRow(ctx, navigations, id);
  const [[navigation], [page]] = await ctx.db.batch([
    ctx.db.select({ id: navigations.id }).from(navigations).where(ownNavigation),
    ctx.db
      .select()
      .from(pages)
      .where(ownRow(ctx, pages, pageId)),
  ]);
  if (!navigation) throw notFound("Navigation not found");
  if (!page) throw notFound("Page not found");
  const next: PageRow = { ...page, data: { ...page.data, navigation: id }, ...nextVersion(ctx, page) };
  const apply = updateRow(ctx, pages, page, next, sql`exists (select 1 from ${navigations} where ${ownNavigation})`);
  await commitIfUnchanged(ctx, apply, pageUpdated(next));
}

async function readNavigation(ctx: Ctx, id: string): Promise<NavigationRow> {
  const [navigation] = await select(ctx, eq(navigations.id, id));
  if (!navigation) throw notFound("Navigation not found");
  return navigation;
}

function select(ctx: Ctx, condition: SQL | undefined) {
  return ctx.db
    .select()
    .from(navigations)
    .where(and(eq(navigations.siteId, ctx.siteId), condition));
}

async function visible(ctx: Ctx, navigation: NavigationRow): Promise<VisibleNavigation> {
  const [result] = await visibleTo(ctx, [navigation]);
  return result ?? { row: { ...navigation, parents: [] }, complete: false };
}

/** Managers see all entries; other callers see private entries only for pages that are open to them. */
async function visibleTo(ctx: Ctx, rows: NavigationRow[]): Promise<VisibleNavigation[]> {
  if (isManager(await ctx.caller())) return rows.map((row) => ({ row, complete: true }));
  const open = await openPages(ctx, [...new Set(rows.flatMap(({ parents }) => privatePages(parents)))]);
  return rows.map((row) => ({ row: { ...row, parents: visibleEntries(row.parents, open) }, complete: false }));
}

/** The pages among these whose gate the caller passes, or that the caller manages. */
async function openPages(ctx: Ctx, ids: string[]): Promise<Set<string>> {
  const actor = await ctx.caller();
  if (actor.kind !== "account" || ids.length === 0) return new Set();
  const found = await ctx.db
    .select({ id: pages.id, data: pages.data })
    .from(pages)
    .where(ownRows(ctx, pages, ids));
  // Everybody can open a page without a gate, so a private entry for it is simply hidden.
  const gated = found.map(({ id, data }) => ({ id, gate: data.gate })).filter(({ gate }) => gate.type !== "none");
  const managed = ids.filter((id) => managesPage(actor.roles, id, "read"));
  return new Set([...(await pagesOpenTo(ctx, actor.id, gated)), ...managed]);
}

function privatePages(entries: NavigationEntry[]): string[] {
  return entries.flatMap(({ private: isPrivate, pageId, children = [] }) => [
    ...(isPrivate && pageId !== undefined ? [pageId] : []),
    ...privatePages(children),
  ]);
}

function visibleEntries(entries: NavigationEntry[], open: ReadonlySet<string>): NavigationEntry[] {
  return entries
    .filter((entry) => !entry.private || (entry.pageId !== undefined && open.has(entry.pageId)))
    .map(({ children, ...entry }) => (children ? { ...entry, children: visibleEntries(children, open) } : entry));
}

/** Rejects an update without If-Match that removes private entries, because its sender may never have seen them. */
function requirePrivateEntriesKept(ctx: Ctx, current: NavigationRow, input: NavigationInput): void {
  if (ctx.ifMatch) return;
  const kept = new Set(keysOf(input.parents));
  if (!keysOf(current.parents, "private").every((key) => kept.has(key)))
    throw conflict(
      "The update leaves out private entries; to remove them, read the navigation with a developer key or as a site admin and send its ETag in If-Match",
    );
}

/** Keys that identify all entries, or only those that are private or below a private one. */
function keysOf(entries: NavigationEntry[], filter: "all" | "private" = "all"): string[] {
  return entries.flatMap(({ type, pageId, name, children = [], ...entry }) => {
    const isIncluded = filter === "all" || entry.private;
    return [...(isIncluded ? [JSON.stringify([type, pageId, name])] : []), ...keysOf(children, isIncluded ? "all" : filter)];
  });
}

function demote(ctx: Ctx, current: NavigationRow): NavigationRow {
  return { ...current, type: "custom", modified: ctx.now, version: current.version + 1 };
}

function change(ctx: Ctx, current: NavigationRow, next: NavigationRow, references: Reference[] = []) {
  return updateRow(ctx, navigations, current, next, referencesExist(ctx, references));
}

function pageUpdated(page: PageRow): NewEvent {
  return { type: `admin.${page.type}Updated`, resource: `page/${page.id}`, data: toPage(page) };
}

function updated(navigation: NavigationRow): NewEvent {
  return { type: "navigation.updated", resource: resourceOf(navigation), data: toNavigation(navigation) };
}

function resourceOf(navigation: NavigationRow): string {
  return `navigation/${navigation.id}`;
}

function columnsOf({ name, type, parents, externalLinks }: NavigationInput) {
  return { name, type, parents, externalLinks };
}

function rejectSecondDefault(write: () => Promise<unknown>): Promise<unknown> {
  return rerunOnDuplicate("navigations.site_id", write);
}
