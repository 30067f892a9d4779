import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { eq, sql } from "drizzle-orm";
import { allOf, ctxOf } from "#test/callers.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { rundownsOf } from "#test/rundowns.ts";
import { createDb } from "#db/client.ts";
import { accounts } from "#db/schema/accounts.ts";
import { rundownTakes } from "#db/schema/rundowns.ts";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import { exportAsRun } from "#worker/services/rundowns/as-run.ts";
import { AsRunQuery, Rundown } from "#worker/services/rundowns/schemas.ts";
import { settleReceipts } from "#worker/services/rundowns/receipts.ts";
import { siteStore } from "#test/site-store.ts";

const MINUTE = 60_000;
const db = createDb(siteStore);

let site: TestSite;
const { note, goal, newRundown, read, take, clear, asRun, replace, patch, run, onAir } = rundownsOf(() => site);

beforeAll(async () => {
  site = await newSite();
});

afterEach(() => {
  vi.restoreAllMocks();
});

const logOf = async (id: string) => (await asRun(id)).map(({ name, state, trigger }) => [name, state, trigger]);

describe("a timed item", () => {
  test("is taken once at its time, without an operator", async () => {
    const at = Date.now() + MINUTE;
    const rundown = await newRundown([await goal({ name: "Sponsor", at }), await goal({ name: "Later", at: at + MINUTE })]);
    await run(at - 1);
    expect(await asRun(rundown._id)).toEqual([]);
    await run(at);
    await run(at + 1);
    const [entry] = await asRun(rundown._id);
    expect([await logOf(rundown._id), entry?.by]).toEqual([[["Sponsor", "done", "time"]], null]);
    await run(at + MINUTE);
    expect(await logOf(rundown._id)).toEqual([
      ["Sponsor", "done", "time"],
      ["Later", "done", "time"],
    ]);
  });

  test("takes an ISO time, and rejects one in the past that is new", async () => {
    const at = new Date(Date.now() + MINUTE).toISOString();
    const rundown = await newRundown([{ ...note(), at }]);
    expect(rundown.items[0]?.at).toBe(Date.parse(at));
    expect((await replace(rundown, [{ ...note(), at: 1000 }])).fields).toEqual(["items.0.at"]);
  });

  test("is missed after more than five minutes, and an item that closes something isn't", async () => {
    const at = Date.now() + MINUTE;
    const poll = await site.call("createPoll", {
      body: { siteId: site.id, type: "poll", question: "?", name: "P", open: true, answers: [{ answer: "a" }, { answer: "b" }] },
    });
    const pollId = String(Reflect.get(Object(poll.body), "_id"));
    const rundown = await newRundown([await goal({ name: "Show", at }), { kind: "poll", name: "Close", pollId, action: "close", at }]);
    await run(at + 5 * MINUTE + 1_000);
    expect(await logOf(rundown._id)).toEqual([
      ["Show", "missed", "time"],
      ["Close", "done", "time"],
    ]);
  });

  test("that can't be taken has failed, with the reason, and the others go on", async () => {
    const at = Date.now() + MINUTE;
    const rundown = await newRundown([await goal({ name: "Gone", at }), await goal({ name: "Next", at: at + 1 })]);
    const [gone] = rundown.items;
    await site.call("deleteOverlay", { params: { id: gone && "overlayId" in gone ? gone.overlayId : "" } });
    await run(at + 1);
    expect((await asRun(rundown._id)).map(({ name, state, message }) => [name, state, message])).toEqual([
      ["Gone", "failed", "Overlay Not Found"],
      ["Next", "done", null],
    ]);
  });

  test("fails once the key that saved it may no longer run rundowns", async () => {
    const at = Date.now() + MINUTE;
    const headers = { "Tifo-Developer-Key": await site.addKey(["rundown:write", "overlay:write"]) };
    const rundown = await newRundown([await goal({ at })], { as: "client", headers });
    await siteStore.prepare(`update api_keys set roles = '["overlay:write"]' where roles = '["rundown:write","overlay:write"]'`).run();
    await run(at);
    expect((await asRun(rundown._id))[0]).toMatchObject({
      state: "failed",
      message: "The developer key that saved the rundown lacks the role rundown:write",
    });
  });

  test("waits for nobody while the rundown is held: its time passes", async () => {
    const at = Date.now() + MINUTE;
    const rundown = await newRundown([await goal({ name: "Held", at }), await goal({ name: "After", at: at + MINUTE })]);
    await patch(rundown._id, { held: true });
    await run(at);
    vi.useFakeTimers({ toFake: ["Date"], now: at + 1 });
    await patch(rundown._id, { held: false });
    vi.useRealTimers();
    await run(at + MINUTE);
    expect(await logOf(rundown._id)).toEqual([["After", "done", "time"]]);
  });

  test("isn't lost or repeated when the rundown is edited in the moment that it is due", async () => {
    const at = Date.now() + MINUTE;
    const rundown = await newRundown([await goal({ name: "Now", at })]);
    vi.useFakeTimers({ toFake: ["Date"], now: at + 100 });
    const edited = (await replace(rundown, [...rundown.items, note()])).as(Rundown);
    await run(at + 200);
    await replace(rundown, [...edited.items, note("Another")]);
    await run(at + 300);
    vi.useRealTimers();
    expect(await logOf(rundown._id)).toEqual([["Now", "done", "time"]]);
  });

  test("is taken in a later generation if an operator takes something at the same time", async () => {
    const at = Date.now() + MINUTE;
    const rundown = await newRundown([await goal({ name: "Timed", at }), await goal({ name: "Pressed" })]);
    await Promise.all([run(at), take(rundown._id, { itemId: rundown.items[1]?._id, generation: 0 })]);
    const names = (await logOf(rundown._id)).map(([name]) => name);
    expect(names.filter((name) => name === "Timed")).toHaveLength(1);
  });
});

