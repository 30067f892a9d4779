import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { viewerActivity } from "#db/schema/activity.ts";
import { sites } from "#db/schema/sites.ts";
import { Leaderboard } from "#worker/durable-objects/leaderboard/leaderboard.ts";
import { Relay } from "#worker/durable-objects/relay/relay.ts";
import { SitePresence } from "#worker/durable-objects/site-presence/site-presence.ts";
import { leaderboardOf } from "#worker/durable-objects/stubs.ts";
import { Leaderboard as Created } from "#worker/services/leaderboards/schemas.ts";
import { channelName, relayName } from "#worker/durable-objects/channel/channel.protocol.ts";
import type { SegmentFilter } from "#worker/services/segments/filter.ts";
import { Ticket } from "#worker/services/realtime/schemas.ts";
import { newSite, openSocket, type TestSite, waitForViewerCount } from "../harness.ts";
import { atTime, evict, join, newBroadcast, newChannel } from "./relay-viewer.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const MINUTE = 60_000;
const BRAZIL: SegmentFilter = { attribute: "country", operator: "any_of", value: ["BR"] };

const relayOf = (site: TestSite) => env.RELAY.getByName(relayName(channelName(site.id, site.channels[0]), 0));

/** Changes the site's segments without the event that notifies its objects; returns the site's version. */
async function store(site: TestSite, slug: string, filter: SegmentFilter): Promise<number> {
  const [row] = await db.select().from(sites).where(eq(sites.id, site.id));
  if (!row) throw new Error("No site");
  const settings = { ...row.settings, userSegments: { [slug]: { name: slug, filter } } };
  await db
    .update(sites)
    .set({ settings, version: row.version + 1 })
    .where(eq(sites.id, site.id));
  return row.version + 1;
}

/** Changes the site's segments, and waits until its objects know. */
async function setSegment(site: TestSite, slug: string, filter: SegmentFilter): Promise<void> {
  const settings = { security: {}, userSegments: { [slug]: { name: slug, filter } } };
  const { status, text } = await site.call("updateSite", { body: { name: "Harbour City", settings } });
  if (status !== 200) throw new Error(text);
  await env.SITE_LOG.getByName(site.id).nudge();
}

async function newBoard(site: TestSite): Promise<string> {
  return (await site.call("createLeaderboard", { body: { name: "Season", period: "all" } })).as(Created)._id;
}

async function connect(site: TestSite, as?: "viewer", country = "BR") {
  const [channelId] = site.channels;
  const ticket = as && (await site.call("createTicket", { as, body: { channelId } })).as(Ticket).ticket;
  const viewer = await openSocket(site, channelId, ticket ? { ticket } : {}, { "CF-IPCountry": country });
  await viewer.first("welcome");
  return viewer;
}

