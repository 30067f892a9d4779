import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test, vi } from "vitest";
import type { Db } from "#db/client.ts";
import { allDbs, shardDb, shardOf } from "#db/databases.ts";
import { type ArchiveRow, siteArchives } from "#db/schema/site-archives.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { removeSite, rowsOf } from "#test/site-archives.ts";
import { directory } from "#test/site-store.ts";
import { backupJob } from "#worker/services/backups/nightly.ts";
import { restoreBackup } from "#worker/services/backups/backups.ts";
import { systemCtx } from "#worker/services/core/system.ts";
import { continueArchive } from "#worker/services/site-archives/jobs.ts";
import { releaseSite } from "#worker/services/sites/placement.ts";
import { createOnFirst } from "./first-shard.ts";

const [first] = allDbs(env);
const second = shardDb(env, 2);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

/** Takes a job's steps until it has ended. The queue would take them too, but only after its batch timeout. */
async function finished(db: Db, job: ArchiveRow): Promise<ArchiveRow> {
  return vi.waitUntil(
    async () => {
      await continueArchive({ env, db }, { kind: "siteArchive", siteId: job.siteId, archiveId: job.id }, Date.now);
      const [row] = await db.select().from(siteArchives).where(eq(siteArchives.id, job.id));
      return row && ["complete", "failed"].includes(row.status) ? row : false;
    },
    { interval: 20 },
  );
}

/** A complete backup of a site, whose row is on the site's database. */
async function newBackup(siteId: string): Promise<ArchiveRow> {
  const db = shardDb(env, await shardOf(env, siteId));
  const job = backupJob(siteId, Date.now());
  await db.insert(siteArchives).values(job);
  return finished(db, job);
}

/** Restores a backup on a deployment with these weights, and returns how the import ended. */
async function restore(backup: ArchiveRow, TIFO_SHARD_WEIGHTS: string): Promise<string> {
  const ctx = systemCtx({ env: { ...env, TIFO_SHARD_WEIGHTS }, db: directory, now: Date.now() }, "", "test");
  const job = await restoreBackup(ctx, backup.id);
  await ctx.finish();
  return (await finished(shardDb(env, await shardOf(env, backup.siteId)), job)).status;
}

describe("the backup of a site that is gone", () => {
  test.each([
    ["first", 1, "0,1"],
    ["second", 2, "1"],
  ])("on the %s database restores it there, wherever new sites go", async (_, shard, weights) => {
    const { id } = shard === 1 ? await createOnFirst(site) : await newSite();
    const before = await rowsOf(id);
    const backup = await newBackup(id);
    await removeSite(id);
    expect(await restore(backup, weights)).toBe("complete");
    expect(await shardOf(env, id)).toBe(shard);
    expect(await rowsOf(id)).toEqual(before);
  });

  test("is restored where its row is, which need not be where the site was", async () => {
    const { id } = await newSite();
    const before = await rowsOf(id);
    const backup = await newBackup(id);
    await removeSite(id);
    // The row is on the first database, as if it had stayed when the site was imported elsewhere.
    await second.delete(siteArchives).where(eq(siteArchives.id, backup.id));
    await first.insert(siteArchives).values(backup);
    expect((await site.call("getBackup", { as: "super", params: { backupId: backup.id } })).status).toBe(200);
    expect(await restore(backup, "0,1")).toBe("complete");
    expect(await shardOf(env, id)).toBe(1);
    expect(await rowsOf(id)).toEqual(before);
  });
});

test("a backup isn't deleted while an import of its site on another database may be reading it", async () => {
  const { id } = await newSite();
  const backup = await newBackup(id);
  await second.delete(siteArchives).where(eq(siteArchives.id, backup.id));
  await first.insert(siteArchives).values(backup);
  const running = { ...backupJob(id, Date.now()), kind: "import" as const, status: "pending" as const, lease: Date.now() + 3_600_000 };
  await second.insert(siteArchives).values(running);
  const params = { backupId: backup.id };
  expect((await site.call("deleteBackup", { as: "super", params })).status).toBe(409);
  expect((await site.call("getBackup", { as: "super", params })).body).toMatchObject({ status: "complete", message: null });
  await second.delete(siteArchives).where(eq(siteArchives.id, running.id));
  expect((await site.call("deleteBackup", { as: "super", params })).status).toBe(204);
  expect((await site.call("getBackup", { as: "super", params })).status).toBe(404);
  await releaseSite(env, id);
});
