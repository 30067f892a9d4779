import { and, asc, eq, inArray, or, type SQL, sql } from "drizzle-orm";
import { pages } from "#db/schema/pages.ts";
import { sites } from "#db/schema/sites.ts";
import { siteThemes, type ThemeRow, themes } from "#db/schema/themes.ts";
import { conflict, forbidden, notFound } from "#worker/lib/errors.ts";
import { type ApplyTheme, type ThemeInput, toTheme } from "./schemas.ts";
import {
  commit,
  commitIfUnchanged,
  type Ctx,
  newRow,
  nextVersion,
  ownRow,
  requireMatch,
  updateRow,
  whereVersion,
} from "#worker/services/core/context.ts";
import { type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { requireOwnSite } from "#worker/services/sites/current-site.ts";

/** The operator's themes and the events of their changes belong to no site. */
const OPERATOR = "";

const themeList = tableList<ThemeRow>({
  table: themes,
  rows: (db, slice) => sliceOf(db.select().from(themes).$dynamic(), slice),
  sort: { modified: themes.modified },
  search: {},
});

/** The site's own themes. */
export function listCustomThemes(ctx: Ctx, query: ListQuery): Promise<ListPage<ThemeRow>> {
  return listRows(ctx, themeList, query, eq(themes.siteId, ctx.siteId));
}

/** The operator's themes for every site. */
export function listDefaultThemes(ctx: Ctx, query: ListQuery): Promise<ListPage<ThemeRow>> {
  return listRows(ctx, themeList, query, eq(themes.siteId, OPERATOR), eq(themes.type, "default"));
}

/** Any theme of any site: their ids are public. */
export async function getTheme(ctx: Ctx, id: string): Promise<ThemeRow> {
  const [theme] = await ctx.db.select().from(themes).where(eq(themes.id, id));
  if (!theme) throw notFound("Theme not found");
  return theme;
}

export function createSiteTheme(ctx: Ctx, input: ThemeInput): Promise<ThemeRow> {
  requireOwnSite(ctx, input.siteId);
  return createTheme(ctx, input);
}

export function updateSiteTheme(ctx: Ctx, id: string, input: ThemeInput): Promise<ThemeRow> {
  requireOwnSite(ctx, input.siteId);
  return updateTheme(ctx, ownRow(ctx, themes, id), input);
}

/** Creates an admin or a default theme. */
export function createOperatorTheme(ctx: Ctx, input: ThemeInput): Promise<ThemeRow> {
  return createTheme({ ...ctx, siteId: OPERATOR }, input);
}

export function updateDefaultTheme(ctx: Ctx, id: string, input: ThemeInput): Promise<ThemeRow> {
  const operator = { ...ctx, siteId: OPERATOR };
  return updateTheme(operator, and(ownRow(operator, themes, id), eq(themes.type, "default")), input);
}

async function createTheme(ctx: Ctx, input: ThemeInput): Promise<ThemeRow> {
  const theme: ThemeRow = { ...newRow(ctx), ...columnsOf(input) };
  await commit(ctx, ctx.db.insert(themes).values(theme), { type: "theme.created", resource: `theme/${theme.id}`, data: toTheme(theme) });
  return theme;
}

async function updateTheme(ctx: Ctx, which: SQL | undefined, input: ThemeInput): Promise<ThemeRow> {
  const [current] = await ctx.db.select().from(themes).where(which);
  if (!current) throw notFound("Theme not found");
  const next: ThemeRow = { ...current, ...columnsOf(input), ...nextVersion(ctx, current) };
  const change = updateRow(ctx, themes, current, next);
  await commitIfUnchanged(ctx, change, { type: "theme.updated", resource: `theme/${next.id}`, data: toTheme(next) });
  return next;
}

/** Sets a site's admin theme; the site is given by id or slug, the theme by id or name. */
export async function applyAdminTheme(ctx: Ctx, { siteSlugOrId, themeNameOrId }: ApplyTheme): Promise<void> {
  const [[site], found] = await ctx.db.batch([
    ctx.db
      .select({ id: sites.id })
      .from(sites)
      .where(or(eq(sites.id, siteSlugOrId), eq(sites.slug, siteSlugOrId)))
      .orderBy(asc(sql`${sites.id} <> ${siteSlugOrId}`)),
    ctx.db
      .select()
      .from(themes)
      .where(and(eq(themes.siteId, OPERATOR), eq(themes.type, "admin"), or(eq(themes.id, themeNameOrId), eq(themes.name, themeNameOrId)))),
  ]);
  if (!site) throw notFound("Site not found");
  const theme = found.find(({ id }) => id === themeNameOrId) ?? found[0];
  if (!theme) throw notFound("Admin theme not found");
  if (theme.id !== themeNameOrId && found.length > 1) throw conflict("Several admin themes have this name; use the theme's id");
  const set = { themeId: theme.id };
  const change = ctx.db
    .insert(siteThemes)
    .values({ siteId: site.id, ...set })
    .onConflictDoUpdate({ target: siteThemes.siteId, set });
  await commit({ ...ctx, siteId: site.id }, change, {
    type: "theme.applied",
    resource: `site/${site.id}`,
    data: { siteId: site.id, theme: toTheme(theme) },
  });
}

/** Deletes a theme of the site unless pages use it; returns those pages. */
export async function deleteTheme(ctx: Ctx, id: string): Promise<{ id: string; slug: string; name: string }[]> {
  const uses = and(eq(pages.siteId, ctx.siteId), eq(sql`json_extract(${pages.data}, '$.theme')`, id));
  const [[current], users] = await ctx.db.batch([
    ctx.db
      .select()
      .from(themes)
      .where(and(eq(themes.id, id), inArray(themes.siteId, [ctx.siteId, OPERATOR]))),
    ctx.db
      .select({ id: pages.id, slug: pages.slug, name: sql<string>`json_extract(${pages.data}, '$.name')`.as("name") })
      .from(pages)
      .where(uses)
      .orderBy(pages.slug),
  ]);
  if (!current) throw notFound("Theme not found");
  if (current.siteId === OPERATOR) throw forbidden("Admin and default themes belong to the operator");
  requireMatch(ctx, current);
  if (users.length > 0) return users;
  // Checked again in the write: a page may have started using the theme in between.
  const unused = sql`not exists (select 1 from ${pages} where ${uses})`;
  const change = ctx.db.delete(themes).where(and(whereVersion(ctx, themes, current), unused));
  await commitIfUnchanged(ctx, change, { type: "theme.deleted", resource: `theme/${id}`, data: toTheme(current) });
  return [];
}

function columnsOf({ siteId: _, ...columns }: ThemeInput): Omit<ThemeInput, "siteId"> {
  return columns;
}
