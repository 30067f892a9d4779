import { and, eq, inArray, sql } from "drizzle-orm";
import { automationRules, type RuleRow } from "#db/schema/automation-rules.ts";
import { type ChannelTemplateRow, channelTemplates } from "#db/schema/channel-templates.ts";
import { type PanelRow, panels } from "#db/schema/panels.ts";
import { themes } from "#db/schema/themes.ts";
import { wonRace, invalid, notFound } from "#worker/lib/errors.ts";
import { type ChannelTemplateInput, toChannelTemplate } from "./template-schemas.ts";
import {
  commitIfUnchanged,
  type Ctx,
  type NewEvent,
  newRow,
  nextVersion,
  ownRow,
  requireMatch,
  updateRow,
} from "#worker/services/core/context.ts";
import { type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { inTemplate } from "#worker/services/core/named-references.ts";
import { newPanel } from "#worker/services/panels/panels.ts";
import { commitReferencing, newReferences, referencesExist, withReferences } from "#worker/services/core/references.ts";
import { requireOwnSite } from "#worker/services/sites/current-site.ts";

const templateList = tableList<ChannelTemplateRow>({
  table: channelTemplates,
  rows: (db, slice) => sliceOf(db.select().from(channelTemplates).$dynamic(), slice),
  sort: { modified: channelTemplates.modified, created: channelTemplates.created, title: channelTemplates.title },
  search: {},
});

/** Lists the site's active templates, or the archived ones. */
export function listChannelTemplates(ctx: Ctx, query: ListQuery & { archived?: boolean }): Promise<ListPage<ChannelTemplateRow>> {
  const { archived = false } = query;
  return listRows(ctx, templateList, query, eq(channelTemplates.siteId, ctx.siteId), eq(channelTemplates.archived, archived));
}

export async function getChannelTemplate(ctx: Ctx, id: string): Promise<ChannelTemplateRow> {
  const [template] = await ctx.db
    .select()
    .from(channelTemplates)
    .where(ownRow(ctx, channelTemplates, id));
  if (!template) throw notFound("Channel template not found");
  return template;
}

export async function createChannelTemplate(ctx: Ctx, input: ChannelTemplateInput): Promise<ChannelTemplateRow> {
  requireOwnTemplate(ctx, input);
  const template: ChannelTemplateRow = { ...newRow(ctx), ...columnsOf(input), archived: input.archived ?? false };
  await commitReferencing(ctx, inTemplate(input), ctx.db.insert(channelTemplates).values(template), changeEvent(template, "Created"));
  return template;
}

/** Replaces a template, and archives or restores it if requested. Channels created from it don't change. */
export async function updateChannelTemplate(ctx: Ctx, id: string, input: ChannelTemplateInput): Promise<ChannelTemplateRow> {
  requireOwnTemplate(ctx, input);
  const current = await getChannelTemplate(ctx, id);
  const references = newReferences(inTemplate(input), inTemplate(current));
  const next: ChannelTemplateRow = {
    ...current,
    ...columnsOf(input),
    archived: input.archived ?? current.archived,
    ...nextVersion(ctx, current),
  };
  const event = changeEvent(next, next.archived && !current.archived ? "Archived" : "Updated");
  const change = updateRow(ctx, channelTemplates, current, next, referencesExist(ctx, references));
  await withReferences(ctx, references, () => commitIfUnchanged(ctx, change, event));
  return next;
}

/** Archives a template; returns false if it was already archived. */
export async function archiveChannelTemplate(ctx: Ctx, id: string): Promise<boolean> {
  const current = await getChannelTemplate(ctx, id);
  requireMatch(ctx, current);
  const next: ChannelTemplateRow = { ...current, archived: true, modified: ctx.now, version: current.version + 1 };
  const change = ctx.db
    .update(channelTemplates)
    .set({ archived: true, modified: ctx.now, version: sql`${channelTemplates.version} + 1` })
    .where(and(ownRow(ctx, channelTemplates, id), eq(channelTemplates.archived, false)));
  return wonRace(() => commitIfUnchanged(ctx, change, changeEvent(next, "Archived")));
}

/** What a channel gets from its template: copies of the panels and automation rules, and the theme. */
export interface TemplateContents {
  panels: PanelRow[];
  /** The template's rules that still exist, to be copied. */
  rules: RuleRow[];
  /** Null also if the theme has been deleted since. */
  theme: string | null;
}

/** Reads a template. A panel without a renderer is copied from the site's panel with the same slug, or skipped if there is none. */
export async function readTemplate(ctx: Ctx, id: string): Promise<TemplateContents> {
  const slugs = ctx.db
    .select({ slug: sql`json_extract(value, '$.slug')`.as("slug") })
    .from(sql`${channelTemplates}, json_each(${channelTemplates.panels})`)
    .where(ownRow(ctx, channelTemplates, id));
  const ruleIds = ctx.db
    .select({ id: sql`value`.as("id") })
    .from(sql`${channelTemplates}, json_each(${channelTemplates.rules})`)
    .where(ownRow(ctx, channelTemplates, id));
  const themeId = ctx.db
    .select({ id: channelTemplates.theme })
    .from(channelTemplates)
    .where(ownRow(ctx, channelTemplates, id));
  const [[template], sitePanels, rules, [theme]] = await ctx.db.batch([
    ctx.db
      .select()
      .from(channelTemplates)
      .where(ownRow(ctx, channelTemplates, id)),
    ctx.db
      .select()
      .from(panels)
      .where(and(eq(panels.siteId, ctx.siteId), inArray(panels.slug, slugs))),
    ctx.db
      .select()
      .from(automationRules)
      .where(and(eq(automationRules.siteId, ctx.siteId), inArray(automationRules.id, ruleIds))),
    ctx.db
      .select({ id: themes.id })
      .from(themes)
      .where(and(inArray(themes.id, themeId), inArray(themes.siteId, [ctx.siteId, ""]))),
  ]);
  if (!template || template.archived)
    throw invalid("templateId", template ? "The template is archived" : "The site has no template with this id");
  const copies = template.panels.flatMap(({ slug, renderer = sitePanels.find((panel) => panel.slug === slug)?.renderer }) =>
    renderer ? [newPanel(ctx, renderer)] : [],
  );
  return { panels: copies, rules, theme: theme?.id ?? null };
}

function requireOwnTemplate(ctx: Ctx, input: ChannelTemplateInput): void {
  requireOwnSite(ctx, input.siteId);
  const foreign = input.panels.findIndex((panel) => panel.site_id !== ctx.siteId);
  if (foreign >= 0) throw invalid(`panels.${foreign}.site_id`, "Must equal Tifo-Client-Id");
}

function columnsOf({ title, description, icon, rules, theme, creator, owner, ...input }: ChannelTemplateInput) {
  return { title, description, icon, rules, theme, creator, owner, panels: input.panels };
}

function changeEvent(template: ChannelTemplateRow, change: "Created" | "Updated" | "Archived"): NewEvent {
  return { type: `admin.template${change}`, resource: `template/${template.id}`, data: toChannelTemplate(template) };
}
