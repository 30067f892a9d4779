import { and, eq, sql } from "drizzle-orm";
import { pages } from "#db/schema/pages.ts";
import { type PanelRow, panels } from "#db/schema/panels.ts";
import { sites } from "#db/schema/sites.ts";
import { notFound } from "#worker/lib/errors.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { dbOf } from "#worker/services/core/databases.ts";
import { restricts } from "#worker/services/videos/gate-departures.ts";

/** A panel as a channel of a site shows it. */
export interface PanelAddress {
  siteId: string;
  channelId: string;
  panelId: string;
}

export interface EmbeddablePanel extends PanelAddress {
  panel: PanelRow;
  siteName: string;
}

/**
 * A panel that other pages may embed: anybody may see it, on a channel that anybody may watch, from everywhere and at any time. Anything
 * else is a 404, so that the response doesn't tell what exists. One round trip.
 */
export async function findEmbeddablePanel(ctx: Ctx, { siteId, channelId, panelId }: PanelAddress): Promise<EmbeddablePanel> {
  const [row] = await dbOf(ctx, siteId)
    .select({ panel: panels, data: pages.data, activeRenderers: pages.activeRenderers, siteName: sites.name })
    .from(pages)
    .innerJoin(sites, eq(sites.id, pages.siteId))
    .innerJoin(panels, and(eq(panels.siteId, pages.siteId), eq(panels.id, panelId)))
    .where(
      and(
        eq(pages.id, channelId),
        eq(pages.siteId, siteId),
        eq(pages.type, "channel"),
        sql`exists (select 1 from json_each(${pages.data}, '$.sidebar.panels') where value = ${panelId})`,
      ),
    );
  const isShown = row && (row.activeRenderers.length === 0 || row.activeRenderers.includes("sidebar"));
  if (!isShown || restricts(row.data) || row.panel.renderer.segment !== undefined) throw notFound("Panel not found");
  return { siteId, channelId, panelId, panel: row.panel, siteName: row.siteName };
}

const EMBED_PATH = /^\/panel\/v3\/embed\/([0-9a-f]{24})\/([0-9a-f]{24})\/([0-9a-f]{24})\/?$/;

/** The panel that an embed page of this deployment shows. */
export function panelAt(address: string, origin: string): PanelAddress {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const [, siteId, channelId, panelId] = (url?.origin === origin ? EMBED_PATH.exec(url.pathname) : null) ?? [];
  if (siteId === undefined || channelId === undefined || panelId === undefined) throw notFound("No embeddable panel has this URL");
  return { siteId, channelId, panelId };
}

export function embedUrl(origin: string, { siteId, channelId, panelId }: PanelAddress): string {
  return `${origin}/panel/v3/embed/${siteId}/${channelId}/${panelId}`;
}

export function oembedUrl(origin: string, address: PanelAddress): string {
  return `${origin}/panel/v3/oembed?url=${encodeURIComponent(embedUrl(origin, address))}`;
}
