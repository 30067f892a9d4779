import { and, eq, or, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { calendarEvents } from "#db/schema/calendar.ts";
import { channelTemplates } from "#db/schema/channel-templates.ts";
import { bundles } from "#db/schema/commerce/bundles.ts";
import { overlays } from "#db/schema/overlays.ts";
import { pages } from "#db/schema/pages.ts";
import { panels } from "#db/schema/panels.ts";
import { polls } from "#db/schema/engagement/polls.ts";
import { quests } from "#db/schema/engagement/quests.ts";
import { sites } from "#db/schema/sites.ts";
import { streams } from "#db/schema/streams/streams.ts";
import { themes } from "#db/schema/themes.ts";
import { videos } from "#db/schema/videos.ts";
import type { Ctx } from "#worker/services/core/context.ts";

interface Use {
  area: string;
  table: SQLiteTable;
  id: SQLiteColumn;
  siteId: SQLiteColumn;
  /** The columns that may contain a file's id or URL, alone or within JSON. */
  columns: SQLiteColumn[];
}

/** Everything that may reference a file. Add an area here if its rows contain media ids or URLs. */
const USES: Use[] = [
  { area: "site", table: sites, id: sites.id, siteId: sites.id, columns: [sites.regions, sites.settings, sites.style] },
  {
    area: "page",
    table: pages,
    id: pages.id,
    siteId: pages.siteId,
    columns: [pages.data, pages.seo, pages.style, pages.renderers],
  },
  { area: "panel", table: panels, id: panels.id, siteId: panels.siteId, columns: [panels.renderer] },
  {
    area: "template",
    table: channelTemplates,
    id: channelTemplates.id,
    siteId: channelTemplates.siteId,
    columns: [channelTemplates.icon, channelTemplates.panels],
  },
  { area: "theme", table: themes, id: themes.id, siteId: themes.siteId, columns: [themes.logo, themes.icon, themes.backgrounds] },
  { area: "overlay", table: overlays, id: overlays.id, siteId: overlays.siteId, columns: [overlays.contents, overlays.cta] },
  { area: "video", table: videos, id: videos.id, siteId: videos.siteId, columns: [videos.thumbnail] },
  { area: "stream", table: streams, id: streams.id, siteId: streams.siteId, columns: [streams.fallbackImageUrl] },
  { area: "poll", table: polls, id: polls.id, siteId: polls.siteId, columns: [polls.answers] },
  { area: "quest", table: quests, id: quests.id, siteId: quests.siteId, columns: [quests.rewardImage] },
  { area: "bundle", table: bundles, id: bundles.id, siteId: bundles.siteId, columns: [bundles.image] },
  { area: "event", table: calendarEvents, id: calendarEvents.id, siteId: calendarEvents.siteId, columns: [calendarEvents.image] },
];

/** The resources that use the file, as "<area>/<id>", at most one per area. */
export async function findUses(ctx: Ctx, mediaId: string): Promise<string[]> {
  const [first, ...rest] = USES.map(({ area, table, id, ...use }) =>
    ctx.db
      .select({ by: sql<string>`${area} || '/' || ${id}`.as("by") })
      .from(table)
      .where(uses(ctx, use, mediaId))
      .limit(1),
  );
  if (!first) return [];
  const found = await ctx.db.batch([first, ...rest]);
  return found.flat().map((use) => use.by);
}

/** The condition for deleting the file: nothing uses it. */
export function unused(ctx: Ctx, mediaId: string): SQL | undefined {
  return and(...USES.map(({ table, ...use }) => sql`not exists (select 1 from ${table} where ${uses(ctx, use, mediaId)})`));
}

// Ids don't occur in text by chance, so any occurrence is a reference, whatever JSON surrounds it.
function uses(ctx: Ctx, { siteId, columns }: Pick<Use, "siteId" | "columns">, mediaId: string): SQL | undefined {
  return and(eq(siteId, ctx.siteId), or(...columns.map((column) => sql`instr(${column}, ${mediaId}) > 0`)));
}
