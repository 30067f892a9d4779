import { z } from "@hono/zod-openapi";
import { and, asc, eq, getTableColumns, inArray, or, type SQL, sql } from "drizzle-orm";
import { type PageRow, pages } from "#db/schema/pages.ts";
import { type PanelRow, panels } from "#db/schema/panels.ts";
import { sites } from "#db/schema/sites.ts";
import { type ThemeRow, themes } from "#db/schema/themes.ts";
import { notFound } from "#worker/lib/errors.ts";
import { type Ctx, ownRow, ownRows } from "#worker/services/core/context.ts";
import { collects } from "#worker/services/insights/rollup.ts";
import { visiblePanels } from "#worker/services/panels/visibility.ts";
import type { ConnectionAttributes } from "#worker/services/segments/membership.ts";
import { PlayerSettings } from "#worker/services/sites/setting-schemas.ts";

const Collect = z.object({ collect: z.number() });

export interface PageConfiguration {
  page: PageRow;
  /** The site's settings that a player follows. */
  settings: PlayerSettings;
  /** Whether the site collects impressions. */
  collect: boolean;
  panels: PanelRow[];
  theme: ThemeRow | undefined;
}

export function getConfiguration(ctx: Ctx, id: string, viewer: ConnectionAttributes): Promise<PageConfiguration> {
  return readConfiguration(ctx, viewer, ownRow(ctx, pages, id), "Page not found");
}

/** Finds the page with this value in any of its external fields; if several match, the oldest one. */
export function getConfigurationByMetadata(ctx: Ctx, metadata: string, viewer: ConnectionAttributes): Promise<PageConfiguration> {
  const fields = [1, 2, 3, 4, 5].map((number) => sql`json_extract(${pages.data}, ${`$.external_field_${number}`}) = ${metadata}`);
  return readConfiguration(ctx, viewer, and(eq(pages.siteId, ctx.siteId), or(...fields)), "Page not found for the given metadata value");
}

/** Reads a consistent snapshot in one round trip; a page with panels for segments takes another. */
async function readConfiguration(
  ctx: Ctx,
  viewer: ConnectionAttributes,
  condition: SQL | undefined,
  notFoundMessage: string,
): Promise<PageConfiguration> {
  const ofPage = (path: string) =>
    sql`(select json_extract(${pages.data}, ${path}) from ${pages} where ${condition} order by ${pages.id} limit 1)`;
  const [[row], found, [theme]] = await ctx.db.batch([
    ctx.db
      .select({ ...getTableColumns(pages), siteSettings: siteSettings(ctx.siteId) })
      .from(pages)
      .where(condition)
      .orderBy(asc(pages.id))
      .limit(1),
    ctx.db
      .select()
      .from(panels)
      .where(ownRows(ctx, panels, ofPage("$.sidebar.panels"))),
    ctx.db
      .select()
      .from(themes)
      .where(and(eq(themes.id, ofPage("$.theme")), inArray(themes.siteId, [ctx.siteId, ""]))),
  ]);
  if (!row) throw notFound(notFoundMessage);
  const { siteSettings: settings, ...page } = row;
  return {
    page,
    settings: PlayerSettings.parse(JSON.parse(settings)),
    collect: Collect.parse(JSON.parse(settings)).collect === 1,
    panels: await visiblePanels(ctx, sidebarOf(page, found), viewer),
    theme,
  };
}

/** The settings that a player follows, and whether it reports impressions, as JSON text, for a select of a page. */
function siteSettings(siteId: string): SQL.Aliased<string> {
  const at = (name: string) => sql`json_extract(${sites.settings}, ${`$.${name}`})`;
  return sql<string>`(select json_object('transitions', ${at("transitions")}, 'localization', ${at("localization")},
    'collect', ${collects()}) from ${sites} where ${sites.id} = ${siteId})`.as("site_settings");
}

/** The panels in the page's order. A page that lists active renderers shows panels only if they include the sidebar. */
function sidebarOf({ activeRenderers, data }: PageRow, found: PanelRow[]): PanelRow[] {
  if (activeRenderers.length > 0 && !activeRenderers.includes("sidebar")) return [];
  return (data.sidebar?.panels ?? []).flatMap((id) => found.find((panel) => panel.id === id) ?? []);
}