describe("a wait", () => {
  test("takes the following item after its time, once", async () => {
    const rundown = await newRundown([{ kind: "wait", name: "Ten", seconds: 10 }, note(), await goal({ name: "After" })]);
    const { takenAt } = await take(rundown._id);
    expect((await read(rundown._id)).waitsUntil).toBe(takenAt + 10_000);
    await run(takenAt + 9_999);
    expect(await logOf(rundown._id)).toHaveLength(1);
    await run(takenAt + 10_000);
    await run(takenAt + 10_001);
    expect(await logOf(rundown._id)).toEqual([
      ["Ten", "done", "operator"],
      ["After", "done", "wait"],
    ]);
  });

  test("ends when an operator takes something else, or holds the rundown", async () => {
    const wait = { kind: "wait", name: "Ten", seconds: 10 };
    for (const end of ["take", "hold"]) {
      const rundown = await newRundown([wait, await goal({ name: "After" }), await goal({ name: "Other" })]);
      const { takenAt } = await take(rundown._id);
      if (end === "take") await take(rundown._id, { itemId: rundown.items[2]?._id });
      else await patch(rundown._id, { held: true });
      await run(takenAt + 10_000);
      expect
        .soft(
          (await logOf(rundown._id)).map(([name]) => name),
          end,
        )
        .toEqual(end === "take" ? ["Ten", "Other"] : ["Ten"]);
    }
  });

  test("that nothing follows just ends", async () => {
    const rundown = await newRundown([{ kind: "wait", name: "Last", seconds: 1 }]);
    const { takenAt } = await take(rundown._id);
    await run(takenAt + 1_000);
    expect([(await read(rundown._id)).waitsUntil, (await logOf(rundown._id)).length]).toEqual([null, 1]);
  });
});

/** Copies a take into further generations. */
async function copyTake(id: string, copies: number): Promise<void> {
  await db.run(sql`insert into ${rundownTakes} (id, site_id, rundown_id, channel_id, generation, item_id, kind, name, trigger, taken_at, state, receipt_due_at)
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${copies})
    select ${id} || n, site_id, rundown_id, channel_id, n, item_id, kind, name, trigger, taken_at, state, receipt_due_at
      from numbers, (select * from ${rundownTakes} where id = ${id})`);
}

