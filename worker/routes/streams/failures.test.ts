import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { streamDrafts, streamProviders, streams } from "#db/schema/streams/streams.ts";
import { type ApiResponse, newSite, type TestSite } from "#test/harness.ts";
import { behave, registerProvider, providerCalls } from "#test/streams.ts";
import type { Behaviour } from "#test/stream-provider.ts";
import { newId } from "#worker/lib/ids.ts";
import { undoAbandonedDrafts } from "#worker/services/streams/drafts.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Stream } from "#worker/services/streams/schemas.ts";
import { siteStore } from "#test/site-store.ts";

/** How long a provider has to respond. */
const TIMEOUT_MS = 10_000;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const db = createDb(siteStore);

let site: TestSite;
let id: string;

beforeEach(async () => {
  site = await newSite();
  await registerProvider(site);
  id = (await create()).as(Stream)._id;
});

afterEach(() => {
  vi.restoreAllMocks();
});

const create = (): Promise<ApiResponse> => site.call("createStream", { body: { title: "Derby" } });

const OPERATIONS = { start: "startStream", stop: "stopStream", delete: "deleteStream" } as const;
type Call = keyof typeof OPERATIONS;
const CALLS: Call[] = ["start", "stop", "delete"];

const run = (call: Call, query = {}): Promise<ApiResponse> => site.call(OPERATIONS[call], { params: { id }, query });
const stored = () => db.select().from(streams).where(eq(streams.siteId, site.id));
const drafts = () => db.select().from(streamDrafts).where(eq(streamDrafts.siteId, site.id));
const callsTo = async (call: string): Promise<number> => (await providerCalls(site)).filter((seen) => seen.call === call).length;

async function eventTypes(): Promise<string[]> {
  return (await site.call("listEvents")).as(EventList).results.map(({ type }) => type);
}

/** Aborts each of these hanging calls as soon as the provider has received it; returns the timeouts they had. */
async function abortHangingCalls(call: string): Promise<{ timeouts: number[] }> {
  const timeouts: number[] = [];
  const before = await callsTo(call);
  const { setTimeout: later } = globalThis;
  vi.spyOn(globalThis, "setTimeout").mockImplementation((callback, ms = 0) => {
    // Other timers run too: the site's log gives its effects 20 s.
    if (ms !== TIMEOUT_MS) return later(callback, ms);
    const number = timeouts.push(ms);
    const end = async (): Promise<void> => {
      if ((await callsTo(call)) < before + number) return;
      clearInterval(timer);
      callback();
    };
    const timer = setInterval(() => void end(), 20);
    return timer;
  });
  return { timeouts };
}

type Way = NonNullable<Behaviour["start"]>[number];
const WAYS: [Way, number][] = [
  ["fail", 2],
  ["hang", 2],
  ["flood", 2],
  ["reject", 1],
  ["redirect", 1],
  ["garbage", 1],
];

describe.each(WAYS)("a provider whose response is: %s", (way, attempts) => {
  test.each(CALLS)("leaves the stream unchanged on %s, and the next call works", async (call) => {
    if (call === "stop") await run("start");
    const before = [await stored(), await eventTypes()];
    const aborted = way === "hang" ? await abortHangingCalls(call) : undefined;
    await behave(site, { [call]: [way] });
    const response = await run(call);
    const name = call[0]?.toUpperCase() + call.slice(1);
    expect(response.problem).toMatchObject({
      status: 400,
      code: "stream_provider_failed",
      message: `${name} Stream call to provider failed`,
    });
    expect(response.fields).toEqual(["provider"]);
    expect(await callsTo(call)).toBe(attempts);
    expect(await callsTo("moved")).toBe(0);
    expect([await stored(), await eventTypes()]).toEqual(before);
    if (aborted) expect(aborted.timeouts).toEqual([TIMEOUT_MS, TIMEOUT_MS]);
    vi.restoreAllMocks();
    await behave(site, {});
    expect((await run(call)).status).toBe(200);
  });

  test.each(["stop", "delete"] as const)("doesn't prevent %s with force", async (call) => {
    if (call === "stop") await run("start");
    if (way === "hang") await abortHangingCalls(call);
    await behave(site, { [call]: [way] });
    expect((await run(call, { force: "false" })).status).toBe(400);
    expect((await run(call, { force: "true" })).status).toBe(200);
    expect(await callsTo(call)).toBe(2 * attempts);
    const [stream] = await stored();
    expect(stream).toEqual(
      call === "stop" ? expect.objectContaining({ isLive: false, liveSince: null, call: null, callAt: null }) : undefined,
    );
    expect(await eventTypes()).toContain(call === "stop" ? "admin.wentOffline" : "stream.deleted");
  });

  test("leaves no stream here or there on create", async () => {
    if (way === "hang") await abortHangingCalls("create");
    await behave(site, { create: [way] });
    const response = await create();
    expect(response.problem).toMatchObject({ status: 400, message: "Create Stream call to provider failed" });
    expect(await callsTo("create")).toBe(1 + attempts);
    await vi.waitUntil(async () => (await drafts()).length === 0, { interval: 10 });
    // A stream that it rejected wasn't created.
    expect(await callsTo("delete")).toBe(way === "reject" || way === "redirect" ? 0 : 1);
    expect(await stored()).toHaveLength(1);
    expect(await eventTypes()).not.toContain("admin.wentLive");
  });
});

