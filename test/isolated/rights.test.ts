import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { pages, sessions } from "#db/schema/index.ts";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import { channelName, relayName } from "#worker/durable-objects/channel/channel.protocol.ts";
import { Relay } from "#worker/durable-objects/relay/relay.ts";
import { CLOSE, PING } from "#worker/durable-objects/relay/relay.protocol.ts";
import { RelayRights } from "#worker/durable-objects/relay/rights.ts";
import { newId } from "#worker/lib/ids.ts";
import { issueTicket } from "#worker/services/realtime/realtime.ts";
import { newSite, openSocket, type TestSite } from "../harness.ts";
import { evict, requestToRelay, type TestViewer, watch } from "./relay-viewer.ts";

const db = createDb(env.DB);

afterEach(() => {
  vi.restoreAllMocks();
});

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

async function enter(site: TestSite, channelId: string, sessionId: string): Promise<TestViewer> {
  const account = { accountId: site.accounts.viewer.id, sessionId, tags: [] };
  const { ticket } = await issueTicket(env, { siteId: site.id, channelId, ...account }, Date.now());
  const viewer = await openSocket(site, channelId, { ticket });
  const pings = setInterval(() => viewer.open && viewer.send(PING), 300);
  onTestFinished(() => clearInterval(pings));
  return viewer;
}

async function enterNow(site: TestSite, channelId: string, sessionId: string): Promise<TestViewer> {
  const viewer = await enter(site, channelId, sessionId);
  await viewer.first("welcome");
  return viewer;
}

async function counted(site: TestSite, viewers: number): Promise<void> {
  await vi.waitUntil(async () => (await presenceOf(site).concurrents()).concurrents === viewers, { timeout: 20_000 });
}

/** Holds back the first snapshot of a channel until it is let go. By flags, since a promise would carry one object's context to another. */
function holdSnapshot() {
  const state = { asked: false, held: true };
  vi.spyOn(Channel.prototype, "snapshot").mockImplementationOnce(async function (this: Channel, relay) {
    const taken = await this.snapshot(relay);
    state.asked = true;
    while (state.held) await scheduler.wait(5);
    return taken;
  });
  return {
    asked: () => vi.waitUntil(() => state.asked, { timeout: 20_000 }),
    letGo: () => {
      state.held = false;
    },
  };
}

test("a session that ends closes its sockets also after evictions of everything", async () => {
  const site = await newSite();
  const [channelId] = site.channels;
  const [ended, other] = [await newSession(site), await newSession(site)];
  const [viewer, neighbour] = [await enterNow(site, channelId, ended), await enterNow(site, channelId, other)];
  await counted(site, 2);
  for (const stub of [relayOf(site, channelId), presenceOf(site), channelOf(site, channelId)]) await evict(stub);
  await endSession(ended);
  await recheck(site);
  expect((await viewer.closed).code).toBe(CLOSE.unauthenticated);
  expect(neighbour.open).toBe(true);
});

test("a viewer whose session ends on the way in, before anybody knows of the relay, is closed soon after", async () => {
  const site = await newSite();
  const [channelId] = site.channels;
  const session = await newSession(site);
  const { asked, letGo } = holdSnapshot();
  const entering = enter(site, channelId, session);
  await asked();
  // Enough for its right to be looked up; the site has no relay to ask then.
  await scheduler.wait(300);
  await endSession(session);
  await recheck(site);
  letGo();
  expect((await (await entering).closed).code).toBe(CLOSE.unauthenticated);
});

test("a viewer whose relay is asked while it is on the way in is looked up again, and not let in", async () => {
  const site = await newSite();
  const [channelId] = site.channels;
  const session = await newSession(site);
  const { asked, letGo } = holdSnapshot();
  const entering = enter(site, channelId, session);
  await asked();
  await endSession(session);
  await relayOf(site, channelId).checkRights([site.accounts.viewer.id]);
  letGo();
  const viewer = await entering;
  expect((await viewer.closed).code).toBe(CLOSE.unauthenticated);
  expect(viewer.frames.map(({ type }) => type)).toEqual(["error"]);
});

test("a viewer who is on the way in while a gate closes is not let in", async () => {
  const site = await newSite();
  const [channelId] = site.channels;
  const { asked, letGo } = holdSnapshot();
  const entering = openSocket(site, channelId);
  await asked();
  const gate = { type: "login" as const, skus: [] };
  await db
    .update(pages)
    .set({ data: { name: "Main stage", gate }, version: 2 })
    .where(eq(pages.id, channelId));
  await channelOf(site, channelId).checkGate();
  letGo();
  const viewer = await entering;
  expect((await viewer.closed).code).toBe(CLOSE.unauthenticated);
  expect(viewer.frames.map(({ type }) => type)).toEqual(["error"]);
});

test("a relay that opens after the gate was closed knows it, whatever the Worker remembers", async () => {
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
  const remembered = { version: 1, type: "none" as const, digest: "0:0" };
  const request = (relay: number) =>
    requestToRelay({ ...channel, relay: (k = 0) => relayOf(site, channelId, k) }, { relay, gate: remembered });
  expect([(await request(0)).status, (await request(1)).status]).toEqual([401, 401]);
  await evict(relayOf(site, channelId));
  expect((await request(0)).status).toBe(401);
});

test("what a relay could not look up is looked up again by alarm", async () => {
  const site = await newSite();
  const [channelId] = site.channels;
  const session = await newSession(site);
  const viewer = await enterNow(site, channelId, session);
  await counted(site, 1);
  const check = vi.spyOn(Relay.prototype, "checkRights").mockRejectedValueOnce(new Error("the database is away"));
  await endSession(session);
  await recheck(site);
  await vi.waitUntil(() => check.mock.calls.length > 0, { timeout: 20_000 });
  await vi.waitUntil(async () => (await runDurableObjectAlarm(presenceOf(site))) || !viewer.open, { timeout: 20_000 });
  expect((await viewer.closed).code).toBe(CLOSE.unauthenticated);
});

test("a relay's alarm survives a gate whose check is still pending", async () => {
  const site = await newSite();
  const [channelId] = site.channels;
  await enterNow(site, channelId, await newSession(site));
  vi.spyOn(RelayRights.prototype, "checkDue").mockResolvedValueOnce();
  await runInDurableObject(relayOf(site, channelId), async (relay: Relay, { storage }) => {
    storage.kv.put("uncheckedGate", true);
    await expect(relay.alarm()).resolves.toBeUndefined();
  });
});

test("however many accounts change, a relay is asked a few times", async () => {
  const site = await newSite();
  const [channelId] = site.channels;
  const viewer = await enterNow(site, channelId, await newSession(site));
  const stranger = watch((await requestToRelayOf(site, site.channels[1])) ?? fail());
  await stranger.first("welcome");
  await counted(site, 2);
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

function fail(): never {
  throw new Error("Not let in");
}
