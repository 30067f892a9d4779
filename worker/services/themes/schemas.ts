import { z } from "@hono/zod-openapi";
import { ALERT_COLORS, BORDER_RADII, SURFACES, TEXT_CAPITALIZATIONS, TEXT_COLORS, THEME_MODES, THEME_TYPES } from "#db/enums.ts";
import type { ThemeRow } from "#db/schema/themes.ts";
import type { ThemeColor, ThemeColors } from "#db/types.ts";
import { listQuery } from "#worker/services/core/list-schemas.ts";
import { Id, ImageUrl, Tracked } from "#worker/lib/schemas/common.ts";
import { contrastOf, TEXT_CONTRAST } from "./contrast.ts";

const HexColor = z
  .string()
  .regex(/^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/, "A hex colour: #rgb or #rrggbb")
  .openapi({ example: "#6E5FFB" });

const COLORS = ["accent", "highlight", ...SURFACES, ...TEXT_COLORS, ...ALERT_COLORS] as const;
const Colors = z
  .partialRecord(z.enum(COLORS), HexColor)
  .describe("By role: accent and highlight, surfaces from back to front, text from strongest to faintest, alerts")
  .openapi("ThemeColors", {
    type: "object",
    properties: Object.fromEntries(COLORS.map((name) => [name, { type: "string", pattern: "^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$" }])),
    additionalProperties: false,
    example: { accent: "#4B3FD1", highlight: "#FACC15", surface1: "#0B0B12", surface2: "#16161F", text100: "#FFFFFF", text200: "#C9C9D6" },
  });

const FontFamily = z.string().min(1).max(200).openapi({ example: "Inter, system-ui, sans-serif" });

const editable = {
  name: z.string().trim().min(1).max(100).openapi({ example: "Floodlight" }),
  mode: z.enum(THEME_MODES).default("light"),
  colors: Colors,
  button: z
    .strictObject({
      borderRadius: z.enum(BORDER_RADII).default("rounded"),
      textCapitalization: z.enum(TEXT_CAPITALIZATIONS).default("original"),
    })
    .prefault({}),
  typography: z.strictObject({ body: FontFamily.default("system-ui"), headline: FontFamily.default("system-ui") }).prefault({}),
  logo: ImageUrl.nullable().default(null),
  icon: ImageUrl.nullable().default(null),
  backgrounds: z.array(ImageUrl).max(20).default([]),
};

const example = {
  name: "Floodlight",
  mode: "dark",
  colors: { accent: "#4B3FD1", highlight: "#FACC15", surface1: "#0B0B12", surface2: "#16161F", text100: "#FFFFFF", text200: "#C9C9D6" },
  button: { borderRadius: "pill", textCapitalization: "original" },
  typography: { body: "Inter", headline: "Archivo" },
};

export const CustomThemeInput = z
  .strictObject({
    ...editable,
    siteId: Id.optional().describe("Must equal Tifo-Client-Id"),
    type: z.enum(["custom", "classic", "advanced"]).default("custom"),
  })
  .openapi("CustomThemeInput", { example });

export const AdminThemeInput = z
  .strictObject({ ...editable, type: z.literal("admin").default("admin") })
  .openapi("AdminThemeInput", { example });

export const DefaultThemeInput = z
  .strictObject({ ...editable, type: z.literal("default").default("default") })
  .openapi("DefaultThemeInput", { example });

export const Theme = z
  .object({
    _id: Id,
    siteId: Id.nullable().describe("Null for the operator's themes, which every site can use"),
    ...editable,
    type: z.enum(THEME_TYPES),
    warnings: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .describe("Text colours that are hard to read on their background (WCAG 2.2 requires 4.5:1)"),
    ...Tracked,
  })
  .openapi("Theme");

export const ThemeList = z.object({ totalCount: z.number().int(), themes: z.array(Theme) }).openapi("ThemeList");

export const ThemeQuery = listQuery(["modified"], {}).pick({ limit: true, offset: true });

export const ApplyTheme = z
  .strictObject({ siteSlugOrId: z.string().min(1).max(100), themeNameOrId: z.string().min(1).max(100) })
  .openapi("ApplyTheme", { example: { siteSlugOrId: "5eed00000000000000000001", themeNameOrId: "Control room" } });

export const ApplyThemeAnswer = z.object({ success: z.literal(true) }).openapi("ApplyThemeAnswer");

export const DeleteThemeAnswer = z
  .object({
    result: z.boolean().describe("False if pages use the theme, which then isn't deleted"),
    pages: z.array(z.object({ _id: Id, slug: z.string(), name: z.string() })).describe("The pages that use it"),
  })
  .openapi("DeleteThemeAnswer");

export type ThemeInput = Omit<z.output<typeof CustomThemeInput>, "type" | "siteId"> & { type: ThemeRow["type"]; siteId?: string };
export type ApplyTheme = z.output<typeof ApplyTheme>;

export function toTheme(row: ThemeRow) {
  return {
    _id: row.id,
    siteId: row.siteId === "" ? null : row.siteId,
    name: row.name,
    type: row.type,
    mode: row.mode,
    colors: row.colors,
    button: row.button,
    typography: row.typography,
    logo: row.logo,
    icon: row.icon,
    backgrounds: row.backgrounds,
    warnings: contrastWarnings(row.colors),
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof Theme>;
}

/** Warnings for text that is too faint on a surface, and for an accent on which no button label is readable. */
function contrastWarnings(colors: ThemeColors): { path: string; message: string }[] {
  const onSurfaces = TEXT_COLORS.flatMap((text) =>
    SURFACES.map((surface) => warnBelow(`colors.${text}`, `on ${surface}`, contrasts(colors, text, [surface]))),
  );
  const onButton = warnBelow(
    "colors.accent",
    "at best for a button's label (text100 or surface1)",
    contrasts(colors, "accent", ["text100", "surface1"]),
  );
  return [...onSurfaces, onButton].filter((warning) => warning !== undefined);
}

function contrasts(colors: ThemeColors, one: ThemeColor, others: ThemeColor[]): number[] {
  const front = colors[one];
  if (front === undefined) return [];
  return others.flatMap((other) => colors[other] ?? []).map((back) => contrastOf(front, back));
}

function warnBelow(path: string, where: string, possible: number[]): { path: string; message: string } | undefined {
  if (possible.length === 0) return undefined;
  const best = Math.max(...possible);
  // Rounded down, so that a ratio just below the limit isn't shown as sufficient.
  const ratio = Math.floor(best * 100) / 100;
  return best < TEXT_CONTRAST ? { path, message: `${ratio}:1 ${where}; text needs ${TEXT_CONTRAST}:1` } : undefined;
}
