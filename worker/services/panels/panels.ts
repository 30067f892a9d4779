import { eq, sql } from "drizzle-orm";
import { type PanelRow, panels } from "#db/schema/panels.ts";
import type { PanelRenderer } from "#db/types.ts";
import { notFound } from "#worker/lib/errors.ts";
import { isSiteAdmin } from "#worker/lib/roles.ts";
import { type PanelInput, type PanelPatch, type PanelQuery, patchRenderer, publicRenderer, toPanel } from "./schemas.ts";
import {
  commitIfUnchanged,
  type Ctx,
  deleteRow,
  type NewEvent,
  newRow,
  nextVersion,
  ownRow,
  requireMatch,
  updateRow,
} from "#worker/services/core/context.ts";
import { keepGatedOfPanel } from "#worker/services/videos/gate-departures.ts";
import { equalTo, type ListPage, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { inRenderer } from "#worker/services/core/named-references.ts";
import { commitReferencing, newReferences, referencesExist, withReferences } from "#worker/services/core/references.ts";
import { callerSegments, type ConnectionAttributes } from "#worker/services/segments/membership.ts";
import { requireOwnSite } from "#worker/services/sites/current-site.ts";
import { visiblePanels } from "./visibility.ts";

const panelList = tableList<PanelRow>({
  table: panels,
  rows: (db, slice) => sliceOf(db.select().from(panels).$dynamic(), slice),
  sort: { modified: panels.modified, created: panels.created, panel_name: panels.panelName, panel_type: panels.panelType },
  search: { panel_name: panels.panelName },
});

const segmentOfPanel = sql`json_extract(${panels.renderer}, '$.segment')`;

const PROPERTIES = {
  _id: panels.id,
  site_id: panels.siteId,
  slug: panels.slug,
  panel_type: panels.panelType,
  panel_name: panels.panelName,
  created: panels.created,
  modified: panels.modified,
  last_modified: panels.modified,
};

/** Lists the site's panels with these properties, as visible to the caller. */
export async function listPanels(ctx: Ctx, query: PanelQuery, viewer: ConnectionAttributes): Promise<ListPage<PanelRow>> {
  const ofSite = [eq(panels.siteId, ctx.siteId), ...equalTo(PROPERTIES, query)];
  const all = await listRows(ctx, panelList, query, ...ofSite);
  if (await seesAll(ctx)) return all;
  if (isComplete(all) && all.rows.every(({ renderer }) => renderer.segment === undefined)) return forViewersOf(all);
  const segments = JSON.stringify(await callerSegments(ctx, viewer));
  const isVisible = sql`(${segmentOfPanel} is null or ${segmentOfPanel} in (select value from json_each(${segments})))`;
  return forViewersOf(await listRows(ctx, panelList, query, ...ofSite, isVisible));
}

/** Whether a page has everything that matches: the count of more could reveal panels that the caller may not read. */
function isComplete({ rows, totalCount }: ListPage<PanelRow>): boolean {
  return rows.length === totalCount;
}

function forViewersOf(page: ListPage<PanelRow>): ListPage<PanelRow> {
  return { ...page, rows: page.rows.map(forViewers) };
}

/** Returns a panel as visible to the caller, and whether it is complete. */
export async function getPanel(ctx: Ctx, id: string, viewer: ConnectionAttributes): Promise<{ row: PanelRow; complete: boolean }> {
  const row = await readPanel(ctx, id);
  if (await seesAll(ctx)) return { row, complete: true };
  const [visible] = await visiblePanels(ctx, [row], viewer);
  if (!visible) throw notFound("Panel not found");
  return { row: forViewers(visible), complete: false };
}

/** Only managers of the site see every panel, and the filtered words of chats. */
async function seesAll(ctx: Ctx): Promise<boolean> {
  const actor = await ctx.caller();
  return actor.kind !== "account" || isSiteAdmin(actor.roles, "read");
}

function forViewers(row: PanelRow): PanelRow {
  return { ...row, renderer: publicRenderer(row.renderer) };
}

async function readPanel(ctx: Ctx, id: string): Promise<PanelRow> {
  const [panel] = await ctx.db
    .select()
    .from(panels)
    .where(ownRow(ctx, panels, id));
  if (!panel) throw notFound("Panel not found");
  return panel;
}

export async function createPanel(ctx: Ctx, input: PanelInput): Promise<PanelRow> {
  requireOwnSite(ctx, input.siteId);
  const panel = newPanel(ctx, input.renderer);
  const event: NewEvent<"panel.created"> = { type: "panel.created", resource: `panel/${panel.id}`, data: toPanel(panel) };
  await commitReferencing(ctx, inRenderer(panel.renderer), ctx.db.insert(panels).values(panel), event);
  return panel;
}

/** The row of a new panel, for callers that insert it together with other rows. */
export function newPanel(ctx: Ctx, renderer: PanelRenderer, slug?: string): PanelRow {
  const row = newRow(ctx);
  return { ...row, slug: slug ?? slugOf(renderer.panel_name, row.id), ...columnsOf(renderer) };
}

/** Replaces a panel's renderer. */
export async function replacePanel(ctx: Ctx, id: string, input: PanelInput): Promise<PanelRow> {
  requireOwnSite(ctx, input.siteId);
  return changePanel(ctx, await readPanel(ctx, id), input.renderer);
}

/** Updates some fields of a panel's renderer. */
export async function patchPanel(ctx: Ctx, id: string, input: PanelPatch): Promise<PanelRow> {
  const current = await readPanel(ctx, id);
  return changePanel(ctx, current, patchRenderer(current.renderer, input.renderer));
}

async function changePanel(ctx: Ctx, current: PanelRow, renderer: PanelRenderer): Promise<PanelRow> {
  const next: PanelRow = { ...current, ...columnsOf(renderer), ...nextVersion(ctx, current) };
  const references = newReferences(inRenderer(renderer), inRenderer(current.renderer));
  const change = updateRow(ctx, panels, current, next, referencesExist(ctx, references));
  const changes = [change, ...(await keepGatedOfPanel(ctx, current.id, current.renderer, renderer))];
  const event: NewEvent<"panel.updated"> = { type: "panel.updated", resource: `panel/${next.id}`, data: toPanel(next) };
  await withReferences(ctx, references, () => commitIfUnchanged(ctx, changes, event));
  return next;
}

export async function deletePanel(ctx: Ctx, id: string): Promise<PanelRow> {
  const current = await readPanel(ctx, id);
  requireMatch(ctx, current);
  const change = deleteRow(ctx, panels, current);
  const changes = [change, ...(await keepGatedOfPanel(ctx, id, current.renderer))];
  await commitIfUnchanged(ctx, changes, { type: "panel.deleted", resource: `panel/${id}`, data: toPanel(current) });
  return current;
}

function columnsOf(renderer: PanelRenderer) {
  return { panelType: renderer.panel_type, panelName: renderer.panel_name, renderer };
}

/** A readable slug; the end of the id keeps it unique among panels with the same name. */
function slugOf(name: string, id: string): string {
  const words = name
    .normalize("NFKD")
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return [...(words ?? ["panel"]), id.slice(-6)].join("-");
}
