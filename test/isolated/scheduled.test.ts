import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { sessions } from "#db/schema/accounts.ts";
import { idempotencyKeys, outbox } from "#db/schema/events.ts";
import { broadcasts } from "#db/schema/overlays.ts";
import { videoViews } from "#db/schema/videos.ts";
import { SiteLog } from "#worker/durable-objects/site-log/site-log.ts";
import { newId } from "#worker/lib/ids.ts";
import worker from "#worker/index.ts";
import { runScheduled } from "#worker/scheduled.ts";
import { newSite } from "../harness.ts";

const db = createDb(env.DB);
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
  await env.DB.exec("CREATE TRIGGER reject BEFORE DELETE ON idempotency_keys BEGIN SELECT RAISE(ABORT, 'disk full'); END");
  await db.insert(videoViews).values({ videoId: "past", device: "phone", counted: now - 3_600_001 });
  const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
  await expect(runScheduled(env, now)).rejects.toThrow("failed in 1 steps");
  expect(logged.mock.calls.join()).toMatch(/"step":"pruneKeys".*disk full/);
  await env.DB.exec("DROP TRIGGER reject");
  expect(await db.select().from(videoViews).where(eq(videoViews.videoId, "past"))).toEqual([]);
  await runScheduled(env, now);
});

test("the Worker's scheduled handler runs the cron", async () => {
  await db.insert(idempotencyKeys).values({ id: "gone", fingerprint: "", state: "answered", lease: 0, expires: 1 });
  await worker.scheduled(createScheduledController({ scheduledTime: new Date() }), env);
  expect(await db.select().from(idempotencyKeys).where(eq(idempotencyKeys.id, "gone"))).toEqual([]);
});
