import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createDb } from "../../db/client.ts";
import { outbox } from "../../db/schema/index.ts";
import { Channel } from "../../worker/durable-objects/channel.ts";
import { SiteLog } from "../../worker/durable-objects/site-log.ts";
import { newId, randomHex } from "../../worker/lib/ids.ts";
import { Overlay } from "../../worker/routes/overlays/schemas.ts";
import { runScheduled } from "../../worker/scheduled.ts";
import { newSite, openSocket, ORIGIN, type TestSite } from "../harness.ts";
import { WebhookInbox } from "../webhook-inbox.ts";

const db = createDb(env.DB);
const DAY = 86_400_000;

afterEach(() => {
  vi.restoreAllMocks();
});

// Made anew at each use: a stub does not outlive a crash of its object.
const logOf = (siteId: string) => env.SITE_LOG.getByName(siteId);

async function eventsOf(siteId: string) {
  return (await logOf(siteId).read({ after: 0, limit: 1000, types: null })).entries;
}

function waiting(siteId: string) {
  return db.select().from(outbox).where(eq(outbox.siteId, siteId));
}

/** Writes what a committed change leaves for the log. */
async function leave(
  siteId: string,
  count: number,
  { created = Date.now(), size = 10, type = "test.happened", resource = "test/1" } = {},
): Promise<void> {
  const event = { siteId, type, resource, data: { text: "a".repeat(size) }, actor: "system", requestId: "test", created };
  const [first, ...others] = Array.from({ length: count }, () => db.insert(outbox).values({ ...event, eventId: newId(created) }));
  if (first) await db.batch([first, ...others]);
}

/** Has what failed be due now. */
async function makeDue(siteId: string): Promise<void> {
  await runInDurableObject(logOf(siteId), (_, state) => void state.storage.sql.exec("UPDATE retries SET due = 0"));
}

async function createOverlay(site: TestSite): Promise<string> {
  const contents = [{ kind: "html", html: "Goal", position: "center" }];
  const body = { name: "Goal", description: "", siteId: site.id, type: "template", duration: 60, contents };
  return (await site.call("createOverlay", { body })).as(Overlay)._id;
}

/** Broadcasts to the first channel, which does not take it: the caller is told of a failure. */
async function broadcastInVain(site: TestSite, overlayId: string): Promise<void> {
  const headers = { ...(await site.headersOf("developer")), "Content-Type": "application/json" };
  const body = JSON.stringify({ channelId: site.channels[0] });
  const answer = await exports.default.fetch(`${ORIGIN}/overlay/v1/broadcast/${overlayId}`, { method: "POST", headers, body });
  expect(answer.status).toBeGreaterThanOrEqual(500);
}

