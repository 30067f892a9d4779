import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { ANYONE, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { listResponse, listOf, listQuery } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { Deleted, deleted, IdParam, json } from "#worker/lib/schemas/common.ts";
import { MAX_FILE_BYTES } from "#worker/services/media/media-type.ts";
import { deleteMedia, listMedia, type MediaResponse, openMedia, uploadMedia } from "#worker/services/media/media.ts";
import { Media, MediaFilters, MediaUpload, toMedia } from "#worker/services/media/schemas.ts";

export const media = createArea();
const tag = "Media";

// Leaves room for the multipart form around the file.
const MAX_UPLOAD_BYTES = MAX_FILE_BYTES + 64 * 1024;

media.openapi(
  operation({
    operationId: "listMedia",
    tag,
    method: "get",
    path: "/media/v1",
    summary: "List files",
    description: "The site's uploaded files, newest first.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    request: { query: listQuery(["created", "fileName", "size"], MediaFilters) },
    responses: { 200: json("A page of files", listOf(Media).openapi("MediaList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listMedia(c.get("ctx"), query), toMedia), 200);
  },
);

media.openapi(
  operation({
    operationId: "uploadMedia",
    tag,
    method: "post",
    path: "/media/v1",
    summary: "Upload a file",
    description:
      "Stores an image (PNG, JPEG, GIF, WebP, AVIF: 10 MB; SVG: 1 MB), a Rive file (25 MB) or captions (WebVTT, SubRip: 2 MB). The type is detected from the bytes. Use the `url` of the response as an image URL, and its `_id` as a mediaId.",
    access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" },
    limit: { name: "upload" },
    input: { maxBytes: MAX_UPLOAD_BYTES },
    request: { body: { required: true, content: { "multipart/form-data": { schema: MediaUpload } } } },
    responses: { 201: json("The file", Media) },
  }),
  async (c) => {
    const row = await uploadMedia(c.get("ctx"), c.req.valid("form").file);
    tagVersion(c, row);
    return c.json(toMedia(row), 201);
  },
);

const file = { schema: { type: "string", format: "binary" } } as const;
const FILE = { "image/*": file, "application/*": file, "text/vtt": file };

media.openapi(
  operation({
    operationId: "getMedia",
    tag,
    method: "get",
    path: "/media/v1/{id}",
    summary: "Get a file",
    description:
      "The file itself, for anyone who has its id, from any origin. It never changes, so it can be cached indefinitely. Range requests are supported. An SVG is downloaded when opened directly, and displayed when a page embeds it as an image.",
    access: { credentials: ANYONE },
    request: { params: IdParam },
    responses: {
      200: { description: "The file", content: FILE },
      206: { description: "The requested range of the file", content: FILE },
    },
    errors: ["not_found", "range_not_satisfiable"],
  }),
  async (c) => {
    const response = await openMedia(c.env, c.req.valid("param").id, {
      range: c.req.header("Range"),
      ifRange: c.req.header("If-Range"),
      ifNoneMatch: c.req.header("If-None-Match"),
      headOnly: c.req.method === "HEAD",
    });
    return new Response(response.body, { status: response.range ? 206 : 200, headers: headersOf(response) });
  },
);

media.openapi(
  operation({
    operationId: "deleteMedia",
    tag,
    method: "delete",
    path: "/media/v1/{id}",
    summary: "Delete a file",
    description:
      "Deletes a file that is not in use. While a site, page, overlay, event or other resource uses it, the response is a 409 that names the resource.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam },
    responses: { 200: json("Deleted", Deleted) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => c.json(deleted(await deleteMedia(c.get("ctx"), c.req.valid("param").id)), 200),
);

/** Uploaded files are untrusted: they may be displayed anywhere, but must not execute. */
function headersOf({ object, range }: MediaResponse): Record<string, string> {
  const type = object.httpMetadata?.contentType ?? "application/octet-stream";
  const part = range && `bytes ${range.offset}-${range.offset + range.length - 1}/${object.size}`;
  return {
    "Content-Type": type,
    "Content-Length": String(range?.length ?? object.size),
    ...(part === undefined ? {} : { "Content-Range": part }),
    ...(type === "image/svg+xml" ? { "Content-Disposition": "attachment" } : {}),
    "Accept-Ranges": "bytes",
    ETag: object.httpEtag,
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Content-Type-Options": "nosniff",
  };
}
