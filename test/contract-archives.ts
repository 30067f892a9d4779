import { env } from "cloudflare:workers";
import { notInArray } from "drizzle-orm";
import { vi } from "vitest";
import { z } from "@hono/zod-openapi";
import { createDb } from "#db/client.ts";
import { siteArchives } from "#db/schema/site-archives.ts";
import { continueArchive } from "#worker/services/site-archives/jobs.ts";
import type { CallOptions, TestSite } from "./harness.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const EMPTY = (siteId: string) =>
  `${JSON.stringify({ format: "tifo-site-1", siteId, exportedAt: 1, tables: {} })}\n{"end":true,"pieces":0,"rows":0}\n`;

/** Takes the steps of every export and import until none is running. The queue would take them too, but only after its batch timeout. */
export async function waitForArchives(): Promise<void> {
  const isRunning = notInArray(siteArchives.status, ["complete", "failed"]);
  await vi.waitUntil(
    async () => {
      const running = await db.select({ id: siteArchives.id, siteId: siteArchives.siteId }).from(siteArchives).where(isRunning);
      for (const { id, siteId } of running) await continueArchive({ env, db }, { kind: "siteArchive", siteId, archiveId: id }, Date.now);
      return running.length === 0;
    },
    { interval: 20 },
  );
}

async function importCall(site: TestSite): Promise<CallOptions> {
  await waitForArchives();
  return { query: { siteId: site.id }, body: new Blob([EMPTY(site.id)], { type: "text/x-ndjson" }) };
}

/** A site has one import at a time. */
export const ARCHIVE_CALLS: Record<string, (site: TestSite) => Promise<CallOptions>> = { importSite: importCall };

const Created = z.looseObject({ _id: z.string(), url: z.string().nullable() });

async function completeExport(site: TestSite): Promise<z.output<typeof Created>> {
  const { _id: exportId } = Created.parse((await site.call("exportSite", { as: "developer" })).body);
  await waitForArchives();
  return Created.parse((await site.call("getSiteExport", { as: "developer", params: { exportId } })).body);
}

async function completeBackup(site: TestSite): Promise<string> {
  await waitForArchives();
  const { _id } = z
    .looseObject({ _id: z.string() })
    .parse((await site.call("createBackup", { as: "super", params: { siteId: site.id } })).body);
  await waitForArchives();
  return _id;
}

export const ARCHIVE_RESOURCES: Record<string, (site: TestSite) => Promise<string>> = {
  "/site/v1/export/{exportId}": async (site) => (await completeExport(site))._id,
  "/ops/backups/{backupId}": completeBackup,
  "/ops/backups/{backupId}/file": completeBackup,
  "/ops/backups/{backupId}/restore": completeBackup,
  "/site/v1/import/{id}": async (site) => Created.parse((await site.call("importSite", await importCall(site))).body)._id,
};

export const ARCHIVE_PARAMETERS: Record<string, (site: TestSite) => Promise<string>> = {
  "/site/v1/export/file/{token}": async (site) => (await completeExport(site)).url?.split("/").at(-1) ?? "",
};
