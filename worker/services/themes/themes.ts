import { and, asc, eq, inArray, lt, or, type SQL, sql } from "drizzle-orm";
import type { Db } from "#db/client.ts";
import { allDbs, isSharded } from "#db/databases.ts";
import { pages } from "#db/schema/pages.ts";
import { sites } from "#db/schema/sites.ts";
import { siteThemes, type ThemeRow, themes } from "#db/schema/themes.ts";
import { conflict, forbidden, notFound } from "#worker/lib/errors.ts";
import { inGroups } from "#worker/lib/in-groups.ts";
import { type ApplyTheme, type ThemeInput, toTheme } from "./schemas.ts";
import {
  batchAll,
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
import { ctxOf, fromEveryDb } from "#worker/services/core/databases.ts";
import { type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { requireOwnSite } from "#worker/services/sites/current-site.ts";

/** The operator's themes and the events of their changes belong to no site. */
const OPERATOR = "";

const THEMES_AT_ONCE = 50;

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

/** Any theme of any site: their ids are public. An operator's is on every shard, and newest in the directory, which is first. */
export async function getTheme(ctx: Ctx, id: string): Promise<ThemeRow> {
  const [theme] = await fromEveryDb(ctx, (db) => db.select().from(themes).where(eq(themes.id, id)));
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
export async function createOperatorTheme(ctx: Ctx, input: ThemeInput): Promise<ThemeRow> {
  const theme = await createTheme({ ...ctx, siteId: OPERATOR }, input);
  await shareThemes(ctx);
  return theme;
}

export async function updateDefaultTheme(ctx: Ctx, id: string, input: ThemeInput): Promise<ThemeRow> {
  const operator = { ...ctx, siteId: OPERATOR };
  const theme = await updateTheme(operator, and(ownRow(operator, themes, id), eq(themes.type, "default")), input);
  await shareThemes(ctx);
  return theme;
}

/**
 * Copies the operator's themes, which pages of every site may use, from the directory to the other shards. The cron repeats it, for shards
 * that are new or didn't respond.
 */
export async function shareThemes({ env }: Pick<Ctx, "env">): Promise<void> {
  const [directory, ...others] = allDbs(env);
  if (others.length === 0) return;
  const shared = await directory.select().from(themes).where(eq(themes.siteId, OPERATOR));
  for (const db of others)
    for (const group of inGroups(shared, THEMES_AT_ONCE))
      await batchAll(
        db,
        group.map((theme) =>
          db
            .insert(themes)
            .values(theme)
            .onConflictDoUpdate({ target: themes.id, set: theme, setWhere: lt(themes.version, theme.version) }),
        ),
      );
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
  const named = (db: Db) =>
    db
      .select({ id: sites.id })
      .from(sites)
      .where(or(eq(sites.id, siteSlugOrId), eq(sites.slug, siteSlugOrId)))
      .orderBy(asc(sql`${sites.id} <> ${siteSlugOrId}`));
  const [[onFirst], found] = await ctx.db.batch([
    named(ctx.db),
    ctx.db
      .select()
      .from(themes)
      .where(and(eq(themes.siteId, OPERATOR), eq(themes.type, "admin"), or(eq(themes.id, themeNameOrId), eq(themes.name, themeNameOrId)))),
  ]);
  const everywhere = onFirst?.id === siteSlugOrId || !isSharded(ctx.env) ? [] : await fromEveryDb(ctx, named);
  // An id before a slug, which may be another site's id.
  const site = everywhere.find(({ id }) => id === siteSlugOrId) ?? onFirst ?? everywhere[0];
  if (!site) throw notFound("Site not found");
  const theme = found.find(({ id }) => id === themeNameOrId) ?? found[0];
  if (!theme) throw notFound("Admin theme not found");
  if (theme.id !== themeNameOrId && found.length > 1) throw conflict("Several admin themes have this name; use the theme's id");
  const set = { themeId: theme.id };
  const own = ctxOf(ctx, site.id);
  const change = own.db
    .insert(siteThemes)
    .values({ siteId: site.id, ...set })
    .onConflictDoUpdate({ target: siteThemes.siteId, set });
  await commit(own, change, {
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
