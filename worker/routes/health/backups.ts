import { createArea } from "#worker/http/area.ts";
import { SUPER } from "#worker/http/credentials.ts";
import { operation } from "#worker/http/operation.ts";
import { streamText } from "#worker/http/stream-text.ts";
import { json } from "#worker/lib/schemas/common.ts";
import { deleteBackup, getBackup, listBackups, openBackup, restoreBackup, startBackup } from "#worker/services/backups/backups.ts";
import { Backup, BackupList, BackupParam, BackupQuery, toBackup } from "#worker/services/backups/schemas.ts";
import { SiteParam } from "#worker/services/operations/schemas.ts";
import { ArchiveText, SiteArchive, toArchive } from "#worker/services/site-archives/schemas.ts";

export const backups = createArea();

const tag = "Health";
const NDJSON = "text/x-ndjson";

backups.openapi(
  operation({
    operationId: "listBackups",
    tag,
    method: "get",
    path: "/ops/backups",
    summary: "List backups",
    description: "Returns the newest backups of all sites, or of one.",
    access: { credentials: SUPER },
    request: { query: BackupQuery },
    responses: { 200: json("The backups, newest first", BackupList) },
  }),
  async (c) => c.json({ backups: (await listBackups(c.get("ctx"), c.req.valid("query"))).map(toBackup) }, 200),
);

backups.openapi(
  operation({
    operationId: "getBackup",
    tag,
    method: "get",
    path: "/ops/backups/{backupId}",
    summary: "Get a backup",
    description: "Returns the state of a backup, and why it failed.",
    access: { credentials: SUPER },
    request: { params: BackupParam },
    responses: { 200: json("The backup", Backup) },
    errors: ["not_found"],
  }),
  async (c) => c.json(toBackup(await getBackup(c.get("ctx"), c.req.valid("param").backupId)), 200),
);

backups.openapi(
  operation({
    operationId: "deleteBackup",
    tag,
    method: "delete",
    path: "/ops/backups/{backupId}",
    summary: "Delete a backup",
    description: "Deletes a complete or failed backup with its files, even if it is its site's last one. Can't be undone.",
    access: { credentials: SUPER },
    request: { params: BackupParam },
    responses: { 204: { description: "The backup is deleted" } },
    errors: ["not_found", "conflict"],
  }),
  async (c) => {
    await deleteBackup(c.get("ctx"), c.req.valid("param").backupId);
    return c.body(null, 204);
  },
);

backups.openapi(
  operation({
    operationId: "downloadBackup",
    tag,
    method: "get",
    path: "/ops/backups/{backupId}/file",
    summary: "Download a backup",
    description: "Returns the archive of a complete backup, which `importSite` accepts.",
    access: { credentials: SUPER },
    request: { params: BackupParam },
    responses: { 200: { description: "The archive", content: { [NDJSON]: { schema: ArchiveText } } } },
    errors: ["not_found", "conflict"],
  }),
  async (c) => {
    const { backup, text } = await openBackup(c.get("ctx"), c.req.valid("param").backupId);
    return c.body(streamText(text), 200, {
      "Content-Type": NDJSON,
      "Content-Disposition": `attachment; filename="site-${backup.siteId}-${new Date(backup.created).toISOString().slice(0, 10)}.ndjson"`,
      "X-Content-Type-Options": "nosniff",
    });
  },
);

backups.openapi(
  operation({
    operationId: "restoreBackup",
    tag,
    method: "post",
    path: "/ops/backups/{backupId}/restore",
    summary: "Restore a backup",
    description: "Imports a backup into its site, as `importSite` does. `getSiteImport` returns the progress.",
    access: { credentials: SUPER },
    request: { params: BackupParam },
    responses: { 202: json("The import has started", SiteArchive) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => c.json(toArchive(await restoreBackup(c.get("ctx"), c.req.valid("param").backupId), null), 202),
);

backups.openapi(
  operation({
    operationId: "createBackup",
    tag,
    method: "post",
    path: "/ops/sites/{siteId}/backups",
    summary: "Back up a site now",
    description: "Starts a backup of a site in the background; while one is running, returns that one. It counts towards the retention.",
    access: { credentials: SUPER },
    request: { params: SiteParam },
    responses: { 202: json("The backup has started", Backup) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => c.json(toBackup(await startBackup(c.get("ctx"), c.req.valid("param").siteId)), 202),
);
