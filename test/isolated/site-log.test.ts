import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { outbox } from "#db/schema/events.ts";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import { SitePresence } from "#worker/durable-objects/site-presence/site-presence.ts";
import { EFFECTS_TIMEOUT_MS, SiteLog } from "#worker/durable-objects/site-log/site-log.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { runScheduled } from "#worker/scheduled.ts";
import { newSite, openSocket, type TestSite } from "../harness.ts";
import { expectBroadcastFailure, createOverlay, DAY, eventsOf, insertOutboxRows, logOf, makeRetriesDue, outboxRows } from "../site-log.ts";
import { WebhookInbox } from "../webhook-inbox.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);

/** Counts this site's logged failures; those of an earlier test's site may still be retried. */
function countFailures(siteId: string): () => number {
  const errors = vi.spyOn(console, "error").mockImplementation(() => undefined);
  return () => errors.mock.calls.filter(([line]) => String(line).includes(siteId)).length;
}

/** An event that is sent to the viewers of the site's first channel. */
const pageUpdated = (site: TestSite) => ({ type: "admin.channelUpdated", resource: `page/${site.channels[0]}` });

describe("an event", () => {
  test("whose nudge was lost is taken by the cron, but only once it is a few seconds old", async () => {
    const site = await newSite();
    const nudge = vi.spyOn(SiteLog.prototype, "nudge").mockResolvedValueOnce();
    await createOverlay(site);
    await vi.waitFor(() => expect(nudge).toHaveBeenCalled());
    await runScheduled(env, Date.now());
    expect(await outboxRows(site.id)).toHaveLength(1);
    await runScheduled(env, Date.now() + 6_000);
    expect(await outboxRows(site.id)).toEqual([]);
    expect(await eventsOf(site.id)).toMatchObject([{ type: "overlay.created", sequence: 1 }]);
  });

  test("whose nudge was lost is taken with the site's next event", async () => {
    const site = await newSite();
    await insertOutboxRows(site.id, 1);
    await createOverlay(site);
    await vi.waitFor(async () => expect(await outboxRows(site.id)).toEqual([]));
    expect((await eventsOf(site.id)).map(({ type }) => type)).toEqual(["test.happened", "overlay.created"]);
  });

  test("that is in both the log and the outbox after a crash is kept once", async () => {
    const { id } = await newSite();
    await insertOutboxRows(id, 3);
    const rows = await outboxRows(id);
    await logOf(id).nudge();
    await db.insert(outbox).values(rows);
    await abortAllDurableObjects();
    await insertOutboxRows(id, 1);
    await logOf(id).nudge();
    expect(await outboxRows(id)).toEqual([]);
    expect((await eventsOf(id)).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
  });

  test("is taken in commit order, even if all objects crash in between", async () => {
    const { id } = await newSite();
    await insertOutboxRows(id, 250);
    const order = (await outboxRows(id)).map(({ eventId }) => eventId);
    const cut = logOf(id)
      .nudge()
      .catch(() => undefined);
    await vi.waitFor(async () => expect((await outboxRows(id)).length).toBeLessThan(250), { interval: 1 });
    await abortAllDurableObjects();
    await cut;
    await logOf(id).nudge();
    const events = await eventsOf(id);
    expect(events.map((event) => event.id)).toEqual(order);
    expect(events.map(({ sequence, previousSequence }) => [sequence, previousSequence])).toEqual(
      order.map((_, i) => [i + 1, i === 0 ? null : i]),
    );
  });

  test("that is committed without a nudge is taken by the log's alarm", async () => {
    const { id } = await newSite();
    await insertOutboxRows(id, 1);
    await logOf(id).nudge();
    await insertOutboxRows(id, 1);
    expect(await runDurableObjectAlarm(logOf(id))).toBe(true);
    expect(await eventsOf(id)).toHaveLength(2);
  });
});

describe("a broadcast that couldn't be sent", () => {
  test("is sent by the log or, if that fails too, by its alarm, and reaches the viewer once", async () => {
    const site = await newSite();
    const [channelId] = site.channels;
    const overlayId = await createOverlay(site);
    const viewer = await openSocket(site, channelId);
    await viewer.first("welcome");
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const publish = vi
      .spyOn(Channel.prototype, "publish")
      .mockRejectedValueOnce(new Error("channel down"))
      .mockRejectedValueOnce(new Error("still down"));
    await expectBroadcastFailure(site, overlayId);
    await vi.waitFor(() => expect(publish).toHaveBeenCalledTimes(2));
    expect(viewer.log).toEqual([]);
    await vi.waitFor(async () => expect(await outboxRows(site.id)).toEqual([]));
    await makeRetriesDue(site.id);
    await vi.waitFor(async () => expect(await runDurableObjectAlarm(logOf(site.id))).toBe(true));
    await viewer.first("overlay.show");
    await logOf(site.id).nudge();
    expect(await runDurableObjectAlarm(logOf(site.id))).toBe(true);
    const { seq } = await env.CHANNEL.getByName(`${site.id}:${channelId}`).emit({ id: newId(0), type: "rule", data: {} });
    await viewer.waitForSeq(seq);
    expect(viewer.frames.filter((frame) => frame.type === "overlay.show")).toHaveLength(1);
  });

  test("doesn't block later events", async () => {
    const site = await newSite();
    const overlayId = await createOverlay(site);
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    vi.spyOn(Channel.prototype, "publish").mockRejectedValue(new Error("channel down"));
    await expectBroadcastFailure(site, overlayId);
    const viewer = await openSocket(site, site.channels[1]);
    await viewer.first("welcome");
    await site.call("updatePage", { params: { id: site.channels[1] }, body: { slug: "moved", data: { name: "Moved" } } });
    expect((await viewer.first("page.updated")).data).toMatchObject({ slug: "moved" });
  });
});

describe("effects", () => {
  /** Waits until an event behind a backlog has taken effect for a viewer. */
  async function expectEffectBehind(site: TestSite, backlog: () => Promise<void>): Promise<void> {
    const viewer = await openSocket(site, site.channels[0]);
    await viewer.first("welcome");
    await backlog();
    await insertOutboxRows(site.id, 1, pageUpdated(site));
    await logOf(site.id).nudge();
    await viewer.first("page.updated");
  }

  test("of a long backlog all run after one nudge", async () => {
    const site = await newSite();
    await expectEffectBehind(site, () => insertOutboxRows(site.id, 1_100));
  });

  test("that keep failing don't block those behind them, however many they are", async () => {
    const site = await newSite();
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    // These events lack the stream that their effects need.
    await expectEffectBehind(site, () => insertOutboxRows(site.id, 1_100, { type: "admin.wentLive" }));
  });

  test("of a long backlog run before webhooks receive any of it, so that what a deletion erases is never sent", async () => {
    const site = await newSite();
    const inbox = new WebhookInbox(randomHex(6));
    const webhooks = { enabled: true, webhookUrl: inbox.url, webhookSubscriptions: ["account-service-v3"] };
    await site.call("createWebhooks", { body: { webhooks } });
    const resource = `account/${newId(0)}`;
    await insertOutboxRows(site.id, 1, { type: "account.updated", resource });
    await insertOutboxRows(site.id, 1_100);
    await insertOutboxRows(site.id, 1, { type: "account.deleted", resource });
    await logOf(site.id).nudge();
    await inbox.waitFor(2);
    expect(inbox.types).toEqual(["account.updated", "account.deleted"]);
    expect(inbox.received[0]?.payload.eventData.data).toEqual({ erased: true });
  });

  test("that keep failing are retried at growing intervals of up to an hour, and not sooner because of other events", async () => {
    const { id } = await newSite();
    const failures = countFailures(id);
    const log = logOf(id);
    let now = Date.now() + DAY;
    vi.spyOn(Date, "now").mockImplementation(() => now);
    await insertOutboxRows(id, 1, { type: "admin.wentLive" });
    await log.nudge();
    const waits: number[] = [];
    for (let i = 0; i < 12; i++) {
      await insertOutboxRows(id, 1);
      await log.nudge();
      expect(failures()).toBe(i + 1);
      const { due, alarm } = await runInDurableObject(log, async (_, { storage }) => ({
        due: storage.sql.exec<{ due: number }>("SELECT due FROM retries").one().due,
        alarm: await storage.getAlarm(),
      }));
      expect(alarm).toBeLessThanOrEqual(due);
      waits.push((due - now) / 1000);
      now = due;
      await runDurableObjectAlarm(log);
    }
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]);
  });

  test("that can't read their event are given up after a day, with their cause, and others aren't", async () => {
    const { id } = await newSite();
    countFailures(id);
    const log = logOf(id);
    // The first event lacks everything, as one that an older release logged may lack a field; the second fails for another reason.
    await insertOutboxRows(id, 1, { type: "admin.wentLive" });
    vi.spyOn(Channel.prototype, "emit").mockRejectedValue(new Error("unreachable"));
    await insertOutboxRows(id, 1, { type: "admin.channelUpdated", resource: `page/${newId(1)}` });
    await log.nudge();
    for (let run = 0; run < 30; run++) {
      await makeRetriesDue(id);
      await log.nudge();
    }
    const rows = await runInDurableObject(log, (_, { storage }) => ({
      retries: storage.sql.exec<{ sequence: number }>("SELECT sequence FROM retries").toArray(),
      failures: storage.sql.exec<{ sequence: number; cause: string }>("SELECT sequence, cause FROM failures").toArray(),
    }));
    expect(rows.retries).toEqual([{ sequence: 2 }]);
    expect(rows.failures.map(({ sequence }) => sequence)).toEqual([1, 2]);
    expect(rows.failures[0]?.cause).toContain("playbackUrl");
  });
});

