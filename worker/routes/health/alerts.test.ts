import { env } from "cloudflare:workers";
import { gte, inArray } from "drizzle-orm";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { z } from "@hono/zod-openapi";
import { createDb } from "#db/client.ts";
import { alerts, deadLetters, requestCounts } from "#db/schema/operations.ts";
import { publishAddresses } from "#test/dns-resolver.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { emailError, openMailbox } from "#test/mailbox.ts";
import { watchFetch } from "#test/watch-fetch.ts";
import { newId } from "#worker/lib/ids.ts";
import { systemCtx } from "#worker/services/core/system.ts";
import { readAlertFigures } from "#worker/services/operations/alert-figures.ts";
import { AlertAttempt, AlertReport } from "#worker/services/operations/alert-schemas.ts";
import { testAlerts, watchAlerts } from "#worker/services/operations/alerts.ts";
import { addRequestCounts } from "#worker/services/operations/request-counts.ts";

const db = createDb(env.DB);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Nothing that other tests leave behind is as late as this. */
const START = Date.UTC(2041, 0, 1);
const HOOK = "https://alerts.demo.example/hook";
const OFF = {
  TIFO_ALERT_ERROR_RATE: "0",
  TIFO_ALERT_OUTBOX_SECONDS: "0",
  TIFO_ALERT_LATE_SECONDS: "0",
  TIFO_ALERT_DATABASE_BYTES: "0",
  TIFO_ALERT_FAILED_BACKUPS: "0",
};
const worker = Object.assign({ ...env }, OFF, { TIFO_ALERT_URL: HOOK, TIFO_ALERT_DEAD_LETTERS: "2" });
const Call = z.object({
  service: z.literal("alerts"),
  signature: z.string(),
  eventData: z.looseObject({ type: z.string(), data: z.looseObject({ name: z.string(), value: z.number(), runbook: z.string() }) }),
});

let site: TestSite;
let calls: { id: string; headers: Record<string, string>; body: string }[] = [];
let status = 204;

beforeAll(async () => {
  site = await newSite();
});

afterEach(async () => {
  vi.restoreAllMocks();
  [calls, status] = [[], 204];
  await db.delete(alerts);
  await db.delete(requestCounts);
  await db.delete(deadLetters).where(gte(deadLetters.created, START - HOUR));
});

afterAll(async () => {
  await db.delete(alerts);
});

/** Receives the calls of the webhook. */
function receive(): void {
  watchFetch(async (_, toRequest) => {
    const request = toRequest();
    const headers = Object.fromEntries(request.headers);
    calls.push({ id: headers["webhook-id"] ?? "", headers, body: await request.text() });
    return new Response(null, { status });
  });
}

async function addDeadLetters(count: number, created: number): Promise<void> {
  const rows = Array.from({ length: count }, () => ({ id: newId(created), queue: "tifo-jobs", body: "{}", attempts: 1, sent: 1, created }));
  await db.insert(deadLetters).values(rows);
}

const watchAt = (now: number, on: Env = worker) => watchAlerts({ env: on, db, now });
const ctxOf = (on: Env) => systemCtx({ env: on, db, now: START }, "", "test");

test("an alert calls the webhook once it is raised and once it is resolved, signed like any webhook", async () => {
  receive();
  await addDeadLetters(2, START);
  await watchAt(START);
  expect(calls).toEqual([]);
  for (let minute = 1; minute < 4; minute++) await watchAt(START + minute * MINUTE);
  expect(calls).toHaveLength(1);
  for (let minute = 0; minute < 9; minute++) await watchAt(START + 2 * HOUR + minute * MINUTE);
  const sent = calls.map(({ body }) => Call.parse(JSON.parse(body)).eventData);
  expect(sent.map(({ type, data }) => [type, data.name, data.value])).toEqual([
    ["alert.raised", "deadLetters", 2],
    ["alert.resolved", "deadLetters", 0],
  ]);
  expect(sent[0]?.data.runbook).toBe("/guides/operations#runbooks");
  const { signingSecret } = (await site.call("getAlerts", { as: "super" })).as(AlertReport);
  for (const { body, headers } of calls) expect(() => new Webhook(signingSecret).verify(body, headers)).not.toThrow();
});

test("a call that fails is repeated each minute under the same id, until it is accepted", async () => {
  receive();
  status = 500;
  await addDeadLetters(2, START);
  for (let minute = 0; minute < 3; minute++) await watchAt(START + minute * MINUTE);
  expect(await db.select().from(alerts)).toMatchObject([
    { name: "deadLetters", isRaised: true, isSent: false, problem: "Responded with 500" },
  ]);
  status = 204;
  for (let minute = 3; minute < 6; minute++) await watchAt(START + minute * MINUTE);
  expect(calls).toHaveLength(3);
  expect(new Set(calls.map(({ id }) => id)).size).toBe(1);
  expect(await db.select().from(alerts)).toMatchObject([{ isSent: true, problem: null }]);
});

/** A Worker that emails alerts, after the mailbox was opened: that replaces the binding. */
const withEmail = (): Env =>
  Object.assign({ ...worker }, { EMAIL: env.EMAIL, TIFO_ALERT_URL: "", TIFO_ALERT_EMAIL: "operator@demo.example" });

