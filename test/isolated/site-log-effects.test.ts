import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import { EffectFailures } from "#worker/durable-objects/site-log/effect-failures.ts";
import type { SiteLog } from "#worker/durable-objects/site-log/site-log.ts";
import { WebhookEndpoint } from "#worker/durable-objects/webhook-endpoint/webhook-endpoint.ts";
import { newId } from "#worker/lib/ids.ts";
import { newSite } from "../harness.ts";
import { rowsWritten, statementsDuring } from "../rows-written.ts";
import { DAY, eventsOf, insertOutboxRows, logOf, makeRetriesDue, outboxRows } from "../site-log.ts";
import { siteStore } from "#test/site-store.ts";

const channelUpdated = (pageId: string) => ({ type: "admin.channelUpdated", resource: `page/${pageId}` });

describe("effects of events in one round", () => {
  /** Records when the effects of channels begin and end. */
  function recordEffects() {
    const steps: string[] = [];
    const running = new Set<string>();
    const record = (name: string) => async (): Promise<{ seq: number }> => {
      expect(running.has(name)).toBe(false);
      running.add(name);
      steps.push(`${name} begins beside ${running.size - 1}`);
      // Long enough for any other effect to begin, if it may.
      for (let turn = 0; turn < 20; turn++) await siteStore.prepare("SELECT 1").run();
      running.delete(name);
      return { seq: 0 };
    };
    vi.spyOn(Channel.prototype, "emit").mockImplementation(record("emit"));
    vi.spyOn(Channel.prototype, "end").mockImplementation(async () => void (await record("end")()));
    return steps;
  }

  test("run side by side for different resources", async () => {
    const { id } = await newSite();
    const waiting = Promise.withResolvers<void>();
    let calls = 0;
    vi.spyOn(Channel.prototype, "emit").mockImplementation(async () => {
      if (++calls === 6) waiting.resolve();
      await waiting.promise;
      return { seq: 0 };
    });
    for (let number = 0; number < 6; number++) await insertOutboxRows(id, 1, channelUpdated(newId(number)));
    await logOf(id).nudge();
    expect(calls).toBe(6);
  });

  test("run in order for one resource, and each once", async () => {
    const { id } = await newSite();
    const steps = recordEffects();
    await insertOutboxRows(id, 3, channelUpdated(newId(0)));
    await logOf(id).nudge();
    await logOf(id).nudge();
    expect(steps).toEqual(Array(3).fill("emit begins beside 0"));
  });

  test("run again, in order, if the log ends before it has noted that they are done, and none is left out", async () => {
    const { id } = await newSite();
    const emitted: string[] = [];
    vi.spyOn(Channel.prototype, "emit").mockImplementation(async (event) => {
      emitted.push(event.id);
      return { seq: 0 };
    });
    await insertOutboxRows(id, 5, channelUpdated(newId(0)));
    const order = (await outboxRows(id)).map(({ eventId }) => eventId);
    vi.spyOn(EffectFailures.prototype, "resolve").mockImplementationOnce(() => {
      throw new Error("The log ends");
    });
    const failure = await logOf(id)
      .nudge()
      .catch((error: unknown) => String(error));
    expect(failure).toContain("The log ends");
    for (let round = 0; round < 2; round++) await logOf(id).nudge();
    expect(emitted).toEqual([...order, ...order]);
  });

  test("run once each if one of them fails, which is retried alone", async () => {
    const { id } = await newSite();
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const pages = Array.from({ length: 6 }, (_, number) => newId(number));
    let isDown = true;
    const emitted: string[] = [];
    vi.spyOn(Channel.prototype, "emit").mockImplementation(async ({ id: eventId }) => {
      emitted.push(eventId);
      if (isDown && eventId === failing) throw new Error("channel down");
      return { seq: 0 };
    });
    for (const page of pages) await insertOutboxRows(id, 1, channelUpdated(page));
    const events = (await outboxRows(id)).map(({ eventId }) => eventId);
    const failing = events[2];
    for (let round = 0; round < 2; round++) await logOf(id).nudge();
    expect(emitted.toSorted()).toEqual(events.toSorted());
    expect(await logOf(id).failedEffects(10)).toMatchObject([{ id: failing }]);
    isDown = false;
    await makeRetriesDue(id);
    await logOf(id).nudge();
    expect(emitted.slice(6)).toEqual([failing]);
    expect(await logOf(id).failedEffects(10)).toEqual([]);
  });

  test("run alone if the event deletes something, after those before it and before those behind it", async () => {
    const { id } = await newSite();
    const steps = recordEffects();
    await insertOutboxRows(id, 1, channelUpdated(newId(0)));
    await insertOutboxRows(id, 1, { type: "admin.channelDeleted", resource: `page/${newId(1)}` });
    await insertOutboxRows(id, 1, channelUpdated(newId(2)));
    await logOf(id).nudge();
    expect(steps).toEqual(["emit begins beside 0", "end begins beside 0", "emit begins beside 0"]);
  });
});

