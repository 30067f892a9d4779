import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import { CALL_CHARS } from "#worker/durable-objects/call-size.ts";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import type { SiteLog } from "#worker/durable-objects/site-log/site-log.ts";
import { WebhookEndpoint } from "#worker/durable-objects/webhook-endpoint/webhook-endpoint.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { readOutbox } from "#worker/services/core/outbox.ts";
import { newSite } from "../harness.ts";
import {
  expectBroadcastFailure,
  createOverlay,
  DAY,
  eventsOf,
  insertOutboxRows,
  logOf,
  makeRetriesDue,
  pruneNow,
  outboxRows,
} from "../site-log.ts";

// How much a site's log keeps, and how much of it one call contains.

describe("retention", () => {
  test("deletes events after their retention period, but keeps the log's position", async () => {
    const { id } = await newSite();
    await insertOutboxRows(id, 3, { created: Date.now() - 31 * DAY });
    await insertOutboxRows(id, 1, { created: Date.now() - 29 * DAY });
    await pruneNow(id);
    expect(await logOf(id).read({ after: 0, limit: 10, types: null })).toMatchObject({ head: 4, oldest: 4, entries: [{ sequence: 4 }] });
    const other = await newSite();
    await insertOutboxRows(other.id, 2, { created: Date.now() - 31 * DAY });
    await pruneNow(other.id);
    expect((await logOf(other.id).read({ after: 0, limit: 10, types: null })).head).toBe(2);
    await insertOutboxRows(other.id, 1);
    await logOf(other.id).nudge();
    expect((await eventsOf(other.id)).at(-1)).toMatchObject({ sequence: 3 });
  });

  test("isn't applied to recent events if the operator has mistyped it", async () => {
    const { id } = await newSite();
    vi.spyOn(console, "error").mockReturnValue();
    await insertOutboxRows(id, 3);
    await logOf(id).nudge();
    await runInDurableObject(logOf(id), async (instance: SiteLog, state) => {
      Reflect.set(instance, "env", { ...env, TIFO_EVENT_RETENTION_DAYS: "30d" });
      state.storage.sql.exec("UPDATE upkeep SET prune_due = 0");
      await instance.nudge();
    });
    expect(await eventsOf(id)).toHaveLength(3);
  });

  test("is applied once an hour, whatever wakes the log", async () => {
    const { id } = await newSite();
    await logOf(id).nudge();
    const old = { created: Date.now() - 31 * DAY };
    await insertOutboxRows(id, 3, old);
    await logOf(id).nudge();
    expect(await eventsOf(id)).toHaveLength(3);
    const later = Date.now() + 61 * 60_000;
    vi.spyOn(Date, "now").mockImplementation(() => later);
    await logOf(id).nudge();
    expect(await eventsOf(id)).toHaveLength(1);
  });

  /** Prunes a log to this many bytes. */
  async function pruneTo(siteId: string, limit: number): Promise<void> {
    await runInDurableObject(logOf(siteId), async (instance: SiteLog, state) => {
      Reflect.set(instance, "env", { ...env, TIFO_EVENT_RETENTION_BYTES: String(limit) });
      state.storage.sql.exec("UPDATE upkeep SET prune_due = 0");
      await instance.nudge();
      expect(state.storage.sql.databaseSize).toBeLessThanOrEqual(limit);
    });
  }

  test("deletes the oldest events beyond its size limit", async () => {
    const { id } = await newSite();
    await insertOutboxRows(id, 30, { size: 20_000 });
    await logOf(id).nudge();
    await pruneTo(id, 300_000);
    const sequences = (await eventsOf(id)).map(({ sequence }) => sequence);
    expect(sequences.length).toBeGreaterThan(3);
    expect(sequences.at(-1)).toBe(30);
    expect(sequences).toEqual(Array.from({ length: sequences.length }, (_, i) => 30 - sequences.length + 1 + i));
  });

  test("deletes the oldest events beyond its size limit, except failing ones, which don't count as the oldest", async () => {
    const { id } = await newSite();
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    await insertOutboxRows(id, 1, { type: "admin.wentLive" });
    await insertOutboxRows(id, 30, { size: 20_000 });
    await logOf(id).nudge();
    await pruneTo(id, 300_000);
    const { entries, oldest } = await logOf(id).read({ after: 0, limit: 100, types: null });
    const [failed, ...others] = entries.map(({ sequence }) => sequence);
    expect(failed).toBe(1);
    expect(others.length).toBeGreaterThan(3);
    expect(others).toEqual(Array.from({ length: others.length }, (_, i) => 31 - others.length + 1 + i));
    expect(oldest).toBe(others[0]);
  });

  test("keeps events with pending effects until their retention period ends", async () => {
    const site = await newSite();
    const overlayId = await createOverlay(site);
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const publish = vi.spyOn(Channel.prototype, "publish").mockRejectedValue(new Error("channel down"));
    await expectBroadcastFailure(site, overlayId);
    await vi.waitFor(async () => expect(await outboxRows(site.id)).toEqual([]));
    await createOverlay(site);
    await pruneTo(site.id, 1).catch(() => undefined);
    const types = async () => (await eventsOf(site.id)).map(({ type }) => type);
    expect(await types()).toEqual(["overlay.broadcast", "overlay.created"]);
    await runInDurableObject(logOf(site.id), (_, state) => void state.storage.sql.exec("UPDATE events SET created = 1"));
    await pruneNow(site.id);
    expect(await types()).toEqual(["overlay.created"]);
    publish.mockClear();
    await makeRetriesDue(site.id);
    await logOf(site.id).nudge();
    expect(publish).not.toHaveBeenCalled();
  });
});

describe("large events", () => {
  const charsIn = (texts: string[]) => texts.reduce((sum, text) => sum + text.length, 0);

  test("are taken, passed on and read completely in small calls", async () => {
    const site = await newSite();
    const body = { webhookUrl: "https://hooks.demo.example/large", service: "page-service-v2" };
    for (let i = 0; i < 6; i++) await site.call("createProgrammaticWebhook", { body });
    await logOf(site.id).nudge();
    const calls = { running: 0, most: 0 };
    const accepted: string[][] = [];
    vi.spyOn(WebhookEndpoint.prototype, "accept").mockImplementation(async (events) => {
      accepted.push(events.map(({ eventData }) => eventData));
      calls.most = Math.max(calls.most, ++calls.running);
      // Each call waits for the maximum, so that one more would be noticed.
      await vi.waitUntil(() => calls.most >= 4);
      calls.running -= 1;
    });
    await insertOutboxRows(site.id, 24, { size: 200_000, type: "admin.landingUpdated" });
    const { events, more } = await readOutbox(env, site.id);
    expect(more).toBe(true);
    expect(charsIn(events.map(({ data }) => JSON.stringify(data)))).toBeLessThan(CALL_CHARS + 201_000);
    await logOf(site.id).nudge();
    expect(accepted.flat()).toHaveLength(6 * 24);
    expect(Math.max(...accepted.map(charsIn))).toBeLessThan(CALL_CHARS / 2);
    expect(calls.most).toBe(4);
    const sequences: number[] = [];
    for (;;) {
      const { results, head } = (await site.call("listEvents", { query: { after: sequences.at(-1) ?? 0, limit: 200 } })).as(EventList);
      expect(charsIn(results.map(({ data }) => JSON.stringify(data)))).toBeLessThanOrEqual(CALL_CHARS);
      sequences.push(...results.map(({ sequence }) => sequence));
      if (sequences.at(-1) === head) break;
      expect(results.length).toBeGreaterThan(0);
    }
    expect(sequences).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
  });
});
