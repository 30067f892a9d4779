import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { beforeEach, describe, expect, type MockInstance, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts } from "#db/schema/accounts.ts";
import { memberExports } from "#db/schema/commerce/exports.ts";
import worker from "#worker/index.ts";
import { readCsv } from "#worker/lib/csv.ts";
import { newId } from "#worker/lib/ids.ts";
import { Export, ExportState } from "#worker/services/community/schemas.ts";
import { runScheduled } from "#worker/scheduled.ts";
import { continueExport } from "#worker/services/community/exports.ts";
import { newSite, type TestSite } from "../harness.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const HOUR = 3_600_000;

let site: TestSite;
let send: MockInstance<Queue["send"]>;

beforeEach(async () => {
  site = await newSite();
  // The queue delivers nothing: each test delivers the messages itself.
  send = vi.spyOn(env.JOBS, "send").mockResolvedValue(SENT);
});

const SENT = { metadata: { metrics: { backlogCount: 0, backlogBytes: 0, oldestMessageTimestamp: undefined } } };

async function addMembers(count: number): Promise<void> {
  await db.run(sql`insert into ${accounts} (id, site_id, email, name, normalized_name, email_hash, roles, tags, third_party_auth_providers,
      marketing_optin, created, modified)
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${count})
    select ${newId(Date.now()).slice(0, 18)} || printf('%06x', n), ${site.id}, 'fan' || n || '@' || ${site.slug}, 'Fan ' || n, 'fan ' || n, '', '[]', '[]',
      '[]', 0, ${Date.now()} + n / 10, ${Date.now()} from numbers`);
}

/** Inserts a pending export. */
async function request(): Promise<string> {
  const id = newId(Date.now());
  await db.insert(memberExports).values({
    id,
    siteId: site.id,
    accountId: site.accounts.admin.id,
    fileName: "members.csv",
    status: "pending",
    totalRows: await db.$count(accounts, eq(accounts.siteId, site.id)),
    pieces: [],
    lease: Date.now(),
    created: Date.now(),
    modified: Date.now(),
  });
  return id;
}

const work = (exportId: string, now = Date.now()) =>
  continueExport({ env, db }, { kind: "memberExport", siteId: site.id, exportId }, () => now);

/** Delivers the export's message to the Worker and returns the result. */
async function deliver(exportId: string) {
  const body = { kind: "memberExport", siteId: site.id, exportId };
  const batch = createMessageBatch("tifo-jobs", [{ id: "one", timestamp: new Date(), attempts: 1, body }]);
  await worker.queue(batch, env);
  return getQueueResult(batch, createExecutionContext());
}

const stateOf = async (exportId: string) => (await site.call("getExport", { params: { exportId } })).as(ExportState);

async function rowOf(id: string) {
  const [row] = await db.select().from(memberExports).where(eq(memberExports.id, id));
  if (!row) throw new Error("No such export");
  return row;
}

async function download(exportId: string): Promise<Response> {
  return exports.default.fetch((await stateOf(exportId)).downloadUrl ?? "");
}

async function linesOf(exportId: string): Promise<string[][]> {
  const { body } = await download(exportId);
  if (!body) throw new Error("No file");
  const lines: string[][] = [];
  for await (const line of readCsv(body)) lines.push(line);
  return lines;
}

