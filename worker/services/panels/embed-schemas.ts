import { z } from "@hono/zod-openapi";
import { fromQuery, Id } from "#worker/lib/schemas/common.ts";

export const EmbedParams = z.object({
  siteId: Id.openapi({ example: "5eed00000000000000000001" }),
  channelId: Id.openapi({ example: "5eed0000000000000000c002" }),
  panelId: Id.openapi({ example: "5eed0000000000000000d007" }),
});

const Pixels = fromQuery(z.number().int().min(1).max(100_000)).optional().describe("The largest that fits, in pixels");

/** Consumers add parameters of their own, such as a theme or a language, so unknown ones are ignored. */
export const OEmbedQuery = z.object({
  url: z.string().max(2000).describe("The URL of a panel's embed page").openapi({
    example: "http://localhost:8787/panel/v3/embed/5eed00000000000000000001/5eed0000000000000000c002/5eed0000000000000000d007",
  }),
  format: z.string().max(100).optional().describe("Only `json`, the default; any other format, such as `xml`, is a 501"),
  maxwidth: Pixels,
  maxheight: Pixels,
});

export const OEmbed = z
  .object({
    version: z.literal("1.0"),
    type: z.literal("rich"),
    title: z.string().describe("Name of the panel"),
    author_name: z.string().describe("Name of the site"),
    provider_name: z.string(),
    provider_url: z.string(),
    cache_age: z.number().int().describe("Seconds"),
    html: z.string().describe("An iframe with the panel's embed page"),
    width: z.number().int().describe("Pixels"),
    height: z.number().int().describe("Pixels"),
  })
  .openapi("OEmbed");

export type OEmbed = z.output<typeof OEmbed>;
