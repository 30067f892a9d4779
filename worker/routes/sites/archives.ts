import { createArea } from "#worker/http/area.ts";
import { bodyStream } from "#worker/http/body.ts";
import { ANYONE, DEVELOPER, SUPER } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { streamText } from "#worker/http/stream-text.ts";
import { IdParam, json } from "#worker/lib/schemas/common.ts";
import { EXPORT_ROLES, getArchive, getImport, openArchive, startExport, startImport } from "#worker/services/site-archives/archives.ts";
import { ArchiveText, ExportParam, FileParam, ImportQuery, SiteArchive, toArchive } from "#worker/services/site-archives/schemas.ts";

export const archives = createArea();

const tag = "Sites";
const NDJSON = "text/x-ndjson";
const roles = `A key also needs ${EXPORT_ROLES.map((role) => `\`${role}\``).join(", ")}.`;

archives.openapi(
  operation({
    operationId: "exportSite",
    tag,
    method: "post",
    path: "/site/v1/export",
    summary: "Export the site",
    description: `Starts an export of everything that the database has of the site, in the background; while one is running, returns that one. ${roles} Secrets in it can only be read by the same deployment.`,
    access: { credentials: DEVELOPER },
    request: {},
    responses: { 202: json("The export has started", SiteArchive) },
  }),
  async (c) => c.json(toArchive(await startExport(c.get("ctx")), null), 202),
);

archives.openapi(
  operation({
    operationId: "getSiteExport",
    tag,
    method: "get",
    path: "/site/v1/export/{exportId}",
    summary: "Get a site's export",
    description: `Returns the progress of an export and, once it is complete, a download URL. ${roles}`,
    access: { credentials: DEVELOPER },
    request: { params: ExportParam },
    responses: { 200: json("The state of the export", SiteArchive) },
    errors: ["not_found"],
  }),
  async (c) => {
    const { job, token } = await getArchive(c.get("ctx"), c.req.valid("param").exportId);
    const url = token === null ? null : `${new URL(c.req.url).origin}/site/v1/export/file/${token}`;
    return c.json(toArchive(job, url), 200);
  },
);

archives.openapi(
  operation({
    operationId: "downloadSiteExport",
    tag,
    method: "get",
    path: "/site/v1/export/file/{token}",
    summary: "Download a site's export",
    description:
      "Returns the archive: one JSON object per line, in UTF-8. The link is valid for an hour; it ends earlier if the key that received it is revoked or loses a role.",
    access: { credentials: ANYONE },
    request: { params: FileParam },
    responses: { 200: { description: "The archive", content: { [NDJSON]: { schema: ArchiveText } } } },
    errors: ["not_found"],
  }),
  async (c) => {
    const { job, text } = await openArchive(c.get("ctx"), c.req.valid("param").token);
    return c.body(streamText(text), 200, {
      "Content-Type": NDJSON,
      "Content-Disposition": `attachment; filename="site-${job.siteId}-${new Date(job.created).toISOString().slice(0, 10)}.ndjson"`,
      "X-Content-Type-Options": "nosniff",
    });
  },
);

archives.openapi(
  operation({
    operationId: "importSite",
    tag,
    method: "post",
    path: "/site/v1/import",
    summary: "Import a site",
    description:
      "Takes an archive of at most 90 MB and creates its site, with the same ids, in the background: the site appears complete or not at all. If the site exists, rows that it is missing are added, except for keys and links that give access, and all others stay as they are. Rows of other sites are rejected.",
    access: { credentials: SUPER },
    input: { maxBytes: 90 * 1024 * 1024 },
    request: { query: ImportQuery, body: { required: true, content: { [NDJSON]: { schema: ArchiveText } } } },
    responses: { 202: json("The import has started", SiteArchive) },
    errors: ["conflict"],
  }),
  async (c) => {
    const job = await startImport(c.get("ctx"), c.req.valid("query").siteId, await bodyStream(c, NDJSON));
    return c.json(toArchive(job, null), 202);
  },
);

archives.openapi(
  operation({
    operationId: "getSiteImport",
    tag,
    method: "get",
    path: "/site/v1/import/{id}",
    summary: "Get a site's import",
    description: "Returns the progress of an import and, if it failed, why. A failed import of a new site has left nothing behind.",
    access: { credentials: SUPER },
    request: { params: IdParam },
    responses: { 200: json("The state of the import", SiteArchive) },
    errors: ["not_found"],
  }),
  async (c) => c.json(toArchive(await getImport(c.get("ctx"), c.req.valid("param").id), null), 200),
);
