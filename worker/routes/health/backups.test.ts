import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, expect, test, vi } from "vitest";
import { z } from "@hono/zod-openapi";
import { createDb } from "#db/client.ts";
import { outbox } from "#db/schema/events.ts";
import { siteArchives } from "#db/schema/site-archives.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { atNextBatch } from "#test/next-batch.ts";
import { addResource } from "#test/resources.ts";
import { removeSite, rowsOf } from "#test/site-archives.ts";
import { newId } from "#worker/lib/ids.ts";
import { backupJob } from "#worker/services/backups/nightly.ts";
import { Backup, BackupList } from "#worker/services/backups/schemas.ts";
import { OperatorReport } from "#worker/services/operations/schemas.ts";
import { continueArchive } from "#worker/services/site-archives/jobs.ts";
import { SiteArchive } from "#worker/services/site-archives/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const DAY = 86_400_000;
const Manifest = z.object({ siteId: z.string(), pieces: z.array(z.object({ key: z.string() })) });

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
  await addResource(site, "poll");
  await addResource(site, "overlay");
});

/** Takes the steps of a job until it has ended. The queue would take them too, but only after its batch timeout. */
async function finish(job: { _id: string; siteId: string }, worker: Env = env): Promise<void> {
  await vi.waitUntil(
    async () => {
      await continueArchive({ env: worker, db }, { kind: "siteArchive", siteId: job.siteId, archiveId: job._id }, Date.now);
      const [row] = await db.select({ status: siteArchives.status }).from(siteArchives).where(eq(siteArchives.id, job._id));
      return row === undefined || ["complete", "failed"].includes(row.status);
    },
    { interval: 20 },
  );
}

async function newBackup(of: TestSite, worker: Env = env): Promise<z.output<typeof Backup>> {
  const backup = (await of.call("createBackup", { as: "super", params: { siteId: of.id } })).as(Backup);
  await finish(backup, worker);
  return (await of.call("getBackup", { as: "super", params: { backupId: backup._id } })).as(Backup);
}

test("a backup restores a site that is gone, row for row, and can be restored again", async () => {
  const before = await rowsOf(site.id);
  const backup = await newBackup(site);
  expect(backup).toMatchObject({ siteId: site.id, status: "complete", message: null });
  for (let time = 0; time < 2; time++) {
    await removeSite(site.id);
    const started = (await site.call("restoreBackup", { as: "super", params: { backupId: backup._id } })).as(SiteArchive);
    await finish(started);
    const { body } = await site.call("getSiteImport", { as: "super", params: { id: started._id } });
    expect(body).toMatchObject({ kind: "import", status: "complete", message: null, skipped: 0, rows: backup.rows });
    expect(await rowsOf(site.id)).toEqual(before);
  }
});

test("a backup adds what its site is missing, and changes nothing that it has", async () => {
  const backup = await newBackup(site);
  const poll = (await rowsOf(site.id)).polls?.[0];
  await siteStore.prepare("delete from polls where site_id = ?").bind(site.id).run();
  await siteStore.prepare("update overlays set name = 'Newer' where site_id = ?").bind(site.id).run();
  await finish((await site.call("restoreBackup", { as: "super", params: { backupId: backup._id } })).as(SiteArchive));
  const after = await rowsOf(site.id);
  expect([after.polls, after.overlays?.map(({ name }) => name)]).toEqual([[poll], ["Newer"]]);
});

test("a backup's manifest names its pieces in order, so that it can be restored without the database", async () => {
  const backup = await newBackup(site);
  const stored = await env.MEDIA.get(`backups/${site.id}/${backup._id}/manifest.json`);
  const { pieces, siteId } = Manifest.parse(await stored?.json());
  expect(siteId).toBe(site.id);
  const texts = await Promise.all(pieces.map(async ({ key }) => (await env.MEDIA.get(key))?.text()));
  const { text } = await site.call("downloadBackup", { as: "super", params: { backupId: backup._id } });
  expect(texts.join("")).toBe(text);
  expect(text).toContain('{"end":true');
});

test("a backup is the operator's: the site gets no event of it, and can't read it as one of its exports", async () => {
  const quiet = await newSite();
  const events = () => db.select({ type: outbox.type }).from(outbox).where(eq(outbox.siteId, quiet.id));
  const backup = await newBackup(quiet);
  expect((await events()).filter(({ type }) => type.startsWith("site.export"))).toEqual([]);
  expect((await quiet.call("getSiteExport", { as: "developer", params: { exportId: backup._id } })).status).toBe(404);
});

test("a backup that isn't complete can be neither restored nor downloaded, and a second request returns the one that is running", async () => {
  const other = await newSite();
  const job = { ...backupJob(other.id, Date.now()), lease: Date.now() + DAY };
  await db.insert(siteArchives).values(job);
  for (const operation of ["restoreBackup", "downloadBackup"])
    expect((await other.call(operation, { as: "super", params: { backupId: job.id } })).status).toBe(409);
  expect((await other.call("createBackup", { as: "super", params: { siteId: other.id } })).as(Backup)._id).toBe(job.id);
  const { backups } = (await other.call("listBackups", { as: "super", query: { siteId: other.id, status: "running" } })).as(BackupList);
  expect(backups.map(({ _id }) => _id)).toEqual([job.id]);
  await db.delete(siteArchives).where(eq(siteArchives.id, job.id));
});