describe("the rows that the log writes", () => {
  const rowsOf = (siteId: string, count: number, event?: { type: string; resource: string }) =>
    runInDurableObject(logOf(siteId), async (instance: SiteLog, { storage }) => {
      // What every round writes, whatever it finds, doesn't count.
      await instance.nudge();
      const idle = await rowsWritten(storage, () => instance.nudge());
      await insertOutboxRows(siteId, count, event);
      return (await rowsWritten(storage, () => instance.nudge())) - idle;
    });

  test("are at most four for an event without effects, and fewer if many are about the same resource", async () => {
    const { id } = await newSite();
    expect(await rowsOf(id, 1)).toBeLessThanOrEqual(5);
    expect(await rowsOf(id, 100)).toBeLessThanOrEqual(302);
  });

  test("are three more for an event with effects", async () => {
    const { id } = await newSite();
    vi.spyOn(Channel.prototype, "emit").mockResolvedValue({ seq: 0 });
    expect(await rowsOf(id, 100, channelUpdated(newId(0)))).toBeLessThanOrEqual(602);
  });
});

test("pruning finds the events past their retention without reading those behind them", async () => {
  const { id } = await newSite();
  await insertOutboxRows(id, 3, { created: Date.now() - 31 * DAY });
  for (let batch = 0; batch < 4; batch++) await insertOutboxRows(id, 50);
  await logOf(id).nudge();
  const read = await runInDurableObject(logOf(id), async (instance: SiteLog, { storage }) => {
    storage.sql.exec("UPDATE upkeep SET prune_due = 0");
    const statements = await statementsDuring(storage, () => instance.nudge());
    const ofPruning = statements.filter(({ query }) => /created >=|^DELETE FROM events/.test(query));
    expect(ofPruning).toHaveLength(2);
    return ofPruning.reduce((sum, { cursor }) => sum + cursor.rowsRead, 0);
  });
  expect(await eventsOf(id)).toHaveLength(200);
  expect(read).toBeLessThan(20);
});

describe("a log that outgrows its limit", () => {
  const LIMIT = 300_000;

  /** Runs a round with a smaller limit, although the hourly pruning isn't due. */
  async function runRound(siteId: string): Promise<{ size: number; deletions: number }> {
    return runInDurableObject(logOf(siteId), async (instance: SiteLog, { storage: { sql } }) => {
      Reflect.set(instance, "env", { ...env, TIFO_EVENT_RETENTION_BYTES: String(LIMIT) });
      const exec = vi.spyOn(sql, "exec");
      await instance.nudge();
      const deletions = exec.mock.calls.filter(([query]) => query.startsWith("DELETE FROM events")).length;
      exec.mockRestore();
      return { size: sql.databaseSize, deletions };
    });
  }

  test("is pruned at once, not only with the next hour", async () => {
    const { id } = await newSite();
    await logOf(id).nudge();
    await insertOutboxRows(id, 30, { size: 20_000 });
    expect((await runRound(id)).size).toBeLessThanOrEqual(LIMIT);
    expect((await eventsOf(id)).at(-1)).toMatchObject({ sequence: 30 });
  });

  test("isn't pruned again before it has grown, if an endpoint still needs all of it", async () => {
    const site = await newSite();
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    vi.spyOn(WebhookEndpoint.prototype, "accept").mockRejectedValue(new Error("endpoint down"));
    const body = { webhookUrl: "https://hooks.demo.example/large", service: "admin-service-v1" };
    await site.call("createProgrammaticWebhook", { body });
    await insertOutboxRows(site.id, 30, { size: 20_000 });
    expect((await runRound(site.id)).deletions).toBeGreaterThan(0);
    expect((await runRound(site.id)).deletions).toBe(0);
    await insertOutboxRows(site.id, 10, { size: 20_000 });
    expect((await runRound(site.id)).deletions).toBeGreaterThan(0);
  });
});
