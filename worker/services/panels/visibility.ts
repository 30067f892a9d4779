import type { PanelRow } from "#db/schema/panels.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { callerSegments, type ConnectionAttributes } from "#worker/services/segments/membership.ts";

/** The panels that the caller may read as a viewer. Only panels for segments cost a query. */
export async function visiblePanels(ctx: Ctx, rows: PanelRow[], viewer: ConnectionAttributes): Promise<PanelRow[]> {
  if (rows.every(({ renderer }) => renderer.segment === undefined)) return rows;
  const segments = new Set(await callerSegments(ctx, viewer));
  return rows.filter(({ renderer }) => renderer.segment === undefined || segments.has(renderer.segment));
}