test("the operator can delete a backup with its objects, but not while it runs or an import of its site may be reading it", async () => {
  const other = await newSite();
  const backup = await newBackup(other);
  const params = { backupId: backup._id };
  const stored = async () => (await env.MEDIA.list({ prefix: `backups/${other.id}/${backup._id}/` })).objects.length;
  expect(await stored()).toBeGreaterThan(0);
  const running = { ...backupJob(other.id, Date.now()), kind: "import" as const, status: "pending" as const, lease: Date.now() + DAY };
  await db.insert(siteArchives).values(running);
  expect((await other.call("deleteBackup", { as: "super", params })).status).toBe(409);
  await db.update(siteArchives).set({ kind: "backup", status: "exporting" }).where(eq(siteArchives.id, running.id));
  expect((await other.call("deleteBackup", { as: "super", params: { backupId: running.id } })).status).toBe(409);
  await db.delete(siteArchives).where(eq(siteArchives.id, running.id));
  expect((await other.call("deleteBackup", { as: "super", params })).status).toBe(204);
  expect(await stored()).toBe(0);
  for (const operation of ["deleteBackup", "getBackup"]) expect((await other.call(operation, { as: "super", params })).status).toBe(404);
});

test("a restore that starts while its backup is being deleted is refused, and leaves no import", async () => {
  const other = await newSite();
  const backup = await newBackup(other);
  const params = { backupId: backup._id };
  const list = env.MEDIA.list.bind(env.MEDIA);
  const restored: number[] = [];
  vi.spyOn(env.MEDIA, "list").mockImplementation(async (options) => {
    restored.push((await other.call("restoreBackup", { as: "super", params })).status);
    return list(options);
  });
  expect((await other.call("deleteBackup", { as: "super", params })).status).toBe(204);
  vi.restoreAllMocks();
  expect(restored).toEqual([409]);
  expect(await db.select().from(siteArchives).where(eq(siteArchives.siteId, other.id))).toEqual([]);
});

test("a restore that has read its backup's row before the deletion began is refused too", async () => {
  const other = await newSite();
  const backup = await newBackup(other);
  const params = { backupId: backup._id };
  // The deletion is between the restore's look at the backup and its job.
  const deleted: number[] = [];
  const batch = atNextBatch("site_archives", {
    async before() {
      deleted.push((await other.call("deleteBackup", { as: "super", params })).status);
    },
  });
  const { status } = await other.call("restoreBackup", { as: "super", params });
  batch.restore();
  expect([deleted, status]).toEqual([[204], 409]);
  expect(await db.select().from(siteArchives).where(eq(siteArchives.siteId, other.id))).toEqual([]);
});

test("the deletion of a backup with more objects than one call lists deletes all of them", async () => {
  const other = await newSite();
  const backup = await newBackup(other);
  const prefix = `backups/${other.id}/${backup._id}/`;
  await env.MEDIA.put(`${prefix}more`, "more");
  const list = env.MEDIA.list.bind(env.MEDIA);
  vi.spyOn(env.MEDIA, "list").mockImplementation((options) => list({ ...options, limit: 1 }));
  expect((await other.call("deleteBackup", { as: "super", params: { backupId: backup._id } })).status).toBe(204);
  vi.restoreAllMocks();
  expect((await env.MEDIA.list({ prefix })).objects).toEqual([]);
});

test("a backup that fails is listed with its reason, in the report too", async () => {
  const other = await newSite();
  const failed = { status: "failed" as const, message: "It failed repeatedly because of a server error", completed: Date.now() };
  const job = { ...backupJob(other.id, Date.now()), ...failed };
  await db.insert(siteArchives).values(job);
  const { backups } = (await other.call("listBackups", { as: "super", query: { siteId: other.id, status: "failed" } })).as(BackupList);
  expect(backups).toMatchObject([{ _id: job.id, message: failed.message }]);
  const report = (await other.call("getOperatorReport", { as: "super" })).as(OperatorReport);
  expect(report.backups.latestFailures.map(({ _id }) => _id)).toContain(job.id);
  await db.delete(siteArchives).where(eq(siteArchives.id, job.id));
});

test("a new backup ends those beyond the retention, with their objects, but none while an import may be reading one", async () => {
  const other = await newSite();
  const worker = Object.assign({ ...env }, { TIFO_BACKUP_DAILY: "1", TIFO_BACKUP_WEEKLY: "0" });
  const now = Date.now();
  const old = { ...backupJob(other.id, now - 3 * DAY), status: "complete" as const };
  const key = `backups/${other.id}/${old.id}/0-1`;
  await env.MEDIA.put(key, "{}");
  const reading = { ...backupJob(other.id, now), id: newId(now), kind: "import" as const, lease: now + DAY };
  await db.insert(siteArchives).values([old]);
  await db.insert(siteArchives).values([reading]);
  await newBackup(other, worker);
  expect(await env.MEDIA.head(key)).not.toBeNull();
  await db.delete(siteArchives).where(eq(siteArchives.id, reading.id));
  const { _id } = await newBackup(other, worker);
  expect(await env.MEDIA.head(key)).toBeNull();
  const { backups } = (await other.call("listBackups", { as: "super", query: { siteId: other.id } })).as(BackupList);
  expect(backups.map((each) => each._id)).toEqual([_id]);
});

test("a backup can't be made of a site that doesn't exist", async () => {
  expect((await site.call("createBackup", { as: "super", params: { siteId: newId(1) } })).status).toBe(404);
  expect((await site.call("getBackup", { as: "super", params: { backupId: newId(1) } })).status).toBe(404);
});
