import { z } from "@hono/zod-openapi";
import { PANEL_TYPES } from "#db/enums.ts";
import type { PanelRow } from "#db/schema/panels.ts";
import { invalidInput } from "#worker/lib/schemas/invalid-input.ts";
import { listQuery } from "#worker/services/core/list-schemas.ts";
import { FreeObject, fromQuery, Id, Time, Tracked } from "#worker/lib/schemas/common.ts";
import { PanelRenderer } from "#worker/lib/schemas/panel-renderer.ts";

export const Panel = z
  .object({
    _id: Id,
    collection: z.literal("panels"),
    type: z.literal("panel"),
    site_id: Id,
    slug: z.string().describe("Derived from the first panel_name; doesn't change with the name"),
    renderer: PanelRenderer,
    ...Tracked,
    last_modified: Time.describe("Same as `modified`"),
  })
  .openapi("Panel");

export const PanelInput = z
  .strictObject({ siteId: Id.describe("Must equal Tifo-Client-Id"), renderer: PanelRenderer })
  .openapi("PanelInput", {
    example: {
      siteId: "5eed00000000000000000001",
      renderer: {
        panel_type: "chat",
        panel_name: "Match chat",
        icon_name: "chat",
        filtered_words: "offside ref",
        system_name: "Stadium announcer",
        system_welcome_message: "Welcome to Harbour City Park.",
      },
    },
  });

export const PanelPatch = z
  .strictObject({ renderer: FreeObject.describe("The fields to change, each replaced completely; null removes a field") })
  .openapi("PanelPatch", { example: { renderer: { panel_name: "Terrace chat", system_name: null } } });

const Moment = fromQuery(z.number().int()).optional().describe("Milliseconds since 1970 UTC");

/** Filters by any property of a panel; of its renderer, only the type and name. */
export const PanelQuery = listQuery(["modified", "created", "panel_name", "panel_type"], {
  _id: Id.optional(),
  collection: z.literal("panels").optional(),
  type: z.literal("panel").optional(),
  site_id: Id.optional(),
  created: Moment,
  modified: Moment,
  last_modified: Moment,
  slug: z.string().max(200).optional(),
  panel_type: z.enum(PANEL_TYPES).optional(),
  panel_name: z.string().max(200).optional(),
});

export type PanelQuery = z.output<typeof PanelQuery>;
export type PanelInput = z.output<typeof PanelInput>;
export type PanelPatch = z.output<typeof PanelPatch>;

const Merged = z.object({ renderer: PanelRenderer });

/** Merges a patch into the renderer and validates the result, since another panel_type has other fields. */
export function patchRenderer(current: PanelRenderer, patch: PanelPatch["renderer"]): PanelRenderer {
  const fields = Object.entries({ ...current, ...patch }).filter(([, value]) => value !== null);
  const merged = Merged.safeParse({ renderer: Object.fromEntries(fields) });
  if (!merged.success) throw invalidInput(merged.error, "json");
  return merged.data.renderer;
}

/** The renderer without its segment and a chat's filtered words, which viewers may not see. */
export function publicRenderer({ segment: _, ...renderer }: PanelRenderer): PanelRenderer {
  return renderer.panel_type === "chat" ? { ...renderer, filtered_words: "" } : renderer;
}

export function toPanel(row: PanelRow) {
  return {
    _id: row.id,
    collection: "panels" as const,
    type: "panel" as const,
    site_id: row.siteId,
    slug: row.slug,
    renderer: row.renderer,
    created: row.created,
    modified: row.modified,
    last_modified: row.modified,
  } satisfies z.output<typeof Panel>;
}
