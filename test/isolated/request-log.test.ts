import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import {
  LEAST_WAIT_MS,
  MOST_REQUESTS,
  MOST_WAIT_MS,
  type RecordedRequest,
  type RequestPage,
  type RequestQuery,
  REQUESTS_KEPT_MS,
} from "#worker/durable-objects/scheduler/request-log.protocol.ts";
import { RequestLog } from "#worker/durable-objects/scheduler/request-log.ts";
import { schedulerOf } from "#worker/durable-objects/stubs.ts";
import { newId } from "#worker/lib/ids.ts";
import { atTime, evict, runAlarmAt } from "./relay-viewer.ts";

/** In the future, so that no alarm is due by itself. */
const START = Math.ceil(Date.now() / 3_600_000 + 1) * 3_600_000;
/** Longer than the window in which entries and batches are counted. */
const WINDOW_MS = 5_000;
const PER_WINDOW = 100;

function newRequest(change: Partial<RecordedRequest> = {}): RecordedRequest {
  return {
    at: START,
    method: "GET",
    route: "/page/v2",
    operationId: "listPages",
    status: 200,
    ms: 5,
    requestId: "req-1",
    code: null,
    ...change,
  };
}

/** The log of a site that no other test uses. */
function newLog() {
  const stub = schedulerOf(env, newId(Date.now()));
  const record = (entries: RecordedRequest[], now = START, requests = entries.length) =>
    atTime(now, () => stub.recordRequests({ entries, requests }));
  const read = (query: Partial<RequestQuery> = {}, now = START) =>
    atTime(now, async () => stub.requests({ statusClass: null, route: null, before: null, limit: 2 * MOST_REQUESTS, ...query }));
  return { stub, record, read };
}

/** As many windows' worth of requests, one every millisecond. */
async function fill({ record }: ReturnType<typeof newLog>, windows: number): Promise<void> {
  for (let window = 0; window < windows; window++) {
    const now = START + window * WINDOW_MS;
    await record(
      Array.from({ length: PER_WINDOW }, (_, index) => newRequest({ at: now + index })),
      now,
    );
  }
}

