import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import { prepared } from "#db/prepared.ts";
import { automationRules, broadcasts, type PageRow, pages, panels, type RuleRow } from "#db/schema/index.ts";
import { invalid, notFound, refuseDuplicate } from "#worker/lib/errors.ts";
import { newId } from "#worker/lib/ids.ts";
import { type CreatePage, type PageOptions, SIDEBAR_PANELS, toPage, type UpdatePage } from "./schemas.ts";
import { toPanel } from "#worker/services/panels/schemas.ts";
import { type FromTemplate, readTemplate } from "./channel-templates.ts";
import { refreshRules } from "#worker/services/automation-rules/automation.ts";
import { ruleEvent } from "#worker/services/automation-rules/automation-rules.ts";
import {
  whereVersion,
  commitIfUnchanged,
  type Ctx,
  newRow,
  nextVersion,
  requireMatch,
  requirePage,
} from "#worker/services/core/context.ts";
import { keepGatedOfPage } from "#worker/services/videos/gate-departures.ts";
import { idIn, type ListPage, type ListQuery, listRows, type ListSpec, sliceOf } from "#worker/services/core/listing.ts";
import { detachChannel } from "./channel-deletion.ts";
import { inPageData } from "#worker/services/core/named-references.ts";
import { commitReferencing, newReferences, referencesExist, withReferences } from "#worker/services/core/references.ts";
import { requireOwnSite } from "#worker/services/sites/current-site.ts";
import { offAir, whileOffAir } from "#worker/services/streams/control.ts";
import { forgetWatchTimeOfPage } from "./watch-time.ts";

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

/** Pages of the site, narrowed by type, ids and options. */
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
    eq(pages.siteId, ctx.siteId),
    types && inArray(pages.type, [...types]),
    ids && idIn(pages.id, ids),
    named(options),
  );
}

function named(options: PageOptions | undefined): SQL | undefined {
  const name = options?.criteria["data.name"];
  return name === undefined ? undefined : sql`${pageName} = ${name}`;
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

/** Makes a page, of an id of its own unless one is given. */
export async function createPage(ctx: Ctx, input: CreatePage, id = newId(ctx.now)): Promise<PageRow> {
  requireOwnSite(ctx, input.siteId);
  const template = input.templateId === undefined ? undefined : await readTemplate(ctx, input.templateId);
  const data = template ? dressed(input.data, template) : input.data;
  // The template's panels are copied in the same batch.
  const references = inPageData({ ...data, sidebar: input.data.sidebar });
  const page: PageRow = { ...newRow(ctx), id, type: input.type, ...columnsOf({ ...input, data }) };
  const copies = template?.panels ?? [];
  const rules = (template?.rules ?? []).map((rule) => ({ ...ruleFor(id, rule), ...newRow(ctx) }));
  const changes = [
    ctx.db.insert(pages).values(page),
    ...copies.map((panel) => ctx.db.insert(panels).values(panel)),
    ...rules.map((rule) => ctx.db.insert(automationRules).values(rule)),
  ];
  const events = [
    ...copies.map((panel) => ({ type: "panel.created", resource: `panel/${panel.id}`, data: toPanel(panel) })),
    ...rules.map((rule) => ruleEvent(rule, "Created")),
  ];
  const created = { type: eventOf(page, "Created"), resource: `page/${page.id}`, data: toPage(page) };
  await refuseTakenSlug(() => commitReferencing(ctx, references, changes, created, ...events));
  if (rules.length > 0) await refreshRules(ctx);
  return page;
}

/** A template's rule for a channel of its own; a target that repeats the old channel would contradict that. */
function ruleFor(channelId: string, rule: RuleRow): RuleRow {
  const { trigger, action } = rule.jsonRule;
  if (action.type !== "SEND_OVERLAY" || action.targeting.scope !== "channel") return { ...rule, channelId };
  const { scope, segment, tags, priority } = action.targeting;
  const targeting = { scope, segment, ...(tags && { tags }), priority };
  return { ...rule, channelId, jsonRule: { trigger, action: { ...action, targeting } } };
}

/** What a page says of itself goes before what its template says; the template's panels stand after those that it names. */
function dressed(data: CreatePage["data"], template: FromTemplate): CreatePage["data"] {
  const theme = data.theme ?? template.theme ?? undefined;
  const ids = [...(data.sidebar?.panels ?? []), ...template.panels.map(({ id }) => id)];
  if (ids.length > SIDEBAR_PANELS)
    throw invalid("data.sidebar.panels", `At most ${SIDEBAR_PANELS}, with the template's ${template.panels.length}`);
  return { ...data, ...(theme === undefined ? {} : { theme }), sidebar: { ...data.sidebar, panels: ids } };
}

/** Replaces a page; viewers of a channel hear of it. */
export async function updatePage(ctx: Ctx, id: string, input: UpdatePage): Promise<PageRow> {
  requireOwnSite(ctx, input.siteId);
  const current = await getPage(ctx, id);
  await requirePage(ctx, id, "write");
  const references = newReferences(inPageData(input.data), inPageData(current.data));
  const next: PageRow = { ...current, ...columnsOf(input), ...nextVersion(ctx, current) };
  const change = ctx.db
    .update(pages)
    .set(next)
    .where(and(whereVersion(ctx, pages, current), referencesExist(ctx, references)));
  const changes = [change, ...(await keepGatedOfPage(ctx, id, current.data, next.data))];
  await refuseTakenSlug(() =>
    withReferences(ctx, references, () =>
      commitIfUnchanged(ctx, changes, { type: eventOf(next, "Updated"), resource: `page/${id}`, data: toPage(next) }),
    ),
  );
  return next;
}

/** Deletes a page; a channel's viewers are let go, its rules go with it, and its calendar's events and its streams stand by themselves. */
export async function deletePage(ctx: Ctx, id: string): Promise<PageRow> {
  const current = await getPage(ctx, id);
  requireMatch(ctx, current);
  const change = ctx.db.delete(pages).where(and(whereVersion(ctx, pages, current), offAir(ctx, id)));
  const ended = ctx.db.delete(broadcasts).where(and(eq(broadcasts.siteId, ctx.siteId), eq(broadcasts.channelId, id)));
  const kept = await keepGatedOfPage(ctx, id, current.data);
  const changes = [change, ended, ...kept, ...(await detachChannel(ctx, id)), forgetWatchTimeOfPage(ctx, id)];
  await whileOffAir(ctx, id, () =>
    commitIfUnchanged(ctx, changes, { type: eventOf(current, "Deleted"), resource: `page/${id}`, data: toPage(current) }),
  );
  return current;
}

function columnsOf(input: UpdatePage) {
  const { slug, seo, style, active_renderers: activeRenderers, renderers, tags, data } = input;
  return { slug, seo, style, activeRenderers, renderers, tags, data };
}

/** admin.channelUpdated is the name that integrators know; the others follow it. */
function eventOf(page: PageRow, change: "Created" | "Updated" | "Deleted"): string {
  return `admin.${page.type}${change}`;
}

function refuseTakenSlug(write: () => Promise<unknown>): Promise<unknown> {
  return refuseDuplicate("pages.site_id, pages.slug", "Another page of the site has this slug", write);
}
