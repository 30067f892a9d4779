import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { inArray } from "drizzle-orm";
import { beforeAll, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { outbox } from "#db/schema/events.ts";
import { deadLetters, effectFailures } from "#db/schema/operations.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import worker from "#worker/index.ts";
import { newId } from "#worker/lib/ids.ts";
import { pruneDeadLetters, recordCronRun } from "#worker/services/operations/upkeep.ts";
import { reportEffectFailures } from "#worker/services/operations/effect-failures.ts";
import { ObjectSizes, OperatorReport } from "#worker/services/operations/schemas.ts";
import { ProgrammaticWebhook } from "#worker/services/webhooks/endpoint-schemas.ts";

const db = createDb(env.DB);
const DAY = 86_400_000;

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

async function report(): Promise<OperatorReport> {
  return (await site.call("getOperatorReport", { as: "super" })).as(OperatorReport);
}

async function deliverDeadLetter(id: string, timestamp: Date): Promise<string[]> {
  const body = { kind: "memberExport", siteId: site.id, exportId: newId(1) };
  const batch = createMessageBatch("tifo-jobs-dead", [{ id, timestamp, attempts: 11, body }]);
  const context = createExecutionContext();
  await worker.queue(batch, env);
  return (await getQueueResult(batch, context)).explicitAcks;
}

test("the report has the version, the database's size, and the isolate's own requests by route", async () => {
  await site.call("getOperatorReport", { as: "super" });
  const { version, database, isolate } = await report();
  expect(version.id).toMatch(/.+/);
  expect(database.bytes).toBeGreaterThan(100_000);
  expect(isolate.routes.find(({ route }) => route === "/ops")).toMatchObject({ method: "GET", errors: 0 });
  // Files that share the isolate may have moved its clock before its first request.
  expect(isolate.since).toEqual(expect.any(Number));
});

test("the report counts events that wait in the outbox, by site, with the age of the oldest", async () => {
  const siteId = newId(7);
  const event = { siteId, type: "test.happened", resource: "test/1", data: {}, actor: "system", requestId: "test" };
  await db.insert(outbox).values([5_000, 1_000].map((created) => ({ ...event, created, eventId: newId(created) })));
  const { outbox: waiting } = await report();
  await db.delete(outbox).where(inArray(outbox.siteId, [siteId]));
  expect(waiting.oldest).toBeLessThanOrEqual(1_000);
  expect(waiting.sites).toContainEqual({ siteId, events: 2, oldest: 1_000 });
});

test("the report shows sites with failed effects until these have succeeded", async () => {
  const siteId = newId(8);
  const summary = { failing: 2, abandoned: 1, oldest: 10, cause: "Error: channel down" };
  await reportEffectFailures(env, siteId, { ...summary, failing: 9 }, 19);
  await reportEffectFailures(env, siteId, summary, 20);
  const { effects } = await report();
  expect(effects.sites).toContainEqual({ siteId, ...summary, modified: 20 });
  expect(effects.failing).toBeGreaterThanOrEqual(2);
  await reportEffectFailures(env, siteId, null, 21);
  expect(await db.$count(effectFailures, inArray(effectFailures.siteId, [siteId]))).toBe(0);
});

test("a message that the job queue gave up is kept once, and listed for 30 days", async () => {
  const id = newId(9);
  const sent = new Date(Date.now() - DAY);
  for (let delivery = 0; delivery < 2; delivery++) await deliverDeadLetter(id, sent);
  const { jobs } = await report();
  expect(jobs.latestDeadLetters.filter(({ _id }) => _id === id)).toMatchObject([{ queue: "tifo-jobs", sent: sent.getTime() }]);
  await pruneDeadLetters({ db, now: Date.now() + 29 * DAY });
  expect(await db.$count(deadLetters, inArray(deadLetters.id, [id]))).toBe(1);
  await pruneDeadLetters({ db, now: Date.now() + 31 * DAY });
  expect(await db.$count(deadLetters, inArray(deadLetters.id, [id]))).toBe(0);
});

test("the report has the cron's last run with the steps that failed, and a late run doesn't replace a newer one", async () => {
  const due = Date.now() + DAY;
  const failures = [{ step: "pruneKeys", cause: "Error: disk full" }];
  await recordCronRun(db, { due, started: due, completed: due + 5, failures });
  await recordCronRun(db, { due: due - 60_000, started: due, completed: due + 9, failures: [] });
  expect((await report()).cron).toEqual({ due, started: due, completed: due + 5, failures });
  await env.DB.exec("delete from cron_runs");
});

test("the report reads the database in one round trip, besides its size", async () => {
  const batch = vi.spyOn(env.DB, "batch");
  await report();
  expect(batch).toHaveBeenCalledOnce();
});

test("the sizes of a site's objects are listed, largest first, and only for the operator", async () => {
  const own = await newSite();
  const created = await own.call("createProgrammaticWebhook", {
    body: { webhookUrl: "https://hooks.demo.example/", service: "overlay-service-v1" },
  });
  const params = { siteId: own.id };
  const endpoint = `${own.id}:${created.as(ProgrammaticWebhook).id}`;
  const sizes = await vi.waitUntil(async () => {
    const listed = (await own.call("listObjectSizes", { as: "super", params })).as(ObjectSizes);
    return listed.objects.some(({ name }) => name === endpoint) && listed;
  });
  expect(sizes).toMatchObject({ unreachable: 0, truncated: false });
  expect(sizes.objects.find(({ object }) => object === "SITE_LOG")).toMatchObject({ name: own.id });
  for (const { bytes } of sizes.objects.slice(0, 3)) expect(bytes).toBeGreaterThan(4_000);
  expect(sizes.objects.map(({ bytes }) => bytes)).toEqual(sizes.objects.map(({ bytes }) => bytes).toSorted((a, b) => b - a));
  expect(sizes.bytes).toBeGreaterThanOrEqual(sizes.objects.reduce((sum, { bytes }) => sum + bytes, 0));
  expect((await own.call("listObjectSizes", { as: "super", params: { siteId: newId(5) } })).status).toBe(404);
  for (const as of ["developer", "admin"] as const) expect((await own.call("listObjectSizes", { as, params })).status).toBe(403);
});

test("the metrics are the report as Prometheus reads it, and only for the operator", async () => {
  const response = await site.call("getMetrics", { as: "super" });
  expect(response.headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(response.text).toMatch(/^tifo_database_bytes \d+$/m);
  expect(response.text).toMatch(/^tifo_isolate_requests_total\{isolate="\w{8}",method="GET",route="\/ops"\} \d+$/m);
  for (const as of ["developer", "admin"] as const) expect((await site.call("getMetrics", { as })).status).toBe(403);
});

test("failed effects of a site that doesn't exist are a 404", async () => {
  for (const operation of ["listFailedEffects", "retryFailedEffects"])
    expect((await site.call(operation, { as: "super", params: { siteId: newId(1) } })).status).toBe(404);
});