describe("an export", () => {
  test("is pending at first, complete after its message, and lists each member once", async () => {
    const requested = (await site.call("exportMembers", { as: "reader" })).as(Export);
    expect(requested.status).toBe("pending");
    expect(requested.fileName).toMatch(/^members-\d{4}-\d\d-\d\d\.csv$/);
    const before = await stateOf(requested.exportId);
    expect(before).toMatchObject({ progress: 0, downloadUrl: null });
    expect((await deliver(requested.exportId)).explicitAcks).toEqual(["one"]);
    expect(await stateOf(requested.exportId)).toMatchObject({ status: "complete", progress: 100, rows: 4 });
    const [header, ...members] = await linesOf(requested.exportId);
    expect(header).toEqual(["account_id", "name", "email", "created", "last_login", "marketing_optin", "tags", "subscriptions"]);
    expect(new Set(members.map(([id]) => id))).toEqual(new Set(Object.values(site.accounts).map(({ id }) => id)));
    expect(members.find(([, name]) => name === "viewer")?.slice(6)).toEqual(['["team:home"]', "[]"]);
  });

  test("is queued by its event", async () => {
    vi.restoreAllMocks();
    const { exportId } = (await site.call("exportMembers")).as(Export);
    await env.SITE_LOG.getByName(site.id).nudge();
    await vi.waitUntil(async () => (await rowOf(exportId)).status === "complete", { interval: 50 });
  });

  test("contains no formula that a spreadsheet would run", async () => {
    for (const name of ["=cmd()", "+1", "-1", "@sum", 'a "b", c']) await site.addAccount(name, []);
    const id = await request();
    await work(id);
    const names = (await linesOf(id)).map(([, name]) => name ?? "");
    expect(names).toEqual(expect.arrayContaining(["'=cmd()", "'+1", "'-1", "'@sum", 'a "b", c']));
    expect(names.filter((name) => /^[=+\-@]/.test(name))).toEqual([]);
  });

  test("keeps the tags of a member separate, whatever characters they contain", async () => {
    const tags = { one: ["a,b", "c"], two: ["a", "b,c"], three: ['"', "=x", "\r\n"] };
    for (const [name, list] of Object.entries(tags)) await site.addAccount(name, [], list);
    const id = await request();
    await work(id);
    const lines = await linesOf(id);
    for (const [name, list] of Object.entries(tags)) {
      expect(JSON.parse(lines.find((line) => line[1] === name)?.[6] ?? "")).toEqual(list);
    }
  });

  test("that fails is retried by the same message half a minute later", async () => {
    const id = await request();
    vi.spyOn(env.MEDIA, "put").mockRejectedValueOnce(new Error("bucket down"));
    expect(await deliver(id)).toMatchObject({ explicitAcks: [], retryMessages: [{ msgId: "one" }] });
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 30_000);
    expect((await deliver(id)).explicitAcks).toEqual(["one"]);
    expect((await rowOf(id)).status).toBe("complete");
  });

  test("survives a bucket outage of five minutes, however many messages arrive in the meantime", async () => {
    const id = await request();
    const start = Date.now();
    const put = vi.spyOn(env.MEDIA, "put").mockRejectedValue(new Error("bucket down"));
    for (let after = 0; after <= 5 * 60_000; after += 5_000) await work(id, start + after).catch(() => undefined);
    expect(put.mock.calls.length).toBeGreaterThan(5);
    put.mockRestore();
    await work(id, start + 5 * 60_000 + 30_000);
    expect((await rowOf(id)).status).toBe("complete");
  });

  test("whose worker was killed is queued again by the cron within a minute", async () => {
    const id = await request();
    const start = Date.now();
    vi.spyOn(env.MEDIA, "put").mockReturnValue(new Promise(() => undefined));
    void work(id, start);
    await vi.waitUntil(async () => (await rowOf(id)).status === "running");
    await runScheduled(env, start + 10_000);
    expect(send).not.toHaveBeenCalledWith(expect.objectContaining({ exportId: id }));
    await runScheduled(env, start + 60_000);
    expect(send).toHaveBeenCalledWith({ kind: "memberExport", siteId: site.id, exportId: id });
  });

  test("that dies between any two steps continues there, and lists every member once", async () => {
    await addMembers(9_000);
    const id = await request();
    const put = env.MEDIA.put.bind(env.MEDIA);
    let stored = 0;
    // Every second part kills its run, alternately before and after it is stored.
    const dying = vi.spyOn(env.MEDIA, "put").mockImplementation(async (key, value) => {
      stored += 1;
      if (stored % 4 === 2) throw new Error("died before");
      const object = await put(key, value instanceof Uint8Array ? value : null);
      if (!object || stored % 4 === 0) throw new Error("died after");
      return object;
    });
    for (let run = 0, now = Date.now(); run < 12; run++, now += HOUR / 10) await work(id, now).catch(() => undefined);
    expect(stored).toBeGreaterThan(5);
    dying.mockRestore();
    expect((await rowOf(id)).status).toBe("complete");
    const ids = (await linesOf(id)).slice(1).map(([accountId]) => accountId);
    expect(ids).toHaveLength(9_004);
    expect(new Set(ids).size).toBe(9_004);
  });

  test("is created once, even if several messages arrive at the same time", async () => {
    await addMembers(4_500);
    const id = await request();
    await Promise.all([work(id), work(id), work(id)]);
    expect(await rowOf(id)).toMatchObject({ status: "complete", rows: 4_504 });
    await work(id);
    expect((await linesOf(id)).length).toBe(4_505);
  });

  test("of 100,000 members is created in small parts by several messages", async () => {
    await addMembers(100_000);
    const id = await request();
    const sizes: number[] = [];
    const put = env.MEDIA.put.bind(env.MEDIA);
    vi.spyOn(env.MEDIA, "put").mockImplementation(async (key, value) => {
      if (!(value instanceof Uint8Array)) throw new Error("Not the bytes of a part");
      sizes.push(value.byteLength);
      const object = await put(key, value);
      if (!object) throw new Error("Not stored");
      return object;
    });
    await work(id);
    expect(await stateOf(id)).toMatchObject({ status: "running", progress: 99, rows: 100_000 });
    expect(send).toHaveBeenCalledTimes(1);
    await work(id);
    expect(await rowOf(id)).toMatchObject({ status: "complete", rows: 100_004, bytes: sizes.reduce((sum, size) => sum + size, 0) });
    expect(Math.max(...sizes)).toBeLessThan(512 * 1024);
    expect(await linesOf(id)).toHaveLength(100_005);
  });

  test("that never makes progress fails in the end, and reports it", async () => {
    const id = await request();
    const put = vi.spyOn(env.MEDIA, "put").mockRejectedValue(new Error("bucket down"));
    for (let run = 0, now = Date.now(); run < 32; run++, now += HOUR / 60) await work(id, now).catch(() => undefined);
    put.mockRestore();
    expect(await stateOf(id)).toMatchObject({ status: "failed", downloadUrl: null });
    await work(id, Date.now() + 24 * HOUR);
    expect((await rowOf(id)).status).toBe("failed");
  });

  test("whose message was lost is queued again by the cron", async () => {
    const id = await request();
    await runScheduled(env, Date.now() + 30_000);
    expect(send).not.toHaveBeenCalledWith(expect.objectContaining({ exportId: id }));
    await runScheduled(env, Date.now() + 120_000);
    expect(send).toHaveBeenCalledWith({ kind: "memberExport", siteId: site.id, exportId: id });
  });

  test("is deleted a day later, with everything that its runs left behind", async () => {
    const id = await request();
    await work(id);
    await env.MEDIA.put(`exports/${id}/0-99`, "left by a run that died");
    await runScheduled(env, Date.now() + 23 * HOUR);
    expect((await download(id)).status).toBe(200);
    await runScheduled(env, Date.now() + 25 * HOUR);
    expect((await env.MEDIA.list({ prefix: `exports/${id}` })).objects).toEqual([]);
    expect(await db.select().from(memberExports).where(eq(memberExports.id, id))).toEqual([]);
  });
});

