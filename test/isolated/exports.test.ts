import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { accounts, memberExports } from "#db/schema/index.ts";
import worker from "#worker/index.ts";
import { readCsv } from "#worker/lib/csv.ts";
import { newId } from "#worker/lib/ids.ts";
import { Export, ExportState } from "#worker/services/community/schemas.ts";
import { runScheduled } from "#worker/scheduled.ts";
import { continueExport } from "#worker/services/community/exports.ts";
import { newSite, type TestSite } from "../harness.ts";

const db = createDb(env.DB);
const HOUR = 3_600_000;

let site: TestSite;
let send: MockInstance<Queue["send"]>;

beforeEach(async () => {
  site = await newSite();
  // The queue's own consumer stands back: each test delivers the messages itself.
  send = vi.spyOn(env.JOBS, "send").mockResolvedValue(SENT);
});

afterEach(() => {
  vi.restoreAllMocks();
});

const SENT = { metadata: { metrics: { backlogCount: 0, backlogBytes: 0, oldestMessageTimestamp: undefined } } };

async function addMembers(count: number): Promise<void> {
  await db.run(sql`insert into ${accounts} (id, site_id, email, name, normalized_name, email_hash, roles, tags, third_party_auth_providers,
      marketing_optin, created, modified)
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${count})
    select ${newId(Date.now()).slice(0, 18)} || printf('%06x', n), ${site.id}, 'fan' || n || '@' || ${site.slug}, 'Fan ' || n, 'fan ' || n, '', '[]', '[]',
      '[]', 0, ${Date.now()} + n / 10, ${Date.now()} from numbers`);
}

/** An export that nobody works on yet. */
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