describe("a site's request log", () => {
  test("lists requests newest first, whichever isolate handed them over first, and survives an eviction", async () => {
    const log = newLog();
    await log.record([newRequest({ at: START + 20 }), newRequest({ at: START + 40 })]);
    await log.record([newRequest({ at: START + 30 }), newRequest({ at: START + 10 })]);
    await evict(log.stub);
    const { rows, requests, recorded } = await log.read();
    expect(rows.map(({ at }) => at - START)).toEqual([40, 30, 20, 10]);
    expect({ requests, recorded }).toEqual({ requests: 4, recorded: 4 });
  });

  test("continues after a position without gaps or repetitions, also between requests of the same millisecond", async () => {
    const log = newLog();
    await log.record([1, 2, 3, 4, 5].map((ms) => newRequest({ ms, at: START + (ms > 3 ? 1 : 0) })));
    const seen: number[] = [];
    for (let before: RequestQuery["before"] = null; ;) {
      const [row]: RequestPage["rows"] = (await log.read({ limit: 1, before })).rows;
      if (!row) break;
      seen.push(row.ms);
      before = row;
    }
    expect(seen).toEqual([5, 4, 3, 2, 1]);
  });

  test("filters by the class of the status and by the route", async () => {
    const log = newLog();
    const failed = newRequest({ status: 404, code: "not_found", route: "/page/v2/{id}" });
    await log.record([newRequest(), failed, newRequest({ status: 503 }), newRequest({ status: 101, route: null })]);
    const statuses = async (query: Partial<RequestQuery>) => (await log.read(query)).rows.map(({ status }) => status);
    expect(await statuses({ statusClass: 4 })).toEqual([404]);
    expect(await statuses({ statusClass: 1 })).toEqual([101]);
    expect(await statuses({ route: "/page/v2" })).toEqual([503, 200]);
    expect(await statuses({ route: "/page/v2", statusClass: 4 })).toEqual([]);
  });

  test("has at most 1,000 requests, the newest", async () => {
    const log = newLog();
    const windows = MOST_REQUESTS / PER_WINDOW + 1;
    await fill(log, windows);
    const { rows, requests } = await log.read();
    expect(rows).toHaveLength(MOST_REQUESTS);
    expect(rows.at(-1)?.at).toBe(START + WINDOW_MS);
    expect(requests).toBe(windows * PER_WINDOW);
  });

  test("stores 100 requests in five seconds, and counts those beyond", async () => {
    const log = newLog();
    await log.record(Array.from({ length: PER_WINDOW - 1 }, () => newRequest()));
    await log.record([newRequest(), newRequest()], START, 300);
    await log.record([newRequest()]);
    expect(await log.read()).toMatchObject({ requests: PER_WINDOW + 300, recorded: PER_WINDOW });
    await log.record([newRequest()], START + WINDOW_MS);
    expect(await log.read()).toMatchObject({ recorded: PER_WINDOW + 1 });
  });

  test("lists nothing that is older than an hour, and deletes it, with or without further requests", async () => {
    const [idle, busy] = [newLog(), newLog()];
    const rowsIn = (stub: DurableObjectStub) =>
      runInDurableObject(stub, (_, { storage }) => {
        const count = "SELECT (SELECT count(*) FROM requests) + (SELECT count(*) FROM request_minutes) AS count";
        return storage.sql.exec<{ count: number }>(count).one().count;
      });
    for (const log of [idle, busy]) await log.record([newRequest()]);
    const later = START + REQUESTS_KEPT_MS;
    expect((await idle.read({}, later - 1)).rows).toHaveLength(1);
    expect(await idle.read({}, later)).toEqual({ rows: [], requests: 0, recorded: 0 });
    await busy.record([newRequest({ at: later })], later);
    expect((await busy.read({}, later)).rows).toHaveLength(1);
    expect(await rowsIn(busy.stub)).toBe(2);
    await runAlarmAt(idle.stub, later);
    expect(await rowsIn(idle.stub)).toBe(0);
    expect(await runInDurableObject(idle.stub, (_, { storage }) => storage.getAlarm())).toBeNull();
    await runAlarmAt(busy.stub, later);
    expect(await runInDurableObject(busy.stub, (_, { storage }) => storage.getAlarm())).toBe(later + REQUESTS_KEPT_MS);
  });

  test("deletes counts of requests that weren't recorded too", async () => {
    const log = newLog();
    await log.record([], START, 5);
    await log.record([], START + 600_000, 5);
    await runAlarmAt(log.stub, START + REQUESTS_KEPT_MS);
    expect((await log.read({}, START + REQUESTS_KEPT_MS)).requests).toBe(5);
    const alarm = await runInDurableObject(log.stub, (_, { storage }) => storage.getAlarm());
    expect(alarm).toBe(START + 600_000 + REQUESTS_KEPT_MS);
  });

  test("makes isolates hand over less often while there are many batches, and as often as before afterwards", async () => {
    const { stub } = newLog();
    await runInDurableObject(stub, (_, { storage }) => {
      const log = new RequestLog(storage);
      let now = START;
      const waitAfter = (batches: number) => {
        for (let batch = 0; batch < batches; batch++) log.add({ entries: [], requests: 1 }, now);
        now += WINDOW_MS;
        return log.add({ entries: [], requests: 1 }, now);
      };
      expect(waitAfter(1)).toBe(LEAST_WAIT_MS);
      expect(waitAfter(101)).toBe(2 * LEAST_WAIT_MS);
      expect(waitAfter(50)).toBe(2 * LEAST_WAIT_MS);
      for (let window = 0; window < 5; window++) waitAfter(101);
      expect(waitAfter(101)).toBe(MOST_WAIT_MS);
      for (let window = 0; window < 5; window++) waitAfter(1);
      expect(waitAfter(1)).toBe(LEAST_WAIT_MS);
    });
  });
});