describe("the as-run log", () => {
  test("has live receipts, which are stored for good a minute after the end", async () => {
    const rundown = await newRundown();
    const taken = await take(rundown._id);
    const [live] = await asRun(rundown._id);
    expect(live).toMatchObject({ isFinal: false, receipt: { sockets: 0, sent: 0, acknowledged: 0, seen: null, missing: 0 } });
    await clear(rundown._id);
    await settleReceipts({ env, db, now: Date.now() + 30_000 });
    expect((await asRun(rundown._id))[0]?.isFinal).toBe(false);
    await Promise.all([1, 2].map(() => settleReceipts({ env, db, now: Date.now() + 2 * MINUTE })));
    expect((await asRun(rundown._id))[0]).toMatchObject({ _id: taken._id, isFinal: true, receipt: live?.receipt });
    expect(await onAir()).not.toContain(taken._id);
  });

  test("asks the channel once for all receipts of a page", async () => {
    const rundown = await newRundown([await goal(), note()]);
    for (let round = 0; round < 3; round++) for (const { _id } of rundown.items) await take(rundown._id, { itemId: _id });
    const calls = vi.spyOn(Channel.prototype, "receipts");
    const log = await asRun(rundown._id);
    expect(log.map(({ kind, receipt }) => [kind, receipt?.sockets])).toEqual(
      Array.from({ length: 6 }, (_, i) => (i % 2 === 0 ? ["broadcast", 0] : ["note", undefined])),
    );
    expect(calls).toHaveBeenCalledOnce();
  });

  test("asks the channel for at most 50 receipts at once", async () => {
    const rundown = await newRundown([await goal()]);
    const { _id } = await take(rundown._id);
    await copyTake(_id, 60);
    const calls = vi.spyOn(Channel.prototype, "receipts");
    await allOf(await exportAsRun(ctxOf(site.id, site.accounts.admin), rundown._id, AsRunQuery.parse({ format: "csv" })));
    expect(calls.mock.calls.map(([ids]) => ids.length)).toEqual([50, 11]);
  });

  test("is exported as CSV, in which no name is a formula", async () => {
    const rundown = await newRundown([{ kind: "note", name: "=cmd|' /C calc'!A0" }, await goal({ name: 'Goal, "home"' })]);
    await take(rundown._id, { itemId: rundown.items[0]?._id });
    await take(rundown._id);
    const csv = await site.call("listAsRun", { params: { id: rundown._id }, query: { format: "csv" } });
    const [head, ...lines] = csv.text.trim().split("\r\n");
    expect(head).toMatch(/^take_id,taken_at,kind,action,item_id,name,/);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain(",'=cmd|' /C calc'!A0,");
    expect(lines[1]).toContain(',"Goal, ""home""",');
    expect(csv.headers.get("Content-Disposition")).toContain("attachment");
  });

  test("ends, as CSV, when the caller loses the permission", async () => {
    const rundown = await newRundown([note()]);
    const { _id } = await take(rundown._id, { itemId: rundown.items[0]?._id });
    await copyTake(_id, 300);
    const leaving = await site.addAccount("leaving", site.accounts.admin.roles);
    const exported = () => exportAsRun(ctxOf(site.id, leaving), rundown._id, AsRunQuery.parse({ format: "csv" }));
    const pieces = await exported();
    await pieces.next();
    await pieces.next();
    expect((await allOf(await exported())).length).toBe(3);
    await db.update(accounts).set({ roles: [] }).where(eq(accounts.id, leaving.id));
    await expect(allOf(pieces)).rejects.toThrow("permission");
  });

  test("pages by cursor, and filters by kind", async () => {
    const rundown = await newRundown([note(), await goal()]);
    for (let round = 0; round < 3; round++) for (const { _id } of rundown.items) await take(rundown._id, { itemId: _id });
    expect((await asRun(rundown._id, { kind: "note" })).map(({ kind }) => kind)).toEqual(["note", "note", "note"]);
    expect(await asRun(rundown._id, { limit: "4" })).toHaveLength(4);
  });
});
