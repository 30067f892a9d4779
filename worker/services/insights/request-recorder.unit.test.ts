import { describe, expect, test, vi } from "vitest";
import {
  LEAST_WAIT_MS,
  MOST_WAIT_MS,
  type RecordedRequest,
  type RequestBatch,
} from "#worker/durable-objects/scheduler/request-log.protocol.ts";
import { newId, newSandboxId } from "#worker/lib/ids.ts";
import { RequestRecorder, SAMPLE_SIZE } from "./request-recorder.ts";

function newRequest(ms: number): RecordedRequest {
  return { at: 1, method: "GET", route: "/page/v2", operationId: "listPages", status: 200, ms, requestId: `req-${String(ms)}`, code: null };
}

/** A recorder whose pauses end when the test says so, and the batches that it has handed over. */
function newRecorder(waitMs = LEAST_WAIT_MS, random?: () => number) {
  const pauses: { ms: number; end: () => void }[] = [];
  const batches: (RequestBatch & { siteId: string })[] = [];
  const pause = (ms: number) => new Promise<void>((resolve) => pauses.push({ ms, end: resolve }));
  const recorder = new RequestRecorder({ pause, ...(random && { random }) });
  const handOver = (siteId: string, batch: RequestBatch) => (batches.push({ siteId, ...batch }), Promise.resolve(waitMs));
  return { recorder, pauses, batches, handOver };
}

describe("an isolate", () => {
  test("hands over the requests of each site in one batch, which only the first request of it starts", async () => {
    const { recorder, pauses, batches, handOver } = newRecorder();
    const first = recorder.add("one", newRequest(1), handOver);
    expect(recorder.add("one", newRequest(2), handOver)).toBeUndefined();
    const other = recorder.add("two", newRequest(3), handOver);
    expect(batches).toEqual([]);
    for (const { end } of pauses) end();
    await Promise.all([first, other]);
    expect(batches).toEqual([
      { siteId: "one", requests: 2, entries: [newRequest(1), newRequest(2)] },
      { siteId: "two", requests: 1, entries: [newRequest(3)] },
    ]);
    expect(recorder.add("one", newRequest(4), handOver)).toBeInstanceOf(Promise);
  });

  test("waits as long as the log of the site says before it hands over the next batch", async () => {
    const { recorder, pauses, handOver } = newRecorder(8_000);
    const first = recorder.add("one", newRequest(1), handOver);
    pauses[0]?.end();
    await first;
    void recorder.add("one", newRequest(2), handOver);
    void recorder.add("two", newRequest(3), handOver);
    expect(pauses.map(({ ms }) => ms)).toEqual([LEAST_WAIT_MS, 8_000, LEAST_WAIT_MS]);
  });

  test("keeps a uniform sample of many requests, and counts all of them", async () => {
    // The place of each further request in the sample, as a share of the requests so far.
    const places = [0.5, 0.999];
    const { recorder, pauses, batches, handOver } = newRecorder(LEAST_WAIT_MS, () => places.shift() ?? 0);
    const [first] = Array.from({ length: SAMPLE_SIZE + 2 }, (_, index) => recorder.add("one", newRequest(index), handOver));
    pauses[0]?.end();
    await first;
    const [batch] = batches;
    expect(batch?.requests).toBe(SAMPLE_SIZE + 2);
    const all = Array.from({ length: SAMPLE_SIZE }, (_, index) => newRequest(index));
    expect(batch?.entries).toEqual(all.with(Math.floor(0.5 * (SAMPLE_SIZE + 1)), newRequest(SAMPLE_SIZE)));
  });

  test("loses only the batch that can't be handed over", async () => {
    const line = vi.spyOn(console, "error").mockReturnValue();
    const { recorder, pauses, batches, handOver } = newRecorder();
    const failed = recorder.add("one", newRequest(1), () => Promise.reject(new Error("log down")));
    pauses[0]?.end();
    await failed;
    expect(line.mock.calls.flat().join()).toContain("requests_not_recorded");
    const next = recorder.add("one", newRequest(2), handOver);
    pauses[1]?.end();
    await next;
    expect(batches).toEqual([{ siteId: "one", requests: 1, entries: [newRequest(2)] }]);
  });

  test("starts another batch if the platform ended the request that would have handed the last one over", async () => {
    const { recorder, pauses, batches, handOver } = newRecorder();
    const at = 1 + 2 * MOST_WAIT_MS;
    void recorder.add("one", newRequest(1), handOver);
    expect(recorder.add("one", { ...newRequest(2), at }, handOver)).toBeUndefined();
    const next = recorder.add("one", { ...newRequest(3), at: at + 1 }, handOver);
    pauses[1]?.end();
    await next;
    expect(batches).toEqual([{ siteId: "one", requests: 1, entries: [{ ...newRequest(3), at: at + 1 }] }]);
  });
});

describe("a rejected request", () => {
  test("belongs to the site that it names only if the isolate knows that the site exists", () => {
    const { recorder } = newRecorder();
    const siteId = newId(1);
    expect(recorder.siteOf(undefined, siteId)).toBeUndefined();
    expect(recorder.siteOf(siteId, undefined)).toBe(siteId);
    expect(recorder.siteOf(undefined, siteId)).toBe(siteId);
    expect(recorder.siteOf(undefined, undefined)).toBeUndefined();
  });

  test("belongs to no sandbox, which may have been deleted", () => {
    const { recorder } = newRecorder();
    const siteId = newSandboxId(1);
    expect(recorder.siteOf(siteId, siteId)).toBe(siteId);
    expect(recorder.siteOf(undefined, siteId)).toBeUndefined();
  });
});
