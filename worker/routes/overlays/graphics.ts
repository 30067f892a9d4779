import type { Context } from "hono";
import { z } from "@hono/zod-openapi";
import type { AppEnv } from "#worker/http/app-env.ts";
import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { ANYONE, DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { notFound } from "#worker/lib/errors.ts";
import { Deleted, deleted, Id, IdParam, json } from "#worker/lib/schemas/common.ts";
import { listOf, listQuery, listResponse } from "#worker/services/core/list-schemas.ts";
import { fileHeaders, frameHeaders, graphicFrame, openGraphicFile } from "#worker/services/graphics/frame.ts";
import { deleteGraphic, getGraphic, listGraphics, MAX_ARCHIVE_BYTES, uploadGraphic } from "#worker/services/graphics/graphics.ts";
import { Graphic, GraphicUpload, toGraphic } from "#worker/services/graphics/schemas.ts";

export const graphics = createArea();

const tag = "Overlays";
// Leaves room for the multipart form around the file.
const MAX_UPLOAD_BYTES = MAX_ARCHIVE_BYTES + 64 * 1024;

graphics.openapi(
  operation({
    operationId: "listGraphics",
    tag,
    method: "get",
    path: "/overlay/v1/graphics",
    summary: "List graphics",
    description: "The site's OGraf graphics, newest first.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { query: listQuery(["created", "name", "size"], {}) },
    responses: { 200: json("A page of graphics", listOf(Graphic).openapi("GraphicList")) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listGraphics(c.get("ctx"), query), toGraphic), 200);
  },
);

graphics.openapi(
  operation({
    operationId: "uploadGraphic",
    tag,
    method: "post",
    path: "/overlay/v1/graphics",
    summary: "Upload a graphic",
    description:
      'Stores an OGraf graphic: a zip archive (10 MB, 300 files, 30 MB unpacked) with one manifest, whose name ends with `.ograf.json`, and its files. An overlay shows it with `{ kind: "ograf", graphic }`. Its script runs in a sandbox, without access to the page and to other hosts, but upload only what you trust: it runs on the viewers\' screens.',
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    limit: { name: "upload" },
    input: { maxBytes: MAX_UPLOAD_BYTES },
    request: { body: { required: true, content: { "multipart/form-data": { schema: GraphicUpload } } } },
    responses: { 201: json("The graphic", Graphic) },
  }),
  async (c) => {
    const row = await uploadGraphic(c.get("ctx"), c.req.valid("form").file);
    tagVersion(c, row);
    return c.json(toGraphic(row), 201);
  },
);

graphics.openapi(
  operation({
    operationId: "getGraphic",
    tag,
    method: "get",
    path: "/overlay/v1/graphics/{id}",
    summary: "Get a graphic",
    description: "Returns one graphic with the schema of its data, its custom actions and its files.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam },
    responses: { 200: json("The graphic", Graphic) },
    errors: ["not_found"],
  }),
  async (c) => {
    const row = await getGraphic(c.get("ctx"), c.req.valid("param").id);
    tagVersion(c, row);
    return c.json(toGraphic(row), 200);
  },
);

graphics.openapi(
  operation({
    operationId: "deleteGraphic",
    tag,
    method: "delete",
    path: "/overlay/v1/graphics/{id}",
    summary: "Delete a graphic",
    description: "Deletes a graphic and its files. While an overlay uses it, the response is a 409 that names the overlay.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam },
    responses: { 200: json("Deleted", Deleted) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => c.json(deleted(await deleteGraphic(c.get("ctx"), c.req.valid("param").id)), 200),
);

graphics.openapi(
  operation({
    operationId: "getGraphicFrame",
    tag,
    method: "get",
    path: "/overlay/v1/graphics/{id}/frame",
    summary: "Get a graphic's frame",
    description:
      "The document in which a graphic's script runs, for an `iframe` of a viewer's app. Its policy gives it no origin, and no way to other hosts but for images, fonts and media. Browsers don't get it as a page of its own.",
    access: { credentials: ANYONE },
    request: { params: IdParam },
    responses: { 200: { description: "The document", content: { "text/html": { schema: { type: "string" } } } } },
    errors: ["not_found"],
  }),
  async (c) => {
    const { id } = c.req.valid("param");
    // On its own, an upload could pose as a page of the deployment.
    if (c.req.header("Sec-Fetch-Dest") === "document") throw notFound("Graphic not found");
    return c.body(await graphicFrame(c.env, id), 200, await frameHeaders(new URL(c.req.url).origin, id));
  },
);

const fileOperation = operation({
  operationId: "getGraphicFile",
  tag,
  method: "get",
  path: "/overlay/v1/graphics/{id}/files/{path}",
  summary: "Get a file of a graphic",
  description: "A file of a graphic, for its own frame. The path is that in the archive and may have several segments.",
  access: { credentials: ANYONE },
  request: { params: z.object({ id: Id, path: z.string().openapi({ example: "graphic.mjs" }) }) },
  responses: { 200: { description: "The file", content: { "*/*": { schema: { type: "string", format: "binary" } } } } },
  errors: ["not_found"],
});

graphics.openapi(fileOperation, (c) => sendFile(c, c.req.valid("param")));
// The document's paths can't say that a parameter contains slashes.
graphics.openapi({ ...fileOperation, path: "/overlay/v1/graphics/{id}/files/{path{.+}}", hide: true }, (c) => {
  const { id } = c.req.valid("param");
  return sendFile(c, { id, path: c.req.param("path") ?? "" });
});

/** What could act in this origin's name is only for frames, which have none. */
const ACTIVE = /^(text\/(javascript|css)|application\/wasm)/;

async function sendFile(c: Context<AppEnv>, { id, path }: { id: string; path: string }): Promise<Response> {
  const object = await openGraphicFile(c.env, id, path.replace(/\/$/, ""));
  const isOwnPage = /^same-/.test(c.req.header("Sec-Fetch-Site") ?? "");
  if (isOwnPage && ACTIVE.test(object.httpMetadata?.contentType ?? "")) throw notFound("File not found");
  return new Response(object.body, { headers: fileHeaders(object) });
}
