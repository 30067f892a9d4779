import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import { prepared } from "#db/prepared.ts";
import { automationRules, type RuleRow } from "#db/schema/automation-rules.ts";
import { broadcasts } from "#db/schema/overlays.ts";
import { type PageRow, pages } from "#db/schema/pages.ts";
import { panels } from "#db/schema/panels.ts";
import { invalid, notFound, rejectDuplicate } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { type CreatePage, type PageOptions, SIDEBAR_PANELS, toPage, type UpdatePage } from "./schemas.ts";
import { toPanel } from "#worker/services/panels/schemas.ts";
import { type TemplateContents, readTemplate } from "./channel-templates.ts";
import { refreshRules } from "#worker/services/automation-rules/automation.ts";
import { ruleEvent } from "#worker/services/automation-rules/automation-rules.ts";
import {
  commitIfUnchanged,
  type Ctx,
  type NewEvent,
  newRow,
  nextVersion,
  ownRows,
  requireMatch,
  requirePage,
  updateRow,
  whereVersion,
} from "#worker/services/core/context.ts";
import { keepGatedOfPage } from "#worker/services/videos/gate-departures.ts";
import { isNamed, type ListPage, type ListQuery, listRows, type ListSpec, sliceOf } from "#worker/services/core/listing.ts";
import { detachChannel } from "./channel-deletion.ts";
import { inPageData } from "#worker/services/core/named-references.ts";
import { commitReferencing, newReferences, referencesExist, withReferences } from "#worker/services/core/references.ts";
import { requireOwnSite } from "#worker/services/sites/current-site.ts";
import { isOffAir, whileOffAir } from "#worker/services/streams/control.ts";
import { deleteWatchTimeOfPage } from "./watch-time.ts";

const pageName = sql`json_extract(${pages.data}, '$.name')`;

const pageList: ListSpec<PageRow> = {
  table: pages,
  id: { by: pages.id, of: (row) => row.id },
  rows: (db, slice) => sliceOf(db.select().from(pages).$dynamic(), slice),
  sort: {
    _id: { by: pages.id, of: (row) => row.id },
    created: { by: pages.created, of: (row) => row.created },
    modified: { by: pages.modified, of: (row) => row.modified },
    slug: { by: pages.slug, of: (row) => row.slug },
    "data.name": { by: pageName, of: (row) => row.data.name },
  },
  defaultDirection: 1,
  search: { "data.name": pageName, slug: pages.slug },
};

/** Lists the site's pages, filtered by type, ids and options. */
export function listPages(
  ctx: Ctx,
  query: ListQuery & { ids?: string[]; options?: PageOptions },
  types?: readonly PageRow["type"][],
): Promise<ListPage<PageRow>> {
  const { ids, options } = query;
  const sorted: ListQuery = options && options.sort !== 0 ? { ...query, sortBy: options.sortBy, sortDirection: options.sort } : query;
  return listRows(
    ctx,
    pageList,
    sorted,
    ids ? ownRows(ctx, pages, ids) : eq(pages.siteId, ctx.siteId),
    types && inArray(pages.type, [...types]),
    hasName(options),
  );
}

function hasName(options: PageOptions | undefined): SQL | undefined {
  const name = options?.criteria["data.name"];
  return name === undefined ? undefined : isNamed(pageName, name);
}

const byId = prepared((db) =>
  db
    .select()
    .from(pages)
    .where(and(eq(pages.siteId, sql.placeholder("siteId")), eq(pages.id, sql.placeholder("id")))),
);

export async function getPage(ctx: Ctx, id: string): Promise<PageRow> {
  const [[page]] = await ctx.db.batch([byId({ siteId: ctx.siteId, id })]);
  if (!page) throw notFound("Page not found");
  return page;
}