describe("a relay", () => {
  test("keeps the segments of its sockets through hibernation", async () => {
    const channel = newChannel();
    const member = await join(channel, { segments: { version: 1, slugs: ["brazil"] } });
    const other = await join(channel);
    await evict(channel.relay());
    await channel.stub.publish(newBroadcast({ userSegment: "brazil" }));
    await channel.stub.publish(newBroadcast());
    await Promise.all([member.waitForSeq(2), other.waitForSeq(2)]);
    expect([member.log, other.log]).toEqual([[1, 2], [2]]);
    expect(await channel.relay().count("brazil")).toBe(1);
  });

  test("evaluates the segments again when it could not be reached before", async () => {
    const site = await newSite();
    const viewer = await connect(site);
    const version = await store(site, "brazil", BRAZIL);
    const lookUp = vi.spyOn(Relay.prototype, "setSegments").mockRejectedValueOnce(new Error("the relay is restarting"));
    await waitForViewerCount(site, 1);
    const presence = env.SITE_PRESENCE.getByName(site.id);
    expect(await presence.resegment(version, "new")).toBe(false);
    lookUp.mockRestore();
    expect(await presence.resegment(version, "new")).toBe(true);
    await viewer.first("audience.changed");
    expect(await relayOf(site).count("brazil")).toBe(1);
  });

  test("looks the segments up for a viewer whose Worker has older ones", async () => {
    const channel = newChannel();
    await join(channel, { segments: { version: 7, slugs: ["brazil"] } });
    // The site has no such segment by now, and no row.
    await channel.relay().setSegments(8);
    await join(channel, { segments: { version: 7, slugs: ["brazil"] } });
    expect(await channel.relay().count("brazil")).toBe(0);
  });

  test("evaluates the segments of a member again when its points cross a threshold, and of nobody else", async () => {
    const site = await newSite();
    const [board, other] = [await newBoard(site), await newBoard(site)];
    const fans: SegmentFilter = { attribute: "points", operator: "at_least", value: 100, leaderboardId: board };
    await setSegment(site, "fans", fans);
    const viewer = await connect(site, "viewer");
    const recheck = vi.spyOn(SitePresence.prototype, "recheck");
    const rechecked = async (id: string, points: number) => {
      recheck.mockClear();
      const { viewer: account } = site.accounts;
      await site.call("awardPoints", { params: { id }, body: { accountId: account.id, points } });
      await runInDurableObject(leaderboardOf(env, site.id, id), (object: Leaderboard) => atTime(Date.now() + MINUTE, () => object.alarm()));
      return recheck.mock.calls.map(([accountIds]) => accountIds);
    };
    expect(await rechecked(board, 99)).toEqual([]);
    expect(await rechecked(other, 500)).toEqual([]);
    expect(await rechecked(board, 1)).toEqual([[site.accounts.viewer.id]]);
    await viewer.first("audience.changed");
    expect(await relayOf(site).count("fans")).toBe(1);
    expect(await rechecked(board, 50)).toEqual([]);
    expect(await rechecked(board, -60)).toEqual([[site.accounts.viewer.id]]);
    await expect.poll(() => relayOf(site).count("fans")).toBe(0);
    // Once no segment asks for points, the leaderboard stops as well.
    await setSegment(site, "fans", BRAZIL);
    expect(await rechecked(board, 60)).toEqual([]);
    expect(await runInDurableObject(leaderboardOf(env, site.id, board), (_, { storage }) => storage.kv.get("thresholds"))).toEqual([]);
  });

  test("asks the leaderboards, not the database, for the points of viewers who connect", async () => {
    const lookUps = async (segment: (site: TestSite) => Promise<SegmentFilter>) => {
      const site = await newSite();
      await setSegment(site, "some", await segment(site));
      await connect(site);
      const [prepare, lookUp] = [vi.spyOn(siteStore, "prepare"), vi.spyOn(env.LEADERBOARD, "getByName")];
      await connect(site, "viewer");
      // By their text, because objects that have other work also send statements meanwhile.
      const statements = prepare.mock.calls.map(([sql]) => sql);
      const objects = lookUp.mock.calls.length;
      for (const spy of [prepare, lookUp]) spy.mockRestore();
      expect(statements.filter((sql) => sql.includes('"accounts"'))).not.toEqual([]);
      return { points: statements.filter((sql) => /leaderboard|points/.test(sql)), objects };
    };
    const withPoints = async (site: TestSite): Promise<SegmentFilter> => {
      const condition = { attribute: "points" as const, operator: "at_least" as const, leaderboardId: await newBoard(site) };
      return {
        any: [
          { ...condition, value: 1 },
          { ...condition, value: 5 },
        ],
      };
    };
    expect(await lookUps(async () => BRAZIL)).toEqual({ points: [], objects: 0 });
    expect(await lookUps(withPoints)).toEqual({ points: [], objects: 1 });
  });

  test("admits viewers although a leaderboard doesn't respond, and asks again within five minutes", async () => {
    const site = await newSite();
    const board = await newBoard(site);
    await setSegment(site, "fans", { attribute: "points", operator: "at_least", value: 1, leaderboardId: board });
    await site.call("awardPoints", { params: { id: board }, body: { accountId: site.accounts.viewer.id, points: 5 } });
    const failing = vi.spyOn(Leaderboard.prototype, "pointsOf").mockRejectedValue(new Error("unavailable"));
    const viewer = await connect(site, "viewer");
    failing.mockRestore();
    expect(await relayOf(site).count("fans")).toBe(0);
    await runInDurableObject(relayOf(site), (_relay, { storage }) => storage.kv.put("watchDue", Date.now() - MINUTE));
    await runDurableObjectAlarm(relayOf(site));
    await viewer.first("audience.changed");
    expect(await relayOf(site).count("fans")).toBe(1);
  });

  test("evaluates watch time again every five minutes, and only where a segment asks for it", async () => {
    const site = await newSite();
    await store(site, "regulars", { attribute: "watchMinutes", operator: "at_least", value: 1 });
    const viewer = await connect(site, "viewer");
    const part = { siteId: site.id, accountId: site.accounts.viewer.id, kind: "watch" as const, channelId: site.channels[0] };
    await db.insert(viewerActivity).values({ ...part, targetId: "match", startMinute: 1, seconds: 60, firstAt: 1, lastAt: 1 });
    await runDurableObjectAlarm(relayOf(site));
    expect(await relayOf(site).count("regulars")).toBe(0);
    await runInDurableObject(relayOf(site), (_relay, { storage }) => storage.kv.put("watchDue", Date.now() - MINUTE));
    await runDurableObjectAlarm(relayOf(site));
    await viewer.first("audience.changed");
    expect(await relayOf(site).count("regulars")).toBe(1);
    const other = await newSite();
    await store(other, "brazil", BRAZIL);
    await connect(other, "viewer");
    expect(await runInDurableObject(relayOf(other), (_relay, { storage }) => storage.kv.get("watchDue"))).toBeUndefined();
  });
});