test("an alert is emailed once when it is raised and once when it is resolved, also without a webhook", async () => {
  receive();
  const emails = openMailbox();
  const emailed = withEmail();
  await addDeadLetters(2, START);
  for (let minute = 0; minute < 5; minute++) await watchAt(START + minute * MINUTE, emailed);
  for (let minute = 0; minute < 9; minute++) await watchAt(START + 2 * HOUR + minute * MINUTE, emailed);
  expect(emails.map(({ to, subject }) => [to, subject])).toEqual([
    ["operator@demo.example", "Tifo: deadLetters raised"],
    ["operator@demo.example", "Tifo: deadLetters resolved"],
  ]);
  expect(emails[0]).toMatchObject({ from: { email: env.TIFO_MAIL_FROM } });
  expect(emails[0]?.text).toContain("The figure is 2 messages, the limit 2.");
  expect(calls).toEqual([]);
});

test("an email that the service doesn't take is repeated each minute, and one that it never will isn't; neither repeats the webhook", async () => {
  receive();
  let failure = new Error("busy");
  const emails = openMailbox(() => Promise.reject(failure));
  const emailed = withEmail();
  const both = Object.assign({ ...emailed }, { TIFO_ALERT_URL: HOOK });
  await addDeadLetters(2, START);
  for (let minute = 0; minute < 3; minute++) await watchAt(START + minute * MINUTE, both);
  expect(emails).toHaveLength(2);
  const [alert] = await db.select().from(alerts);
  expect(alert).toMatchObject({ isSent: true, isEmailed: false });
  expect(alert?.emailProblem).toContain("failed");
  failure = emailError("E_RECIPIENT_NOT_ALLOWED");
  for (let minute = 3; minute < 6; minute++) await watchAt(START + minute * MINUTE, both);
  expect(emails).toHaveLength(3);
  expect(await db.select().from(alerts)).toMatchObject([{ isEmailed: true, emailProblem: "E_RECIPIENT_NOT_ALLOWED" }]);
  expect(calls).toHaveLength(1);
});

test("a change before an address is set is never emailed, and the next one is", async () => {
  receive();
  const emails = openMailbox();
  const emailed = withEmail();
  await addDeadLetters(2, START);
  for (let minute = 0; minute < 3; minute++) await watchAt(START + minute * MINUTE);
  expect(await db.select().from(alerts)).toMatchObject([{ isRaised: true, isSent: true, isEmailed: true, emailProblem: null }]);
  for (let minute = 3; minute < 5; minute++) await watchAt(START + minute * MINUTE, emailed);
  expect(emails).toEqual([]);
  for (let minute = 0; minute < 9; minute++) await watchAt(START + 2 * HOUR + minute * MINUTE, emailed);
  expect(emails.map(({ subject }) => subject)).toEqual(["Tifo: deadLetters resolved"]);
});

test("a test of the alerts sends an email too, and reports its outcome", async () => {
  const emails = openMailbox();
  const emailed = withEmail();
  expect(await testAlerts(ctxOf(emailed))).toMatchObject({ delivered: false, email: { delivered: true, error: null } });
  expect(emails.map(({ subject }) => subject)).toEqual(["Tifo: test of the alerts"]);
});

test("a webhook at a private address is not called", async () => {
  receive();
  publishAddresses("alerts.inside.example", ["10.0.0.7"]);
  const inside = Object.assign({ ...worker }, { TIFO_ALERT_URL: "https://alerts.inside.example/hook" });
  expect(await testAlerts(ctxOf(inside))).toMatchObject({ delivered: false, status: null });
  expect(await testAlerts(ctxOf(Object.assign({ ...worker }, { TIFO_ALERT_URL: "https://127.0.0.1/" })))).toMatchObject({
    delivered: false,
  });
  expect(calls).toEqual([]);
  expect(await testAlerts(ctxOf(worker))).toMatchObject({ delivered: true, status: 204, error: null });
  expect(Call.parse(JSON.parse(calls[0]?.body ?? "")).eventData.type).toBe("alert.test");
});

test("the error rate is that of all isolates in ten minutes, and of no fewer than 100 requests", async () => {
  const rate = async (now: number) => (await readAlertFigures(env, now)).figures.errorRate;
  await addRequestCounts(env, { requests: 60, errors: 6 }, START);
  expect(await rate(START)).toBe(0);
  await addRequestCounts(env, { requests: 140, errors: 4 }, START + MINUTE);
  expect(await rate(START + 9 * MINUTE)).toBe(0.05);
  expect(await rate(START + 11 * MINUTE)).toBe(0);
});

test("without a webhook and a dataset, nothing is read or written", async () => {
  const [batch, prepare] = [vi.spyOn(env.DB, "batch"), vi.spyOn(env.DB, "prepare")];
  await watchAt(START, env);
  expect([batch.mock.calls.length, prepare.mock.calls.length]).toEqual([0, 0]);
  expect((await site.call("testAlerts", { as: "super" })).as(AlertAttempt)).toMatchObject({
    delivered: false,
    error: "TIFO_ALERT_URL isn't set",
  });
  const { url, alerts: listed } = (await site.call("getAlerts", { as: "super" })).as(AlertReport);
  expect(url).toBeNull();
  expect(listed.find(({ name }) => name === "databaseSize")).toMatchObject({ limit: 7_000_000_000, isRaised: false, unit: "bytes" });
});

test("the figures are written as data points where a dataset is bound", async () => {
  const points: { blobs: string[]; doubles: number[] }[] = [];
  const OPERATIONS = { writeDataPoint: (point: { blobs: string[]; doubles: number[] }) => void points.push(point) };
  await addDeadLetters(3, START);
  await watchAt(START, Object.assign({ ...env }, { OPERATIONS }));
  expect(points).toContainEqual(expect.objectContaining({ blobs: ["deadLetters"], doubles: [3] }));
  expect(await db.$count(alerts, inArray(alerts.name, ["deadLetters"]))).toBe(0);
});