describe("the download link of a file", () => {
  test("expires within an hour, and can't be forged or changed", async () => {
    const id = await request();
    await work(id);
    const { downloadUrl, downloadExpires } = await stateOf(id);
    expect(downloadExpires).toBeLessThanOrEqual(Date.now() + HOUR);
    const url = downloadUrl ?? "";
    const response = await exports.default.fetch(url);
    expect(response.headers.get("Content-Disposition")).toBe('attachment; filename="members.csv"');
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    await response.body?.cancel();
    const later = url.replace(String(downloadExpires), String((downloadExpires ?? 0) + HOUR));
    for (const wrong of [later, url.slice(0, -3), `${url}x`, `${url}=`, `${url}!`])
      expect((await exports.default.fetch(wrong)).status).toBe(404);
    vi.spyOn(Date, "now").mockReturnValue((downloadExpires ?? 0) + 1);
    expect((await exports.default.fetch(url)).status).toBe(404);
  });

  test("isn't reported as unknown while the database is unavailable", async () => {
    const id = await request();
    await work(id);
    const { downloadUrl } = await stateOf(id);
    vi.spyOn(siteStore, "prepare").mockImplementation(() => {
      throw new Error("database unavailable");
    });
    expect((await exports.default.fetch(downloadUrl ?? "")).status).toBe(500);
  });

  test("is as inaccessible to another site as the export", async () => {
    const id = await request();
    const other = await newSite();
    expect((await other.call("getExport", { params: { exportId: id } })).status).toBe(404);
  });
});