describe("an event", () => {
  test("whose nudge was lost is taken by the next sweep, and not by one that comes too soon", async () => {
    const site = await newSite();
    const nudge = vi.spyOn(SiteLog.prototype, "nudge").mockResolvedValueOnce();
    await createOverlay(site);
    await vi.waitFor(() => expect(nudge).toHaveBeenCalled());
    await runScheduled(env, Date.now());
    expect(await waiting(site.id)).toHaveLength(1);
    await runScheduled(env, Date.now() + 6_000);
    expect(await waiting(site.id)).toEqual([]);
    expect(await eventsOf(site.id)).toMatchObject([{ type: "overlay.created", sequence: 1 }]);
  });

  test("whose nudge was lost is taken with the site's next", async () => {
    const site = await newSite();
    await leave(site.id, 1);
    await createOverlay(site);
    await vi.waitFor(async () => expect(await waiting(site.id)).toEqual([]));
    expect((await eventsOf(site.id)).map(({ type }) => type)).toEqual(["test.happened", "overlay.created"]);
  });

  test("that the log has but the outbox still holds, after a crash between the two, is kept once", async () => {
    const { id } = await newSite();
    await leave(id, 3);
    const rows = await waiting(id);
    await logOf(id).nudge();
    await db.insert(outbox).values(rows);
    await abortAllDurableObjects();
    await leave(id, 1);
    await logOf(id).nudge();
    expect(await waiting(id)).toEqual([]);
    expect((await eventsOf(id)).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
  });

  test("of many is taken in the order of commits, whatever falls over in between", async () => {
    const { id } = await newSite();
    await leave(id, 250);
    const order = (await waiting(id)).map(({ eventId }) => eventId);
    const cut = logOf(id)
      .nudge()
      .catch(() => undefined);
    await vi.waitFor(async () => expect((await waiting(id)).length).toBeLessThan(250), { interval: 1 });
    await abortAllDurableObjects();
    await cut;
    await logOf(id).nudge();
    const events = await eventsOf(id);
    expect(events.map((event) => event.id)).toEqual(order);
    expect(events.map(({ sequence, previousSequence }) => [sequence, previousSequence])).toEqual(
      order.map((_, i) => [i + 1, i === 0 ? null : i]),
    );
  });

  test("that is left while the log crashed is taken by its alarm", async () => {
    const { id } = await newSite();
    await leave(id, 1);
    await logOf(id).nudge();
    await leave(id, 1);
    expect(await runDurableObjectAlarm(logOf(id))).toBe(true);
    expect(await eventsOf(id)).toHaveLength(2);
  });
});

describe("a broadcast whose sending failed", () => {
  test("is sent by the log, and again by its alarm where that fails too, and reaches the screen once", async () => {
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
    await broadcastInVain(site, overlayId);
    await vi.waitFor(() => expect(publish).toHaveBeenCalledTimes(2));
    expect(viewer.log).toEqual([]);
    await vi.waitFor(async () => expect(await waiting(site.id)).toEqual([]));
    await makeDue(site.id);
    await vi.waitFor(async () => expect(await runDurableObjectAlarm(logOf(site.id))).toBe(true));
    await viewer.first("overlay.show");
    await logOf(site.id).nudge();
    expect(await runDurableObjectAlarm(logOf(site.id))).toBe(true);
    const { seq } = await env.CHANNEL.getByName(`${site.id}:${channelId}`).emit({ id: newId(0), type: "rule", data: {} });
    await viewer.holds(seq);
    expect(viewer.frames.filter((frame) => frame.type === "overlay.show")).toHaveLength(1);
  });

  test("holds up no event behind it", async () => {
    const site = await newSite();
    const overlayId = await createOverlay(site);
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    vi.spyOn(Channel.prototype, "publish").mockRejectedValue(new Error("channel down"));
    await broadcastInVain(site, overlayId);
    const viewer = await openSocket(site, site.channels[1]);
    await viewer.first("welcome");
    await site.call("updatePage", { params: { id: site.channels[1] }, body: { slug: "moved", data: { name: "Moved" } } });
    expect((await viewer.first("page.updated")).data).toMatchObject({ slug: "moved" });
  });
});

describe("effects", () => {
  /** Leaves something that viewers of the first channel are told of, and resolves once this one is. */
  async function reaches(site: TestSite, behind: () => Promise<void>): Promise<void> {
    const viewer = await openSocket(site, site.channels[0]);
    await viewer.first("welcome");
    await behind();
    await leave(site.id, 1, { type: "admin.channelUpdated", resource: `page/${site.channels[0]}` });
    await logOf(site.id).nudge();
    await viewer.first("page.updated");
  }

  test("of a long backlog are all run with one nudge", async () => {
    const site = await newSite();
    await reaches(site, () => leave(site.id, 1_100));
  });

  test("that keep failing hold up none of those behind them, however many they are", async () => {
    const site = await newSite();
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    // Such an event says where the stream is; these don't.
    await reaches(site, () => leave(site.id, 1_100, { type: "admin.wentLive" }));
  });

  test("of a long backlog are run before any of it is handed to webhooks: what a deletion at its end erases is told to nobody", async () => {
    const site = await newSite();
    const inbox = new WebhookInbox(randomHex(6));
    const webhooks = { enabled: true, webhookUrl: inbox.url, webhookSubscriptions: ["account-service-v3"] };
    await site.call("createWebhooks", { body: { webhooks } });
    const resource = `account/${newId(0)}`;
    await leave(site.id, 1, { type: "account.updated", resource });
    await leave(site.id, 1_100);
    await leave(site.id, 1, { type: "account.deleted", resource });
    await logOf(site.id).nudge();
    await inbox.holds(2);
    expect(inbox.types).toEqual(["account.updated", "account.deleted"]);
    expect(inbox.received[0]?.payload.eventData.data).toEqual({ erased: true });
  });

  test("that keep failing are tried again ever more seldom, but once an hour, and no sooner because something else happens", async () => {
    const { id } = await newSite();
    const errors = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const log = logOf(id);
    let now = Date.now() + DAY;
    vi.spyOn(Date, "now").mockImplementation(() => now);
    await leave(id, 1, { type: "admin.wentLive" });
    await log.nudge();
    const waits: number[] = [];
    for (let i = 0; i < 12; i++) {
      await leave(id, 1);
      await log.nudge();
      expect(errors).toHaveBeenCalledTimes(i + 1);
      const due = await runInDurableObject(log, (_, state) => state.storage.getAlarm());
      waits.push(((due ?? 0) - now) / 1000);
      now = due ?? 0;
      await runDurableObjectAlarm(log);
    }
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]);
  });
});

