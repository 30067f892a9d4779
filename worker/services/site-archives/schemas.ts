import { z } from "@hono/zod-openapi";
import { ARCHIVE_STATUSES } from "#db/enums.ts";
import type { ArchiveRow } from "#db/schema/site-archives.ts";
import { Id, Time } from "#worker/lib/schemas/common.ts";

const Count = z.number().int().nonnegative();

const fields = {
  _id: Id,
  siteId: Id,
  kind: z.enum(["export", "import"]),
  status: z
    .enum(ARCHIVE_STATUSES)
    .describe(
      "An import is `checking` the whole archive before anything is written, then `writing`. A `failed` one has left nothing behind",
    ),
  rows: Count.describe("Rows so far; of an import, in its current phase"),
  bytes: Count.describe("The size of the archive, or of its part so far"),
  skipped: Count.describe("Rows of an import that the site had already, or whose secrets can't be read here"),
  message: z.string().nullable().describe("Why it failed"),
  created: Time,
  completed: Time.nullable(),
};

export const SiteArchive = z
  .object({
    ...fields,
    url: z.url().nullable().describe("Of a complete export: the file, for an hour from now and at most a day after the request"),
  })
  .openapi("SiteArchive");

export const ArchiveEvent = z.object(fields);

export const ExportParam = z.object({ exportId: Id.openapi({ example: "5eed0000000000000e006e01" }) });

export const FileParam = z.object({ token: z.string().max(500).openapi({ example: "c2l0ZQ.signature" }) });

export const ImportQuery = z.strictObject({
  siteId: Id.openapi({ description: "The site that the archive must be of", example: "5eed00000000000000000001" }),
});

/** What the archive's first lines look like. */
export const ArchiveText = z.string().openapi({
  format: "binary",
  example:
    '{"format":"tifo-site-1","siteId":"5eed00000000000000000001","exportedAt":1795166400000,"tables":{}}\n{"end":true,"pieces":0,"rows":0}\n',
});

export function toArchiveEvent(row: ArchiveRow) {
  return {
    _id: row.id,
    siteId: row.siteId,
    kind: row.kind === "import" ? ("import" as const) : ("export" as const),
    status: row.status,
    rows: row.rows,
    bytes: row.bytes,
    skipped: row.skipped,
    message: row.message,
    created: row.created,
    completed: row.completed,
  } satisfies z.output<typeof ArchiveEvent>;
}

export function toArchive(row: ArchiveRow, url: string | null) {
  return { ...toArchiveEvent(row), url } satisfies z.output<typeof SiteArchive>;
}