/** Creates a page, with a new id unless one is given. */
export async function createPage(ctx: Ctx, input: CreatePage, id = newId(ctx.now)): Promise<PageRow> {
  requireOwnSite(ctx, input.siteId);
  const template = input.templateId === undefined ? undefined : await readTemplate(ctx, input.templateId);
  const data = template ? withTemplate(input.data, template) : input.data;
  // The template's panels are created in the same batch, so they need no check.
  const references = inPageData({ ...data, sidebar: input.data.sidebar });
  const page: PageRow = { ...newRow(ctx), id, type: input.type, ...columnsOf({ ...input, data }) };
  const copies = template?.panels ?? [];
  const rules = (template?.rules ?? []).map((rule) => ({ ...copyRule(id, rule), ...newRow(ctx) }));
  const changes = [
    ctx.db.insert(pages).values(page),
    ...copies.map((panel) => ctx.db.insert(panels).values(panel)),
    ...rules.map((rule) => ctx.db.insert(automationRules).values(rule)),
  ];
  const events: NewEvent[] = [
    ...copies.map((panel): NewEvent => ({ type: "panel.created", resource: `panel/${panel.id}`, data: toPanel(panel) })),
    ...rules.map((rule) => ruleEvent(rule, "Created")),
  ];
  await rejectTakenSlug(() => commitReferencing(ctx, references, changes, eventOf(page, "Created"), ...events));
  if (rules.length > 0) await refreshRules(ctx);
  return page;
}

/** Copies a template's rule to a channel. A target that names the old channel is removed, because it would contradict the new one. */
function copyRule(channelId: string, rule: RuleRow): RuleRow {
  const { trigger, action } = rule.jsonRule;
  if (action.type !== "SEND_OVERLAY" || action.targeting.scope !== "channel") return { ...rule, channelId };
  const { scope, segment, tags, userSegment, priority } = action.targeting;
  const targeting = { scope, segment, ...(tags && { tags }), ...(userSegment !== undefined && { userSegment }), priority };
  return { ...rule, channelId, jsonRule: { trigger, action: { ...action, targeting } } };
}

/** Applies a template to a page's data. The page's own values take precedence; the template's panels follow its own. */
function withTemplate(data: CreatePage["data"], template: TemplateContents): CreatePage["data"] {
  const theme = data.theme ?? template.theme ?? undefined;
  const ids = [...(data.sidebar?.panels ?? []), ...template.panels.map(({ id }) => id)];
  if (ids.length > SIDEBAR_PANELS)
    throw invalid("data.sidebar.panels", `At most ${SIDEBAR_PANELS} panels, including the template's ${template.panels.length}`);
  return { ...data, ...(theme === undefined ? {} : { theme }), sidebar: { ...data.sidebar, panels: ids } };
}

/** Replaces a page; a channel's viewers are notified. */
export async function updatePage(ctx: Ctx, id: string, input: UpdatePage): Promise<PageRow> {
  requireOwnSite(ctx, input.siteId);
  const current = await getPage(ctx, id);
  await requirePage(ctx, id, "write");
  const references = newReferences(inPageData(input.data), inPageData(current.data));
  const next: PageRow = { ...current, ...columnsOf(input), ...nextVersion(ctx, current) };
  const change = updateRow(ctx, pages, current, next, referencesExist(ctx, references));
  const changes = [change, ...(await keepGatedOfPage(ctx, id, current.data, next.data))];
  await rejectTakenSlug(() => withReferences(ctx, references, () => commitIfUnchanged(ctx, changes, eventOf(next, "Updated"))));
  return next;
}

/** Deletes a page. A channel's viewers are disconnected, its rules are deleted, and its calendar events and streams are detached. */
export async function deletePage(ctx: Ctx, id: string): Promise<PageRow> {
  const current = await getPage(ctx, id);
  requireMatch(ctx, current);
  const change = ctx.db.delete(pages).where(and(whereVersion(ctx, pages, current), isOffAir(ctx, id)));
  const endBroadcasts = ctx.db.delete(broadcasts).where(and(eq(broadcasts.siteId, ctx.siteId), eq(broadcasts.channelId, id)));
  const keepGated = await keepGatedOfPage(ctx, id, current.data);
  const changes = [change, endBroadcasts, ...keepGated, ...(await detachChannel(ctx, id)), deleteWatchTimeOfPage(ctx, id)];
  await whileOffAir(ctx, id, () => commitIfUnchanged(ctx, changes, eventOf(current, "Deleted")));
  return current;
}

function columnsOf(input: UpdatePage) {
  const { slug, seo, style, active_renderers: activeRenderers, renderers, tags, data } = input;
  return { slug, seo, style, activeRenderers, renderers, tags, data };
}

/** Integrators rely on the name admin.channelUpdated; the others follow its pattern. */
function eventOf(page: PageRow, change: "Created" | "Updated" | "Deleted"): NewEvent {
  return { type: `admin.${page.type}${change}`, resource: `page/${page.id}`, data: toPage(page) };
}

function rejectTakenSlug(write: () => Promise<unknown>): Promise<unknown> {
  return rejectDuplicate("pages.site_id, pages.slug", "Another page on this site already has this slug", write);
}
