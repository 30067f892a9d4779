import { z } from "@hono/zod-openapi";
import { PAGE_TYPES, PANEL_TYPES } from "#db/enums.ts";
import { publicMessage } from "#worker/lib/schemas/invalid-input.ts";
import { Id } from "#worker/lib/schemas/common.ts";
import { randomHex } from "#worker/lib/ids.ts";
import type { PageConfiguration } from "./configuration.ts";
import { PanelRenderer } from "#worker/lib/schemas/panel-renderer.ts";
import { publicRenderer } from "#worker/services/panels/schemas.ts";
import { Localization, Transitions } from "#worker/services/sites/setting-schemas.ts";
import { Theme, toTheme } from "#worker/services/themes/schemas.ts";

export const Configuration = z
  .object({
    panels: z
      .array(
        z.object({
          _id: Id,
          slug: z.string(),
          panel_name: z.string(),
          panel_type: z.enum(PANEL_TYPES),
          icon_name: z.string().nullable(),
          // Adding a description would create a second schema in the document.
          renderer: PanelRenderer,
        }),
      )
      .describe(
        "The existing panels of `data.sidebar.panels`, in the page's order, without those for segments that the viewer isn't in; chat panels without their filtered words",
      ),
    page: z.object({ _id: Id, slug: z.string(), type: z.enum(PAGE_TYPES), name: z.string() }),
    insights: z.object({
      _id: z.string().describe("Identifies this view of the page; different for each response"),
      version: z.number().int().describe("Version of the page; increases with each change"),
      collect: z.boolean().describe("Whether the site collects impressions and actions; if not, report none"),
    }),
    site: z.object({
      _id: Id,
      transitions: Transitions.optional(),
      localization: Localization.optional(),
    }),
    theme: Theme.pick({ name: true, type: true, mode: true, colors: true, button: true, typography: true, logo: true })
      .optional()
      .describe("The page's theme; omitted if it has none"),
  })
  .openapi("PageConfiguration");

const required = publicMessage("metadata query parameter is required");

export const MetadataQuery = z.strictObject({
  metadata: z
    .string(required)
    .min(1, required)
    .max(500)
    .describe("A value of external_field_1 to external_field_5")
    .openapi({ example: "match-7" }),
});

const INSIGHTS_BYTES = 16;

export function toConfiguration({ page, settings, collect, panels, theme }: PageConfiguration) {
  const { transitions, localization } = settings;
  return {
    panels: panels.map(({ id, slug, panelName, panelType, renderer }) => ({
      _id: id,
      slug,
      panel_name: panelName,
      panel_type: panelType,
      icon_name: renderer.icon_name ?? null,
      renderer: publicRenderer(renderer),
    })),
    page: { _id: page.id, slug: page.slug, type: page.type, name: page.data.name },
    insights: { _id: randomHex(INSIGHTS_BYTES), version: page.version, collect },
    site: { _id: page.siteId, ...(transitions && { transitions }), ...(localization && { localization }) },
    ...(theme ? { theme: toThemeSummary(toTheme(theme)) } : {}),
  } satisfies z.output<typeof Configuration>;
}

function toThemeSummary({ name, type, mode, colors, button, typography, logo }: ReturnType<typeof toTheme>) {
  return { name, type, mode, colors, button, typography, logo };
}
