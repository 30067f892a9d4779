import { and, asc, eq, inArray, or, type SQL, sql } from "drizzle-orm";
import { type PageRow, pages, type PanelRow, panels, type ThemeRow, themes } from "#db/schema/index.ts";
import { notFound } from "#worker/lib/errors.ts";
import { type Ctx, ownRow } from "#worker/services/core/context.ts";

export interface PageConfiguration {
  page: PageRow;
  panels: PanelRow[];
  theme: ThemeRow | undefined;
}

export function getConfiguration(ctx: Ctx, id: string): Promise<PageConfiguration> {
  return readConfiguration(ctx, ownRow(ctx, pages, id), "Page not found");
}

/** Finds the page with this value in any of its external fields; if several match, the oldest one. */
export function getConfigurationByMetadata(ctx: Ctx, metadata: string): Promise<PageConfiguration> {
  const fields = [1, 2, 3, 4, 5].map((number) => sql`json_extract(${pages.data}, ${`$.external_field_${number}`}) = ${metadata}`);
  return readConfiguration(ctx, and(eq(pages.siteId, ctx.siteId), or(...fields)), "Page not found for the given metadata value");
}

/** Reads a consistent snapshot in one round trip. */
async function readConfiguration(ctx: Ctx, condition: SQL | undefined, notFoundMessage: string): Promise<PageConfiguration> {
  const ofPage = (path: string) =>
    sql`(select json_extract(${pages.data}, ${path}) from ${pages} where ${condition} order by ${pages.id} limit 1)`;
  const [[page], found, [theme]] = await ctx.db.batch([
    ctx.db.select().from(pages).where(condition).orderBy(asc(pages.id)).limit(1),
    ctx.db
      .select()
      .from(panels)
      .where(and(eq(panels.siteId, ctx.siteId), sql`${panels.id} in (select value from json_each(${ofPage("$.sidebar.panels")}))`)),
    ctx.db
      .select()
      .from(themes)
      .where(and(eq(themes.id, ofPage("$.theme")), inArray(themes.siteId, [ctx.siteId, ""]))),
  ]);
  if (!page) throw notFound(notFoundMessage);
  return { page, panels: sidebarOf(page, found), theme };
}

/** The panels in the page's order. A page that lists active renderers shows panels only if they include the sidebar. */
function sidebarOf({ activeRenderers, data }: PageRow, found: PanelRow[]): PanelRow[] {
  if (activeRenderers.length > 0 && !activeRenderers.includes("sidebar")) return [];
  return (data.sidebar?.panels ?? []).flatMap((id) => found.find((panel) => panel.id === id) ?? []);
}
