import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { sessions } from "#db/schema/accounts.ts";
import { idempotencyKeys, outbox } from "#db/schema/events.ts";
import { backupRuns } from "#db/schema/operations.ts";
import { sandboxes } from "#db/schema/sandboxes.ts";
import { siteArchives } from "#db/schema/site-archives.ts";
import { sites } from "#db/schema/sites.ts";
import { broadcasts } from "#db/schema/overlays.ts";
import { videoViews } from "#db/schema/videos.ts";
import { SiteLog } from "#worker/durable-objects/site-log/site-log.ts";
import { newId } from "#worker/lib/ids.ts";
import worker from "#worker/index.ts";
import { SITES_PER_RUN, startBackups } from "#worker/services/backups/nightly.ts";
import { runScheduled } from "#worker/scheduled.ts";
import { newSite } from "../harness.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const DAY = 86_400_000;

test("the cron deletes expired rows and keeps the others, however often it runs", async () => {
  const now = Date.now();
  const siteId = newId(now);
  const key = { fingerprint: "", state: "answered" as const, lease: 0 };
  const session = { audience: siteId, accountId: newId(now), generation: 1, created: 1 };
  const broadcast = { siteId, channelId: "", overlayId: newId(now), startsAt: 1 };
  await db.insert(idempotencyKeys).values([
    { ...key, id: "past", expires: now - 1 },
    { ...key, id: "kept", expires: now + 1000 },
  ]);
  await db.insert(sessions).values([
    { ...session, id: "past", expires: now - DAY - 1 },
    { ...session, id: "kept", expires: now - DAY + 1000 },
  ]);
  await db.insert(broadcasts).values([
    { ...broadcast, id: "past", endsAt: now - DAY - 1 },
    { ...broadcast, id: "kept", endsAt: now - DAY + 1000 },
  ]);
  await db.insert(videoViews).values([
    { videoId: "past", device: "phone", counted: now - 3_600_001 },
    { videoId: "kept", device: "phone", counted: now - 3_600_000 },
  ]);
  for (let run = 0; run < 2; run++) {
    await runScheduled(env, now);
    for (const table of [idempotencyKeys, sessions, broadcasts]) {
      expect((await db.select({ id: table.id }).from(table)).map(({ id }) => id)).toEqual(["kept"]);
    }
    expect((await db.select().from(videoViews)).map(({ videoId }) => videoId)).toEqual(["kept"]);
  }
});

test("the cron nudges the other sites' logs even if one of them fails", async () => {
  const now = Date.now();
  const sites = [await newSite(), await newSite(), await newSite()];
  for (const { id } of sites) {
    await db.insert(outbox).values({
      siteId: id,
      eventId: newId(now),
      type: "test.happened",
      resource: "test/1",
      data: {},
      actor: "system",
      requestId: "test",
      created: now - 60_000,
    });
  }
  vi.spyOn(SiteLog.prototype, "nudge").mockRejectedValueOnce(new Error("log down"));
  const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
  await db.insert(idempotencyKeys).values({ id: "gone", fingerprint: "", state: "answered", lease: 0, expires: now - 1 });
  await expect(runScheduled(env, now)).rejects.toThrow(AggregateError);
  expect(logged.mock.calls.map(([line]): unknown => JSON.parse(String(line)))).toEqual([
    { level: "error", event: "scheduled_step_failed", step: "nudge", siteId: sites[0]?.id, message: "Error: log down" },
  ]);
  expect(await db.select().from(outbox)).toHaveLength(1);
  expect(await db.select().from(idempotencyKeys).where(eq(idempotencyKeys.id, "gone"))).toEqual([]);
  await runScheduled(env, now);
  expect(await db.select().from(outbox)).toEqual([]);
});

test("the cron logs each failed step with its cause, and runs all others", async () => {
  const now = Date.now();
  await db.insert(idempotencyKeys).values({ id: "gone", fingerprint: "", state: "answered", lease: 0, expires: now - 1 });
  await siteStore.exec("CREATE TRIGGER reject BEFORE DELETE ON idempotency_keys BEGIN SELECT RAISE(ABORT, 'disk full'); END");
  await db.insert(videoViews).values({ videoId: "past", device: "phone", counted: now - 3_600_001 });
  const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
  await expect(runScheduled(env, now)).rejects.toThrow("failed in 1 steps");
  expect(logged.mock.calls.join()).toMatch(/"step":"pruneKeys".*disk full/);
  await siteStore.exec("DROP TRIGGER reject");
  expect(await db.select().from(videoViews).where(eq(videoViews.videoId, "past"))).toEqual([]);
  await runScheduled(env, now);
});

test("the Worker's scheduled handler runs the cron", async () => {
  await db.insert(idempotencyKeys).values({ id: "gone", fingerprint: "", state: "answered", lease: 0, expires: 1 });
  await worker.scheduled(createScheduledController({ scheduledTime: new Date() }), env);
  expect(await db.select().from(idempotencyKeys).where(eq(idempotencyKeys.id, "gone"))).toEqual([]);
});

test("the cron starts a backup of every site once a night, a few sites a minute, and none of sandboxes", async () => {
  const { id } = await newSite();
  const [row] = await db.select().from(sites).where(eq(sites.id, id));
  if (!row) throw new Error("No site");
  for (let index = 0; index <= SITES_PER_RUN; index++)
    await db.insert(sites).values({ ...row, id: newId(Date.now() + index), slug: `backed-up-${index}` });
  await db.insert(sandboxes).values({ siteId: id, claimHash: id, state: "active", expires: 1, due: 1, objects: [], created: 1 });
  const total = (await db.$count(sites)) - 1;
  const send = vi.fn(async () => undefined);
  const worker = Object.assign({ ...env }, { TIFO_BACKUP_DAILY: "7", JOBS: Object.assign({ ...env.JOBS }, { send }) });
  const night = Date.UTC(2031, 5, 1, 3);
  const runAt = (now: number) => startBackups({ env: worker, db, now });
  const backups = () =>
    db
      .select({ siteId: siteArchives.siteId })
      .from(siteArchives)
      .where(sql`${siteArchives.kind} = 'backup'`);

  await runAt(night - 1);
  expect(await backups()).toEqual([]);
  await Promise.all([runAt(night), runAt(night)]);
  expect(await backups()).toHaveLength(SITES_PER_RUN);
  for (let minute = 1; minute < 4; minute++) await runAt(night + minute * 60_000);
  const started = (await backups()).map(({ siteId }) => siteId);
  expect([started.length, new Set(started).size]).toEqual([total, total]);
  expect(started).not.toContain(id);
  expect(await db.select().from(backupRuns)).toMatchObject([{ day: "2031-06-01", sites: total, started: night }]);
  await runAt(night + DAY);
  expect(await backups()).toHaveLength(total + SITES_PER_RUN);
});
