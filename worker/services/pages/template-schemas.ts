import { z } from "@hono/zod-openapi";
import type { ChannelTemplateRow } from "#db/schema/channel-templates.ts";
import { fromQuery, Id, QueryBoolean, Tracked } from "#worker/lib/schemas/common.ts";
import { PanelRenderer } from "#worker/lib/schemas/panel-renderer.ts";

const Who = z.string().min(1).max(200).openapi({ example: "5eed0000000000000000a001" });

const TemplatePanel = z
  .strictObject({
    _id: Id.optional(),
    collection: z.literal("panels"),
    type: z.literal("panel"),
    creator: Who,
    owner: Who,
    site_id: Id.describe("Must equal Tifo-Client-Id"),
    slug: z.string().min(1).max(200),
    renderer: PanelRenderer.optional(),
  })
  .openapi("TemplatePanel", { description: "Without a renderer, the site's panel with this slug is copied" });

const editable = {
  title: z.string().trim().min(1).max(100).openapi({ example: "Match day" }),
  description: z.string().max(250).default(""),
  icon: z.string().min(1).max(2000).nullable().default(null),
  panels: z.array(TemplatePanel).max(50).describe("Copied to each channel, in this order"),
  rules: z.array(Id).max(200).describe("Ids of automation rules"),
  theme: Id.nullable().default(null),
  creator: Who.describe("The account that created it"),
  owner: Who.describe("The account that owns it"),
};

export const ChannelTemplateInput = z
  .strictObject({
    siteId: Id.describe("Must equal Tifo-Client-Id"),
    ...editable,
    archived: z.boolean().optional().describe("`false` restores an archived template; unchanged if omitted"),
  })
  .openapi("ChannelTemplateInput", {
    example: {
      title: "Match day",
      description: "Chat and fixtures beside the video",
      siteId: "5eed00000000000000000001",
      creator: "5eed0000000000000000a001",
      owner: "5eed0000000000000000a001",
      panels: [
        {
          collection: "panels",
          type: "panel",
          creator: "5eed0000000000000000a001",
          owner: "5eed0000000000000000a001",
          site_id: "5eed00000000000000000001",
          slug: "match-chat",
          renderer: { panel_type: "chat", panel_name: "Match chat", icon_name: "chat" },
        },
      ],
      rules: [],
    },
  });

const Archived = z.boolean().describe("Whether it is archived: not listed by default, and no channel can be created from it");

export const ChannelTemplate = z.object({ _id: Id, siteId: Id, ...editable, archived: Archived, ...Tracked }).openapi("ChannelTemplate");

export const ChannelTemplateList = z
  .object({ templates: z.array(ChannelTemplate), totalCount: z.number().int() })
  .openapi("ChannelTemplateList");

export const TemplateQuery = z.strictObject({
  limit: fromQuery(z.number().int().min(1).max(200)).default(50).openapi({ description: "At most 200", example: 50 }),
  offset: fromQuery(z.number().int().min(0).max(1_000_000)).default(0),
  archived: QueryBoolean.optional().describe("If `true`, lists archived templates; otherwise active ones"),
  sort: z.enum(["modified", "created", "title"]).default("modified"),
  direction: z
    .enum(["1", "-1"])
    .default("-1")
    .transform((direction) => (direction === "1" ? 1 : -1))
    .openapi({ type: "integer", enum: [1, -1], description: "1 ascending, -1 descending", example: -1 }),
});

export const TemplateParam = z.object({ templateId: Id });

export type ChannelTemplateInput = z.output<typeof ChannelTemplateInput>;

export function toChannelTemplate(row: ChannelTemplateRow) {
  return {
    _id: row.id,
    siteId: row.siteId,
    title: row.title,
    description: row.description,
    icon: row.icon,
    panels: row.panels,
    rules: row.rules,
    theme: row.theme,
    creator: row.creator,
    owner: row.owner,
    archived: row.archived,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof ChannelTemplate>;
}