/** Brings the export's message to the worker; answers what became of that. */
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
  test("is pending at first, complete once its message came, and says each member once", async () => {
    const asked = (await site.call("exportMembers", { as: "reader" })).as(Export);
    expect(asked.status).toBe("pending");
    expect(asked.fileName).toMatch(/^members-\d{4}-\d\d-\d\d\.csv$/);
    const before = await stateOf(asked.exportId);
    expect(before).toMatchObject({ progress: 0, downloadUrl: null });
    expect((await deliver(asked.exportId)).explicitAcks).toEqual(["one"]);
    expect(await stateOf(asked.exportId)).toMatchObject({ status: "complete", progress: 100, rows: 4 });
    const [header, ...members] = await linesOf(asked.exportId);
    expect(header).toEqual(["account_id", "name", "email", "created", "last_login", "marketing_optin", "tags", "subscriptions"]);
    expect(new Set(members.map(([id]) => id))).toEqual(new Set(Object.values(site.accounts).map(({ id }) => id)));
    expect(members.find(([, name]) => name === "viewer")?.slice(6)).toEqual(['["team:home"]', "[]"]);
  });

  test("is brought to the queue by its event", async () => {
    vi.restoreAllMocks();
    const { exportId } = (await site.call("exportMembers")).as(Export);
    await env.SITE_LOG.getByName(site.id).nudge();
    await vi.waitUntil(async () => (await rowOf(exportId)).status === "complete", { interval: 50 });
  });

  test("holds nothing that a spreadsheet would run", async () => {
    for (const name of ["=cmd()", "+1", "-1", "@sum", 'a "b", c']) await site.addAccount(name, []);
    const id = await request();
    await work(id);
    const names = (await linesOf(id)).map(([, name]) => name ?? "");
    expect(names).toEqual(expect.arrayContaining(["'=cmd()", "'+1", "'-1", "'@sum", 'a "b", c']));
    expect(names.filter((name) => /^[=+\-@]/.test(name))).toEqual([]);
  });

  test("tells the tags of a member apart, whatever they hold", async () => {
    const tags = { one: ["a,b", "c"], two: ["a", "b,c"], three: ['"', "=x", "\r\n"] };
    for (const [name, list] of Object.entries(tags)) await site.addAccount(name, [], list);
    const id = await request();
    await work(id);
    const lines = await linesOf(id);
    for (const [name, list] of Object.entries(tags)) {
      expect(JSON.parse(lines.find((line) => line[1] === name)?.[6] ?? "")).toEqual(list);
    }
  });

  test("that fails is taken up by the same message half a minute later", async () => {
    const id = await request();
    vi.spyOn(env.MEDIA, "put").mockRejectedValueOnce(new Error("bucket down"));
    expect(await deliver(id)).toMatchObject({ explicitAcks: [], retryMessages: [{ msgId: "one" }] });
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 30_000);
    expect((await deliver(id)).explicitAcks).toEqual(["one"]);
    expect((await rowOf(id)).status).toBe("complete");
  });

  test("outlives a bucket that is away for five minutes, however many messages ask for it meanwhile", async () => {
    const id = await request();
    const began = Date.now();
    const put = vi.spyOn(env.MEDIA, "put").mockRejectedValue(new Error("bucket down"));
    for (let after = 0; after <= 5 * 60_000; after += 5_000) await work(id, began + after).catch(() => undefined);
    expect(put.mock.calls.length).toBeGreaterThan(5);
    put.mockRestore();
    await work(id, began + 5 * 60_000 + 30_000);
    expect((await rowOf(id)).status).toBe("complete");
  });

  test("whose worker was killed is sent on its way again by the cron of the next minute", async () => {
    const id = await request();
    const began = Date.now();
    vi.spyOn(env.MEDIA, "put").mockReturnValue(new Promise(() => undefined));
    void work(id, began);
    await vi.waitUntil(async () => (await rowOf(id)).status === "running");
    await runScheduled(env, began + 10_000);
    expect(send).not.toHaveBeenCalledWith(expect.objectContaining({ exportId: id }));
    await runScheduled(env, began + 60_000);
    expect(send).toHaveBeenCalledWith({ kind: "memberExport", siteId: site.id, exportId: id });
  });

  test("that dies between any two steps goes on where it stood, and has every member once", async () => {
    await addMembers(9_000);
    const id = await request();
    const put = env.MEDIA.put.bind(env.MEDIA);
    let stored = 0;
    // Every second piece is the end of its run: in turn before and after it is stored.
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

  test("is made once, though two messages come at the same instant", async () => {
    await addMembers(4_500);
    const id = await request();
    await Promise.all([work(id), work(id), work(id)]);
    expect(await rowOf(id)).toMatchObject({ status: "complete", rows: 4_504 });
    await work(id);
    expect((await linesOf(id)).length).toBe(4_505);
  });

  test("of 100,000 members is made in pieces, none of which is large, by as many messages as it takes", async () => {
    await addMembers(100_000);
    const id = await request();
    const sizes: number[] = [];
    const put = env.MEDIA.put.bind(env.MEDIA);
    vi.spyOn(env.MEDIA, "put").mockImplementation(async (key, value) => {
      if (!(value instanceof Uint8Array)) throw new Error("Not the bytes of a piece");
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

  test("that never gets on has failed in the end, and says so", async () => {
    const id = await request();
    const put = vi.spyOn(env.MEDIA, "put").mockRejectedValue(new Error("bucket down"));
    for (let run = 0, now = Date.now(); run < 32; run++, now += HOUR / 60) await work(id, now).catch(() => undefined);
    put.mockRestore();
    expect(await stateOf(id)).toMatchObject({ status: "failed", downloadUrl: null });
    await work(id, Date.now() + 24 * HOUR);
    expect((await rowOf(id)).status).toBe("failed");
  });

  test("whose message was lost is sent on its way again by the cron", async () => {
    const id = await request();
    await runScheduled(env, Date.now() + 30_000);
    expect(send).not.toHaveBeenCalledWith(expect.objectContaining({ exportId: id }));
    await runScheduled(env, Date.now() + 120_000);
    expect(send).toHaveBeenCalledWith({ kind: "memberExport", siteId: site.id, exportId: id });
  });

  test("is gone a day later, with all that its making left", async () => {
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

describe("the link of a file", () => {
  test("expires within the hour, and can't be made or changed", async () => {
    const id = await request();
    await work(id);
    const { downloadUrl, downloadExpires } = await stateOf(id);
    expect(downloadExpires).toBeLessThanOrEqual(Date.now() + HOUR);
    const url = downloadUrl ?? "";
    const answer = await exports.default.fetch(url);
    expect(answer.headers.get("Content-Disposition")).toBe('attachment; filename="members.csv"');
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
    await answer.body?.cancel();
    const later = url.replace(String(downloadExpires), String((downloadExpires ?? 0) + HOUR));
    for (const wrong of [later, url.slice(0, -3), `${url}x`, `${url}=`, `${url}!`])
      expect((await exports.default.fetch(wrong)).status).toBe(404);
    vi.spyOn(Date, "now").mockReturnValue((downloadExpires ?? 0) + 1);
    expect((await exports.default.fetch(url)).status).toBe(404);
  });

  test("is not said to be unknown where the database is away", async () => {
    const id = await request();
    await work(id);
    const { downloadUrl } = await stateOf(id);
    vi.spyOn(env.DB, "prepare").mockImplementation(() => {
      throw new Error("database away");
    });
    expect((await exports.default.fetch(downloadUrl ?? "")).status).toBe(500);
  });

  test("is another site's as little as the export", async () => {
    const id = await request();
    const other = await newSite();
    expect((await other.call("getExport", { params: { exportId: id } })).status).toBe(404);
  });
});
