import { z } from "@hono/zod-openapi";
import { MEDIA_KINDS } from "#db/enums.ts";
import type { MediaRow } from "#db/schema/media.ts";
import { Id, Tracked } from "#worker/lib/schemas/common.ts";

export const MediaUpload = z
  .strictObject({
    file: z.instanceof(File, { error: "One file is required" }).openapi({ type: "string", format: "binary" }),
  })
  .openapi("MediaUpload");

export const Media = z
  .object({
    _id: Id,
    siteId: Id,
    fileName: z.string().openapi({ example: "scarf.png" }),
    kind: z.enum(MEDIA_KINDS),
    contentType: z
      .string()
      .describe("Detected from the file's bytes; the type declared by the upload is ignored")
      .openapi({ example: "image/png" }),
    size: z.number().int().describe("Bytes"),
    url: z.string().describe("Path on this deployment; accepted wherever an image or file URL is"),
    ...Tracked,
  })
  .openapi("Media");

export const MediaFilters = { kind: z.enum(MEDIA_KINDS).optional() };

export function toMedia(row: MediaRow) {
  return {
    _id: row.id,
    siteId: row.siteId,
    fileName: row.fileName,
    kind: row.kind,
    contentType: row.contentType,
    size: row.size,
    url: `/media/v1/${row.id}`,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof Media>;
}
