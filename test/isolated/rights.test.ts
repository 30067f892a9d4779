import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { expect, onTestFinished, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { sessions } from "#db/schema/accounts.ts";
import { pages } from "#db/schema/pages.ts";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import { channelName, relayName } from "#worker/durable-objects/channel/channel.protocol.ts";
import { Relay } from "#worker/durable-objects/relay/relay.ts";
import { CLOSE, PING } from "#worker/durable-objects/relay/relay.protocol.ts";
import { RelayRights } from "#worker/durable-objects/relay/rights.ts";
import { newId } from "#worker/lib/ids.ts";
import { issueTicket } from "#worker/services/realtime/realtime.ts";
import { newSite, openSocket, type TestSite } from "../harness.ts";
import { evict, requestToRelay, type TestViewer, watch } from "./relay-viewer.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);

const relayOf = (site: TestSite, channelId: string, relay = 0) => env.RELAY.getByName(relayName(channelName(site.id, channelId), relay));
const channelOf = (site: TestSite, channelId: string) => env.CHANNEL.getByName(channelName(site.id, channelId));
const presenceOf = (site: TestSite) => env.SITE_PRESENCE.getByName(site.id);
const recheck = (site: TestSite) => presenceOf(site).recheck([site.accounts.viewer.id]);

async function newSession(site: TestSite): Promise<string> {
  const now = Date.now();
  const id = newId(now);
  const accountId = site.accounts.viewer.id;
  await db.insert(sessions).values({ id, audience: site.id, accountId, generation: 1, created: now, expires: now + 3_600_000 });
  return id;
}

const endSession = (id: string) => db.update(sessions).set({ revoked: Date.now() }).where(eq(sessions.id, id));

async function connectViewer(site: TestSite, channelId: string, sessionId: string): Promise<TestViewer> {
  const account = { accountId: site.accounts.viewer.id, sessionId, tags: [] };
  const { ticket } = await issueTicket(env, { siteId: site.id, channelId, ...account }, Date.now());
  const viewer = await openSocket(site, channelId, { ticket });
  const pings = setInterval(() => viewer.open && viewer.send(PING), 300);
  onTestFinished(() => clearInterval(pings));
  return viewer;
}

async function connectAndWait(site: TestSite, channelId: string, sessionId: string): Promise<TestViewer> {
  const viewer = await connectViewer(site, channelId, sessionId);
  await viewer.first("welcome");
  return viewer;
}

async function waitForCount(site: TestSite, viewers: number): Promise<void> {
  await vi.waitUntil(async () => (await presenceOf(site).concurrents()).concurrents === viewers, { timeout: 20_000 });
}

/** Delays a channel's first snapshot until it is released. Uses flags, because a promise would cross the contexts of two objects. */
function holdSnapshot() {
  const state = { requested: false, held: true };
  vi.spyOn(Channel.prototype, "snapshot").mockImplementationOnce(async function (this: Channel, relay) {
    const snapshot = await this.snapshot(relay);
    state.requested = true;
    while (state.held) await scheduler.wait(5);
    return snapshot;
  });
  return {
    requested: () => vi.waitUntil(() => state.requested, { timeout: 20_000 }),
    release: () => {
      state.held = false;
    },
  };
}

test("a session that ends closes its sockets even after all objects were evicted", async () => {
  const site = await newSite();
  const [channelId] = site.channels;
  const [ended, other] = [await newSession(site), await newSession(site)];
  const [viewer, neighbour] = [await connectAndWait(site, channelId, ended), await connectAndWait(site, channelId, other)];
  await waitForCount(site, 2);
  for (const stub of [relayOf(site, channelId), presenceOf(site), channelOf(site, channelId)]) await evict(stub);
  await endSession(ended);
  await recheck(site);
  expect((await viewer.closed).code).toBe(CLOSE.unauthenticated);
  expect(neighbour.open).toBe(true);
});

test("a viewer whose session ends while connecting, before the site knows the relay, is disconnected soon after", async () => {
  const site = await newSite();
  const [channelId] = site.channels;
  const session = await newSession(site);
  const { requested, release } = holdSnapshot();
  const connecting = connectViewer(site, channelId, session);
  await requested();
  // Long enough for the lookup of its rights; the site knows no relay at that time.
  await scheduler.wait(300);
  await endSession(session);
  await recheck(site);
  release();
  expect((await (await connecting).closed).code).toBe(CLOSE.unauthenticated);
});

test("a viewer whose relay is told to recheck it while it connects is looked up again and not admitted", async () => {
  const site = await newSite();
  const [channelId] = site.channels;
  const session = await newSession(site);
  const { requested, release } = holdSnapshot();
  const connecting = connectViewer(site, channelId, session);
  await requested();
  await endSession(session);
  await relayOf(site, channelId).checkRights([site.accounts.viewer.id]);
  release();
  const viewer = await connecting;
  expect((await viewer.closed).code).toBe(CLOSE.unauthenticated);
  expect(viewer.frames.map(({ type }) => type)).toEqual(["error"]);
});

test("a viewer who connects while a gate closes isn't admitted", async () => {
  const site = await newSite();
  const [channelId] = site.channels;
  const { requested, release } = holdSnapshot();
  const connecting = openSocket(site, channelId);
  await requested();
  const gate = { type: "login" as const, skus: [] };
  await db
    .update(pages)
    .set({ data: { name: "Main stage", gate }, version: 2 })
    .where(eq(pages.id, channelId));
  await channelOf(site, channelId).checkGate();
  release();
  const viewer = await connecting;
  expect((await viewer.closed).code).toBe(CLOSE.unauthenticated);
  expect(viewer.frames.map(({ type }) => type)).toEqual(["error"]);
});

test("a relay that opens after a gate was closed enforces it, whatever the Worker has cached", async () => {
  const site = await newSite();
  const [channelId] = site.channels;
  await (await openSocket(site, channelId)).first("welcome");
  const gate = { type: "login" as const, skus: [] };
  await db
    .update(pages)
    .set({ data: { name: "Main stage", gate }, version: 2 })
    .where(eq(pages.id, channelId));
  await channelOf(site, channelId).checkGate();
  const channel = { siteId: site.id, channelId, stub: channelOf(site, channelId), presence: presenceOf(site) };
  const cached = { version: 1, type: "none" as const, digest: "0:0" };
  const request = (relay: number) => requestToRelay({ ...channel, relay: (k = 0) => relayOf(site, channelId, k) }, { relay, gate: cached });
  expect([(await request(0)).status, (await request(1)).status]).toEqual([401, 401]);
  await evict(relayOf(site, channelId));
  expect((await request(0)).status).toBe(401);
});

test("a recheck that fails at a relay is repeated by alarm", async () => {
  const site = await newSite();
  const [channelId] = site.channels;
  const session = await newSession(site);
  const viewer = await connectAndWait(site, channelId, session);
  await waitForCount(site, 1);
  const check = vi.spyOn(Relay.prototype, "checkRights").mockRejectedValueOnce(new Error("the database is unavailable"));
  await endSession(session);
  await recheck(site);
  await vi.waitUntil(() => check.mock.calls.length > 0, { timeout: 20_000 });
  await vi.waitUntil(async () => (await runDurableObjectAlarm(presenceOf(site))) || !viewer.open, { timeout: 20_000 });
  expect((await viewer.closed).code).toBe(CLOSE.unauthenticated);
});

test("a relay's alarm survives a gate whose check is still pending", async () => {
  const site = await newSite();
  const [channelId] = site.channels;
  await connectAndWait(site, channelId, await newSession(site));
  vi.spyOn(RelayRights.prototype, "checkDue").mockResolvedValueOnce();
  await runInDurableObject(relayOf(site, channelId), async (relay: Relay, { storage }) => {
    storage.kv.put("uncheckedGate", true);
    await expect(relay.alarm()).resolves.toBeUndefined();
  });
});

test("a relay is rechecked only a few times, however many accounts change", async () => {
  const site = await newSite();
  const [channelId] = site.channels;
  const viewer = await connectAndWait(site, channelId, await newSession(site));
  const stranger = watch((await requestToRelayOf(site, site.channels[1])) ?? notAdmitted());
  await stranger.first("welcome");
  await waitForCount(site, 2);
  const check = vi.spyOn(Relay.prototype, "checkRights");
  await Promise.all(Array.from({ length: 300 }, () => presenceOf(site).recheck([site.accounts.viewer.id, newId(Date.now())])));
  await presenceOf(site).recheck([]);
  await vi.waitUntil(() => check.mock.calls.length > 0, { timeout: 20_000 });
  expect(check.mock.calls.length).toBeLessThan(60);
  for (const { frames } of [viewer, stranger]) expect(frames.map(({ type }) => type)).not.toContain("error");
});

async function requestToRelayOf(site: TestSite, channelId: string): Promise<WebSocket | null> {
  const channel = { siteId: site.id, channelId, stub: channelOf(site, channelId), presence: presenceOf(site) };
  return (await requestToRelay({ ...channel, relay: (k = 0) => relayOf(site, channelId, k) })).webSocket;
}

function notAdmitted(): never {
  throw new Error("Not admitted");
}