describe("a provider call", () => {
  test("that fails once is retried once with the same stream", async () => {
    for (const call of CALLS) {
      await behave(site, { [call]: ["fail", "succeed"] });
      expect((await run(call)).status).toBe(200);
      expect(await callsTo(call)).toBe(2);
    }
    await behave(site, { create: ["fail", "succeed"] });
    expect((await create()).status).toBe(201);
    const [, first, second] = (await providerCalls(site)).filter(({ call }) => call === "create");
    expect(first).toEqual(second);
  });

  test("isn't made to a URL that resolves to a private address since it was saved", async () => {
    await db.update(streamProviders).set({ startStream: "http://127.0.0.1:1/start" }).where(eq(streamProviders.siteId, site.id));
    expect((await run("start")).problem).toMatchObject({ status: 400, message: "Start Stream call to provider failed" });
    expect(await callsTo("start")).toBe(0);
  });

  test("to stop or delete a stream that the provider no longer has succeeds", async () => {
    await run("start");
    id = newId(1);
    await db.update(streams).set({ id }).where(eq(streams.siteId, site.id));
    expect((await run("stop")).status).toBe(200);
    const [stopped] = await db.select().from(streams).where(eq(streams.id, id));
    expect(stopped).toMatchObject({ isLive: false, call: null });
    expect(await eventTypes()).toContain("admin.wentOffline");
    expect((await run("start")).status).toBe(400);
    expect((await run("delete")).status).toBe(200);
  });

  test("isn't made with force while another one runs, and a live stream isn't deleted with it", async () => {
    await run("start");
    expect((await run("delete", { force: "true" })).status).toBe(409);
    await db
      .update(streams)
      .set({ call: "stop", callBy: newId(1), callAt: Date.now() })
      .where(eq(streams.id, id));
    expect((await run("stop", { force: "true" })).status).toBe(409);
    expect(await stored()).toMatchObject([{ isLive: true }]);
  });

  test("of a crashed request blocks other calls for a minute", async () => {
    const dies = (ago: number) =>
      db
        .update(streams)
        .set({ call: "start", callBy: newId(1), callAt: Date.now() - ago })
        .where(eq(streams.id, id));
    await dies(30_000);
    for (const call of CALLS) expect((await run(call)).status).toBe(409);
    await dies(MINUTE + 1);
    expect((await run("start")).status).toBe(200);
  });
});

describe("a stream draft", () => {
  const failToInsert = (): void => {
    const prepare = siteStore.prepare.bind(siteStore);
    vi.spyOn(siteStore, "prepare").mockImplementation((sql) =>
      prepare(sql.startsWith('insert into "streams"') ? "select no_such_column" : sql),
    );
  };

  test("is deleted at the provider if the stream can't be stored here", async () => {
    failToInsert();
    const headers = { "Tifo-Request-Id": "insert-fails" };
    await expect(site.call("createStream", { body: { title: "Derby" }, headers })).rejects.toThrow(/no_such_column/);
    vi.restoreAllMocks();
    await vi.waitUntil(async () => (await drafts()).length === 0, { interval: 10 });
    expect(await callsTo("delete")).toBe(1);
    expect(await stored()).toHaveLength(1);
  });

  test("can't become a stream once the cron has claimed it", async () => {
    const outside = globalThis.fetch;
    vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
      if (typeof input === "string" && input.endsWith("/create"))
        await undoAbandonedDrafts({ env, db, shard: 1, now: Date.now() + 3 * MINUTE });
      return outside(input, init);
    });
    expect((await create()).status).toBe(409);
    expect(await stored()).toHaveLength(1);
  });

  test("prevents its provider from being removed", async () => {
    await run("delete");
    const draft = await leave();
    const [provider] = await db.select().from(streamProviders).where(eq(streamProviders.siteId, site.id));
    const removal = () => site.call("removeStreamProvider", { params: { id: provider?.id ?? "" } });
    expect((await removal()).status).toBe(409);
    await db.delete(streamDrafts).where(eq(streamDrafts.id, draft));
    expect((await removal()).status).toBe(200);
  });

  /** A draft whose request crashed two minutes ago. */
  async function leave(created = Date.now() - 2 * MINUTE): Promise<string> {
    const draft = newId(created);
    await db
      .insert(streamDrafts)
      .values({ id: draft, siteId: site.id, title: "Lost", provider: "wowza", created, due: created + 2 * MINUTE });
    return draft;
  }

  test("of a crashed request is deleted at the provider after two minutes, not before", async () => {
    const draft = await leave(Date.now() - MINUTE);
    await undoAbandonedDrafts({ env, db, shard: 1, now: Date.now() });
    expect(await callsTo("delete")).toBe(0);
    await undoAbandonedDrafts({ env, db, shard: 1, now: Date.now() + MINUTE });
    expect((await providerCalls(site)).at(-1)).toMatchObject({ call: "delete", streamId: draft, body: { title: "Lost", siteId: site.id } });
    expect(await drafts()).toEqual([]);
  });

  test("is retried with increasing delays while the provider fails, and abandoned after a week", async () => {
    await behave(site, { delete: ["fail"] });
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const created = Date.now() - 10 * MINUTE;
    const draft = await leave(created);
    const complaints = () => logged.mock.calls.filter(([line]) => String(line).includes(draft));
    await undoAbandonedDrafts({ env, db, shard: 1, now: created + 10 * MINUTE });
    expect(await drafts()).toMatchObject([{ id: draft, due: created + 20 * MINUTE }]);
    expect(complaints()).toEqual([]);
    await undoAbandonedDrafts({ env, db, shard: 1, now: created + 8 * DAY });
    expect(await drafts()).toEqual([]);
    expect(complaints()).toHaveLength(1);
  });
});
