import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { eq } from "drizzle-orm";
import { expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { effectFailures } from "#db/schema/operations.ts";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import { FailedEffects, RetriedEffects } from "#worker/services/operations/schemas.ts";
import { newSite, type TestSite } from "../harness.ts";
import { insertOutboxRows, logOf } from "../site-log.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);

/** Commits an event whose effects call the channel, which fails. */
async function failEffect(site: TestSite): Promise<void> {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  vi.spyOn(Channel.prototype, "emit").mockRejectedValue(new Error("channel down"));
  await insertOutboxRows(site.id, 1, { type: "admin.channelUpdated", resource: `page/${site.channels[0]}` });
  await logOf(site.id).nudge();
}

const reported = (site: TestSite) => db.select().from(effectFailures).where(eq(effectFailures.siteId, site.id));
const failedEffects = async (site: TestSite) =>
  (await site.call("listFailedEffects", { as: "super", params: { siteId: site.id } })).as(FailedEffects).failedEffects;
const retry = async (site: TestSite) =>
  (await site.call("retryFailedEffects", { as: "super", params: { siteId: site.id } })).as(RetriedEffects).retried;

test("a failed effect is listed with its cause and next attempt, and no longer once a retry has succeeded", async () => {
  const site = await newSite();
  await failEffect(site);
  expect(await reported(site)).toMatchObject([{ failing: 1, abandoned: 0, cause: "Error: channel down" }]);
  const [effect] = await failedEffects(site);
  expect(effect).toMatchObject({ eventType: "admin.channelUpdated", attempts: 1, cause: "Error: channel down" });
  expect(effect?.nextAttempt).toBeGreaterThan(effect?.created ?? 0);
  vi.restoreAllMocks();
  expect(await retry(site)).toBe(1);
  await runDurableObjectAlarm(logOf(site.id));
  await logOf(site.id).nudge();
  expect(await failedEffects(site)).toEqual([]);
  expect(await reported(site)).toEqual([]);
  expect(await retry(site)).toBe(0);
});

test("an effect that was given up is listed without a next attempt, and can be retried", async () => {
  const site = await newSite();
  await failEffect(site);
  await runInDurableObject(logOf(site.id), (_, { storage }) => {
    storage.sql.exec("UPDATE events SET done = 3 WHERE done = 2");
    storage.sql.exec("DELETE FROM retries");
  });
  await logOf(site.id).nudge();
  expect(await reported(site)).toMatchObject([{ failing: 0, abandoned: 1 }]);
  expect(await failedEffects(site)).toMatchObject([{ nextAttempt: null }]);
  vi.restoreAllMocks();
  expect(await retry(site)).toBe(1);
  await runDurableObjectAlarm(logOf(site.id));
  await logOf(site.id).nudge();
  expect([await failedEffects(site), await reported(site)]).toEqual([[], []]);
});

test("a failing effect costs D1 one write when its report changes, and none while it stays the same", async () => {
  const site = await newSite();
  await failEffect(site);
  const prepare = vi.spyOn(siteStore, "prepare");
  await logOf(site.id).nudge();
  await logOf(site.id).nudge();
  expect(prepare.mock.calls.filter(([sql]) => sql.includes("effect_failures"))).toEqual([]);
});

test("a report that fails is repeated by the next round", async () => {
  const site = await newSite();
  await siteStore.exec("CREATE TRIGGER reject BEFORE INSERT ON effect_failures BEGIN SELECT RAISE(ABORT, 'disk full'); END");
  await failEffect(site);
  expect(await reported(site)).toEqual([]);
  await siteStore.exec("DROP TRIGGER reject");
  await logOf(site.id).nudge();
  expect(await reported(site)).toHaveLength(1);
});
