import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { expect, onTestFinished, test, vi } from "vitest";
import { siteDb } from "#db/databases.ts";
import { charges } from "#db/schema/commerce/billing.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { scheduledActions } from "#db/schema/schedule.ts";
import { type ArchiveRow, siteArchives } from "#db/schema/site-archives.ts";
import { newSite } from "#test/harness.ts";
import { newPurchase, refundedAtStripe, refundRows } from "#test/purchases.ts";
import { addResource } from "#test/resources.ts";
import { exportSite, removeSite, streamOf } from "#test/site-archives.ts";
import { runScheduled } from "#worker/scheduled.ts";
import { systemCtx } from "#worker/services/core/system.ts";
import { startImport } from "#worker/services/site-archives/archives.ts";
import { importParts } from "#worker/services/site-archives/import.ts";

// While an import runs, the database has rows of a site whose other rows are still missing. The cron leaves them alone.

const MINUTE = 60_000;

/** Removes a site and imports it again, up to the first step after which `reached` is true; returns what takes the rest of the steps. */
async function importUntil(siteId: string, text: string, reached: () => Promise<boolean>): Promise<() => Promise<string | undefined>> {
  await removeSite(siteId);
  const queue = vi.spyOn(env.JOBS, "send").mockResolvedValue({ metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } });
  onTestFinished(() => queue.mockRestore());
  const db = siteDb(env, siteId);
  // Only the test continues the job.
  const far = Date.now() + 1_000 * MINUTE;
  const ctx = systemCtx({ env, db, now: far }, "", "test");
  const { id } = await startImport(ctx, siteId, streamOf(text));
  const step = async (steps: number): Promise<ArchiveRow | undefined> => {
    const [job] = await db.select().from(siteArchives).where(eq(siteArchives.id, id));
    return job && importParts(systemCtx({ env, db, now: far }, siteId, "test"), job, steps, () => far);
  };
  while (!(await reached())) if (!(await step(1))) throw new Error("The import ended too early");
  return async () => {
    let last = await step(500);
    while (last && last.status !== "complete") last = await step(500);
    return last?.status;
  };
}

test("a payment isn't refunded because what it bought isn't imported yet", async () => {
  const site = await newSite();
  const { chargeId } = await newPurchase(site);
  const text = await exportSite(site.id, site.developerKey);
  const db = siteDb(env, site.id);
  const paid = () => db.$count(charges, eq(charges.siteId, site.id));
  const bought = () => db.$count(accountEntitlements, eq(accountEntitlements.siteId, site.id));
  const finish = await importUntil(site.id, text, async () => (await paid()) > 0);
  // Payments come first: what is bought while an export runs is in it without its payment, never the other way round.
  expect(await bought()).toBe(0);
  await runScheduled(env, Date.now() + MINUTE);
  expect(await finish()).toBe("complete");
  await runScheduled(env, Date.now() + 2 * MINUTE);
  expect([refundedAtStripe(chargeId), await refundRows(chargeId), await bought()]).toEqual([0, [], 1]);
});

test("what a schedule has for a past time doesn't fail because its site isn't imported yet", async () => {
  const site = await newSite();
  const targetId = await addResource(site, "poll");
  expect((await site.call("scheduleAction", { body: { kind: "poll.close", targetId, in: 3600 } })).status).toBe(201);
  const db = siteDb(env, site.id);
  await db
    .update(scheduledActions)
    .set({ dueAt: Date.now() - MINUTE })
    .where(eq(scheduledActions.siteId, site.id));
  const text = await exportSite(site.id, site.developerKey);
  const pending = () => db.$count(scheduledActions, and(eq(scheduledActions.siteId, site.id), eq(scheduledActions.state, "pending")));
  const finish = await importUntil(site.id, text, async () => (await pending()) > 0);
  const woken = vi.spyOn(env.SCHEDULER, "getByName");
  onTestFinished(() => woken.mockRestore());
  await runScheduled(env, Date.now());
  expect(woken).not.toHaveBeenCalledWith(site.id);
  expect(await finish()).toBe("complete");
  await runScheduled(env, Date.now());
  expect(woken).toHaveBeenCalledWith(site.id);
  await expect.poll(pending).toBe(0);
});
