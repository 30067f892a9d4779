import { z } from "@hono/zod-openapi";
import { GATE_TYPES, PAGE_TYPES } from "#db/enums.ts";
import type { PageRow } from "#db/schema/pages.ts";
import { publicMessage } from "#worker/lib/schemas/invalid-input.ts";
import { bounded, FreeObject, Id, queryJson, Tags, Time, Tracked } from "#worker/lib/schemas/common.ts";
import { ID_PATTERN } from "#worker/lib/ids.ts";
import { Slug } from "#worker/services/sites/schemas.ts";
import { pickFields } from "#worker/services/core/fields.ts";

const Url = z.url({ protocol: /^https?$/ }).max(2000);
const Metadata = z.string().max(500).optional().describe("Matched by `pageMetadata` of broadcasts and by `metadata` of the configuration");

const Programme = z.looseObject({
  video_id: Id.optional().describe("The video to play; while live, defaults to the channel's stream"),
});

/** The maximum number of panels on a page, including those of its template. */
export const SIDEBAR_PANELS = 50;

export const PageData = bounded(
  z.looseObject({
    name: z.string().trim().min(1).max(200).openapi({ example: "Main stage" }),
    gate: z
      .strictObject({ type: z.enum(GATE_TYPES), skus: z.array(z.string().min(1).max(100)).max(50).default([]) })
      .default({ type: "none", skus: [] })
      .describe(
        "Who may watch: anyone (`none`); signed-in viewers or, with skus, those who have redeemed a login code of one of them (`login`); holders of one of the skus (`entitlement`)",
      ),
    schedule: z
      .strictObject({ startTimestamp: Time, endTimestamp: Time })
      .refine(({ startTimestamp, endTimestamp }) => startTimestamp < endTimestamp, {
        path: ["endTimestamp"],
        message: "Must be after startTimestamp",
      })
      .optional()
      .describe("When it may be watched; a stream that is still live at the end stays available"),
    regions: z
      .array(z.string().regex(/^[A-Z]{2}$/, "Must be a two-letter country code (ISO 3166-1)"))
      .max(300)
      .optional()
      .describe("Countries where it may be watched; everywhere if empty or omitted")
      .openapi({ example: ["GB", "IE"] }),
    countdown: FreeObject.optional(),
    welcome_screen: z.looseObject({ duration: z.number().min(0).max(3600).optional().describe("Seconds") }).optional(),
    sidebar: z
      .looseObject({
        panels: z
          .array(Id)
          .max(SIDEBAR_PANELS)
          .refine((ids) => new Set(ids).size === ids.length, "Must not contain duplicates")
          .optional()
          .describe("The panels next to the video, in order"),
      })
      .optional(),
    artwork: FreeObject.optional(),
    content: z.looseObject({ live: Programme.optional(), offline: Programme.optional() }).optional(),
    default_mode: z.string().max(100).optional(),
    channel_select_active_image_url: Url.optional(),
    theme: Id.optional(),
    navigation: Id.optional(),
    external_field_1: Metadata,
    external_field_2: Metadata,
    external_field_3: Metadata,
    external_field_4: Metadata,
    external_field_5: Metadata,
  }),
).openapi("PageData");

const Seo = z.strictObject({ title: z.string().max(200).optional(), description: z.string().max(500).optional() });

const fields = {
  slug: Slug,
  seo: Seo,
  style: FreeObject,
  active_renderers: z.array(z.string().max(100)).max(50),
  renderers: FreeObject,
  tags: Tags,
  data: PageData,
};

const editable = {
  ...fields,
  seo: fields.seo.default({}),
  style: fields.style.default({}),
  active_renderers: fields.active_renderers.default([]),
  renderers: fields.renderers.default({}),
  tags: fields.tags.default([]),
};

export const Page = z
  .object({ _id: Id, collection: z.literal("pages"), type: z.enum(PAGE_TYPES), site_id: Id, ...fields, ...Tracked })
  .openapi("Page");

export const CreatePage = z
  .strictObject({
    type: z.enum(PAGE_TYPES),
    siteId: Id.optional().describe("Must equal Tifo-Client-Id"),
    templateId: Id.optional().describe("A channel template: its panels and rules are copied, and its theme is used"),
    ...editable,
  })
  .openapi("CreatePage", { example: { type: "channel", slug: "second-half", data: { name: "Second half" } } });

export const UpdatePage = z
  .strictObject({ siteId: Id.optional().describe("Must equal Tifo-Client-Id"), ...editable })
  .openapi("UpdatePage", { example: { slug: "second-half", data: { name: "Second half", external_field_1: "match-7" } } });

/** The id in a page's path; integrators rely on the message for a malformed one. */
const PageId = z.string().regex(ID_PATTERN, publicMessage("Invalid page ID format")).openapi({ example: "5eed0000000000000000c001" });
export const PageParam = z.object({ id: PageId });
export const PageIdParam = z.object({ pageId: PageId });

const FIELDS = [
  "_id",
  "collection",
  "type",
  "site_id",
  "slug",
  "seo",
  "style",
  "active_renderers",
  "renderers",
  "tags",
  "data",
  "created",
  "modified",
] as const;

/** `options` of the page list: sort order, fields of each page, and a filter by name. */
export const PageOptions = z
  .strictObject({
    sort: z
      .union([z.literal(1), z.literal(-1), z.literal(0)])
      .default(0)
      .describe("1 ascending, -1 descending, 0 default order"),
    sortBy: z.enum(["_id", "created", "modified", "slug", "data.name"]).default("_id"),
    projection: z.array(z.enum(FIELDS)).min(1).optional().describe("The fields to return; `_id` is always included"),
    criteria: z
      .strictObject({ "data.name": z.string().max(200).optional().describe("Exactly this name, ignoring case and accents") })
      .default({}),
  })
  .openapi("PageOptions");

export const PageFilter = {
  ids: queryJson(z.array(Id).max(300))
    .optional()
    .openapi({ type: "string", description: "A JSON array of at most 300 page ids", example: '["5eed0000000000000000c001"]' }),
  options: queryJson(PageOptions).optional().openapi({
    type: "string",
    description: "JSON: `sort`, `sortBy`, `projection`, `criteria`",
    example: '{"sort":1,"sortBy":"data.name"}',
  }),
};

/** A page with only the requested fields. */
export const ProjectedPage = Page.partial().required({ _id: true }).openapi("ProjectedPage");

export type PageOptions = z.output<typeof PageOptions>;
export type CreatePage = z.output<typeof CreatePage>;
export type UpdatePage = z.output<typeof UpdatePage>;

/** The fields of a page that a column holds. */
export const PAGE_FIELDS = {
  _id: "id",
  type: "type",
  site_id: "siteId",
  slug: "slug",
  seo: "seo",
  style: "style",
  active_renderers: "activeRenderers",
  renderers: "renderers",
  tags: "tags",
  data: "data",
  created: "created",
  modified: "modified",
} as const satisfies Record<string, keyof PageRow>;

export function toPage(row: PageRow) {
  return { ...pickFields(row, PAGE_FIELDS), collection: "pages" as const } satisfies z.output<typeof Page>;
}

/** The page reduced to the fields of a projection. */
export function projectPage(row: PageRow, projection: readonly string[] | undefined): z.output<typeof ProjectedPage> {
  const page = toPage(row);
  if (!projection) return page;
  const selected = Object.entries(page).filter(([field]) => projection.includes(field));
  return { ...Object.fromEntries(selected), _id: page._id };
}