describe("a run", () => {
  /** Makes each of the next runs find a new event, and nudges the log before the run ends. */
  function addEventInEachRun(site: TestSite) {
    let runs = 20;
    onTestFinished(() => void (runs = 0));
    const nudge = vi.spyOn(SiteLog.prototype, "nudge");
    return vi.spyOn(Channel.prototype, "emit").mockImplementation(async () => {
      if (runs-- <= 0) return { seq: 0 };
      await insertOutboxRows(site.id, 1, pageUpdated(site));
      const before = nudge.mock.calls.length;
      void logOf(site.id).nudge();
      await vi.waitFor(() => expect(nudge.mock.calls.length).toBeGreaterThan(before), { interval: 1 });
      return { seq: 0 };
    });
  }

  test("is all that a nudge waits for, even if every run finds new events, and retries what failed", async () => {
    const site = await newSite();
    const failures = countFailures(site.id);
    await insertOutboxRows(site.id, 1, { type: "admin.wentLive" });
    await logOf(site.id).nudge();
    expect(failures()).toBe(1);
    await makeRetriesDue(site.id);
    const emit = addEventInEachRun(site);
    await insertOutboxRows(site.id, 1, pageUpdated(site));
    await logOf(site.id).nudge();
    expect(failures()).toBe(2);
    // The second call may belong to the next run.
    expect(emit.mock.calls.length).toBeLessThanOrEqual(2);
  });

  test("passes on other events to webhooks while an effect hangs, and waits for that effect once", async () => {
    const site = await newSite();
    const inbox = new WebhookInbox(randomHex(6));
    const webhooks = { enabled: true, webhookUrl: inbox.url, webhookSubscriptions: ["page-service-v2"] };
    await site.call("createWebhooks", { body: { webhooks } });
    await logOf(site.id).nudge();
    const failures = countFailures(site.id);
    const wait = globalThis.setTimeout;
    vi.spyOn(globalThis, "setTimeout").mockImplementation((work, ms, ...args) => wait(work, ms === EFFECTS_TIMEOUT_MS ? 0 : ms, ...args));
    const emit = vi.spyOn(Channel.prototype, "emit").mockReturnValue(new Promise(() => undefined));
    await insertOutboxRows(site.id, 3, pageUpdated(site));
    await logOf(site.id).nudge();
    await inbox.waitFor(3);
    expect(emit).toHaveBeenCalledTimes(1);
    expect(failures()).toBe(1);
  });

  test("that hangs doesn't delay the revocation of access by a later event", async () => {
    const site = await newSite();
    let isHeld = true;
    const emit = vi.spyOn(Channel.prototype, "emit").mockImplementation(async () => {
      while (isHeld) await scheduler.wait(5);
      return { seq: 0 };
    });
    const recheck = vi.spyOn(SitePresence.prototype, "recheck");
    await insertOutboxRows(site.id, 1, pageUpdated(site));
    const hung = logOf(site.id).nudge();
    await vi.waitFor(() => expect(emit).toHaveBeenCalled());
    await insertOutboxRows(site.id, 1, { type: "account.sessionEnded", resource: `account/${site.accounts.viewer.id}` });
    const later = logOf(site.id).nudge();
    await vi.waitFor(() => expect(recheck).toHaveBeenCalledWith([site.accounts.viewer.id]));
    expect(isHeld).toBe(true);
    isHeld = false;
    await Promise.all([hung, later]);
    expect(recheck).toHaveBeenCalledTimes(1);
  });
});
