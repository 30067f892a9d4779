import { z } from "@hono/zod-openapi";
import { ARCHIVE_STATUSES } from "#db/enums.ts";
import type { ArchiveRow } from "#db/schema/site-archives.ts";
import { fromQuery, Id, Time } from "#worker/lib/schemas/common.ts";

const Count = z.number().int().nonnegative();
const MAX_LISTED = 200;

export const Backup = z
  .object({
    _id: Id,
    siteId: Id,
    status: z.enum(ARCHIVE_STATUSES).describe("`exporting`, then `complete` or `failed`"),
    rows: Count,
    bytes: Count,
    message: z.string().nullable().describe("Why it failed"),
    created: Time,
    completed: Time.nullable(),
  })
  .openapi("Backup");

export const BackupList = z.object({ backups: z.array(Backup).max(MAX_LISTED) }).openapi("BackupList");

export const BackupQuery = z.strictObject({
  siteId: Id.optional().openapi({ description: "Only backups of this site", example: "5eed00000000000000000001" }),
  status: z.enum(["running", "complete", "failed"]).optional(),
  before: fromQuery(z.number().int().min(0)).optional().openapi({
    description: "Only backups that were started before this time (ms): `created` of the last one, for the next page",
    example: 1795166400000,
  }),
  limit: fromQuery(z.number().int().min(1).max(MAX_LISTED))
    .default(50)
    .openapi({ description: `At most ${MAX_LISTED}`, example: 50 }),
});

export const BackupParam = z.object({ backupId: Id.openapi({ example: "5eed0000000000000000bac1" }) });

export function toBackup(row: ArchiveRow) {
  return {
    _id: row.id,
    siteId: row.siteId,
    status: row.status,
    rows: row.rows,
    bytes: row.bytes,
    message: row.message,
    created: row.created,
    completed: row.completed,
  } satisfies z.output<typeof Backup>;
}