describe("retention", () => {
  test("forgets events past their days, but never where the log stands", async () => {
    const { id } = await newSite();
    await leave(id, 3, { created: Date.now() - 31 * DAY });
    await leave(id, 1, { created: Date.now() - 29 * DAY });
    await logOf(id).nudge();
    await runDurableObjectAlarm(logOf(id));
    expect(await logOf(id).read({ after: 0, limit: 10, types: null })).toMatchObject({ head: 4, oldest: 4, entries: [{ sequence: 4 }] });
    const other = await newSite();
    await leave(other.id, 2, { created: Date.now() - 31 * DAY });
    await logOf(other.id).nudge();
    await runDurableObjectAlarm(logOf(other.id));
    expect((await logOf(other.id).read({ after: 0, limit: 10, types: null })).head).toBe(2);
    await leave(other.id, 1);
    await logOf(other.id).nudge();
    expect((await eventsOf(other.id)).at(-1)).toMatchObject({ sequence: 3 });
  });

  test("forgets the oldest beyond its bytes", async () => {
    const { id } = await newSite();
    await leave(id, 30, { size: 20_000 });
    await logOf(id).nudge();
    const limit = 300_000;
    await runInDurableObject(logOf(id), async (instance: SiteLog, state) => {
      Reflect.set(instance, "env", { ...env, TIFO_EVENT_RETENTION_BYTES: String(limit) });
      await instance.alarm();
      expect(state.storage.sql.databaseSize).toBeLessThanOrEqual(limit);
    });
    const sequences = (await eventsOf(id)).map(({ sequence }) => sequence);
    expect(sequences.length).toBeGreaterThan(3);
    expect(sequences.at(-1)).toBe(30);
    expect(sequences).toEqual(Array.from({ length: sequences.length }, (_, i) => 30 - sequences.length + 1 + i));
  });

  test("keeps what has still to take effect", async () => {
    const site = await newSite();
    const overlayId = await createOverlay(site);
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    vi.spyOn(Channel.prototype, "publish").mockRejectedValue(new Error("channel down"));
    await broadcastInVain(site, overlayId);
    await vi.waitFor(async () => expect(await waiting(site.id)).toEqual([]));
    await runInDurableObject(logOf(site.id), (_, state) => void state.storage.sql.exec("UPDATE events SET created = 1"));
    await createOverlay(site);
    await logOf(site.id).nudge();
    await runDurableObjectAlarm(logOf(site.id));
    expect((await eventsOf(site.id)).map(({ type }) => type)).toEqual(["overlay.broadcast", "overlay.created"]);
  });
});
