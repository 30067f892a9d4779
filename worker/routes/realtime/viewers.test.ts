import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { and, eq } from "drizzle-orm";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { viewerActivity } from "#db/schema/activity.ts";
import { waitForViewerCount, newSite, openSocket, type TestAccount, type TestSite } from "#test/harness.ts";
import type { TestViewer } from "#test/isolated/relay-viewer.ts";
import { channelName, relayName } from "#worker/durable-objects/channel/channel.protocol.ts";
import { newId } from "#worker/lib/ids.ts";
import { type Activity, activityOf, pruneActivity, recordActivity } from "#worker/services/realtime/activity.ts";
import { signTicket } from "#worker/services/realtime/tickets.ts";
import { BroadcastAnswer, Overlay } from "#worker/services/overlays/schemas.ts";
import { Poll } from "#worker/services/polls/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

/** Connects as this account. */
async function joinAs(account: TestAccount, channelId: string, tags: string[] = [], on = site): Promise<TestViewer> {
  const { ticket } = await signTicket(env, { siteId: on.id, channelId, accountId: account.id, sessionId: null, tags }, 0, Date.now());
  const viewer = await openSocket(on, channelId, { ticket });
  await viewer.first("welcome");
  return viewer;
}

const frame = (viewer: TestViewer, content: Record<string, unknown>) => viewer.send(JSON.stringify(content));

/** The result of a vote. Relays read frames in order, so all earlier frames of the viewer have been processed by then. */
async function vote(viewer: TestViewer, pollId: string, answerId: string, id = newId(Date.now())) {
  const { length } = viewer.frames;
  frame(viewer, { type: "vote", pollId, answerId, id });
  await viewer.when((frame) => frame.type === "vote.result" && frame.id === id && viewer.frames.indexOf(frame) >= length);
  const results = viewer.frames.slice(length).filter((frame) => frame.type === "vote.result");
  return results[0];
}

/** Makes the channel's relay write its metrics, after it has processed all frames of these viewers. */
async function settle(channelId: string, ...viewers: TestViewer[]): Promise<void> {
  for (const viewer of viewers) await vote(viewer, newId(1), "none");
  await env.RELAY.getByName(relayName(channelName(site.id, channelId), 0)).settle();
}

async function activity(accountId: string, kind: Activity["kind"], on = site): Promise<Activity[]> {
  return (await activityOf({ db, siteId: on.id }, accountId)).filter((row) => row.kind === kind);
}

describe("viewer activity", () => {
  test("includes the channel visited and the panels opened, each once", async () => {
    const channelId = await site.addChannel("visits");
    const account = await site.addAccount("visitor", []);
    const before = Date.now();
    const viewer = await joinAs(account, channelId);
    for (const panelId of ["lineup", "shop", "lineup"]) frame(viewer, { type: "panel", panelId });
    await settle(channelId, viewer);
    expect(await activity(account.id, "channel")).toMatchObject([{ targetId: channelId, channelId, seconds: 0 }]);
    expect(new Set((await activity(account.id, "panel")).map(({ targetId }) => targetId))).toEqual(new Set(["lineup", "shop"]));
    for (const row of await activityOf({ db, siteId: site.id }, account.id)) {
      expect(row.firstAt).toBeGreaterThanOrEqual(before - 1);
      expect(row.lastAt).toBeLessThanOrEqual(Date.now() + 1);
    }
  });

  test("counts a visit for as long as the connection lasts, recorded during it and when it ends", async () => {
    const channelId = await site.addChannel("stays");
    const account = await site.addAccount("stayer", []);
    const viewer = await joinAs(account, channelId);
    const relay = env.RELAY.getByName(relayName(channelName(site.id, channelId), 0));
    const joined = Date.now();
    const visit = async () => {
      await relay.settle();
      return (await activity(account.id, "channel"))[0] ?? { firstAt: 0, lastAt: 0, seconds: 0 };
    };
    await vi.waitUntil(() => Date.now() > joined + 20, { interval: 2 });
    await runInDurableObject(relay, (instance) => instance.alarm());
    const during = await visit();
    expect(during.lastAt).toBeGreaterThan(joined);
    expect(during.seconds).toBeCloseTo((during.lastAt - during.firstAt) / 1000, 6);
    await vi.waitUntil(() => Date.now() > during.lastAt + 20, { interval: 2 });
    viewer.close();
    await vi.waitUntil(async () => (await visit()).lastAt > during.lastAt, { interval: 20 });
    expect(await activity(account.id, "channel")).toHaveLength(1);
  });

  test("counts watch time by the server's clock, not by the viewer's reports", async () => {
    const channelId = await site.addChannel("watches");
    const account = await site.addAccount("watcher", []);
    const viewer = await joinAs(account, channelId);
    const from = Date.now();
    frame(viewer, { type: "watch", videoId: "match", mediaTime: 0 });
    await settle(channelId, viewer);
    expect(await activity(account.id, "watch")).toEqual([]);
    await vi.waitUntil(() => Date.now() > from + 20, { interval: 2 });
    frame(viewer, { type: "watch", videoId: "match", mediaTime: 3600 });
    await settle(channelId, viewer);
    const [watched] = await activity(account.id, "watch");
    expect(watched).toMatchObject({ targetId: "match", channelId });
    expect(watched?.seconds).toBeGreaterThan(0);
    expect(watched?.seconds).toBeLessThanOrEqual((Date.now() - from + 1) / 1000);
  });

  test("isn't recorded for anonymous viewers", async () => {
    const channelId = await site.addChannel("anonymous");
    const viewer = await openSocket(site, channelId);
    frame(viewer, { type: "panel", panelId: "lineup" });
    await settle(channelId, viewer);
    expect(await db.select().from(viewerActivity).where(eq(viewerActivity.channelId, channelId))).toEqual([]);
  });
});

describe("recorded activity", () => {
  const row = { kind: "watch" as const, targetId: "match", channelId: newId(1) };

  test("adds up in any order, and a repeated report adds nothing", async () => {
    const { id: accountId } = await site.addAccount("adder", []);
    const [first, second, third] = [1_000, 11_000, 16_000].map((firstAt, index) => {
      const seconds = [10, 5, 4][index] ?? 0;
      return { ...row, accountId, seconds, since: 1_000, firstAt, lastAt: firstAt + seconds * 1000 };
    });
    for (const seen of [second, second, first, third, first, second]) if (seen) await recordActivity(env, site.id, [seen]);
    expect(await activity(accountId, "watch")).toEqual([{ ...row, seconds: 19, firstAt: 1_000, lastAt: 20_000 }]);
  });

  test("separates activity before and after a break", async () => {
    const { id: accountId } = await site.addAccount("returner", []);
    const early = { ...row, accountId, seconds: 10, since: 0, firstAt: 80_000, lastAt: 90_000 };
    const late = { ...row, accountId, seconds: 20, since: 600_000, firstAt: 600_000, lastAt: 620_000 };
    for (const seen of [early, late, early]) await recordActivity(env, site.id, [seen]);
    expect((await activity(accountId, "watch")).map(({ seconds, firstAt }) => ({ seconds, firstAt }))).toEqual([
      { seconds: 10, firstAt: 80_000 },
      { seconds: 20, firstAt: 600_000 },
    ]);
  });

  test("counts the time on two screens at once only once", async () => {
    const { id: accountId } = await site.addAccount("doubler", []);
    await recordActivity(env, site.id, [{ ...row, accountId, seconds: 10, since: 0, firstAt: 0, lastAt: 10_000 }]);
    await recordActivity(env, site.id, [{ ...row, accountId, seconds: 10, since: 0, firstAt: 1_000, lastAt: 11_000 }]);
    expect(await activity(accountId, "watch")).toMatchObject([{ seconds: 11 }]);
  });

  test("is recorded only for the site's own accounts", async () => {
    const foreign = await newSite();
    const seen = { ...row, seconds: 10, since: 0, firstAt: 0, lastAt: 10_000 };
    const { id } = foreign.accounts.viewer;
    await recordActivity(env, site.id, [
      { ...seen, accountId: id },
      { ...seen, accountId: newId(1) },
    ]);
    expect(await activity(id, "watch")).toEqual([]);
    expect(await activity(id, "watch", foreign)).toEqual([]);
  });

  test("is deleted with its account, and after 400 days", async () => {
    const [gone, old] = [await site.addAccount("gone", []), await site.addAccount("old", [])];
    const now = Date.now();
    const seen = { ...row, seconds: 1, since: now - 1_000, firstAt: now - 1_000, lastAt: now };
    await recordActivity(env, site.id, [
      { ...seen, accountId: gone.id },
      { ...seen, accountId: old.id },
    ]);
    await site.call("deleteAccount", { params: { id: gone.id } });
    expect(await activity(gone.id, "watch")).toEqual([]);
    await pruneActivity({ db, now: now + 399 * 86_400_000 });
    expect(await activity(old.id, "watch")).toHaveLength(1);
    const lastAt = now - 401 * 86_400_000;
    await db
      .update(viewerActivity)
      .set({ lastAt })
      .where(and(eq(viewerActivity.siteId, site.id), eq(viewerActivity.accountId, old.id)));
    await pruneActivity({ db, now });
    expect(await activity(old.id, "watch")).toEqual([]);
  });
});

describe("a vote on the socket", () => {
  test("counts once, and a second one gets the reason why it doesn't", async () => {
    const body = {
      siteId: site.id,
      type: "poll",
      question: "Who wins?",
      name: "Derby",
      open: true,
      answers: [{ answer: "Home" }, { answer: "Away" }],
    };
    const poll = (await site.call("createPoll", { body })).as(Poll);
    const [home, away] = poll.answers;
    const viewer = await joinAs(await site.addAccount("voter", []), site.channels[0]);
    const id = newId(1);
    expect(await vote(viewer, poll._id, home?._id ?? "", id)).toMatchObject({ id, ok: true });
    expect(await vote(viewer, poll._id, home?._id ?? "", id)).toMatchObject({ id, ok: true });
    expect(await vote(viewer, poll._id, away?._id ?? "")).toMatchObject({ ok: false, code: "already_answered" });
    expect(await vote(viewer, newId(1), "none")).toMatchObject({ ok: false, code: "not_found" });
  });

  test("requires a ticket", async () => {
    const viewer = await openSocket(site, site.channels[0]);
    expect(await vote(viewer, newId(1), "none")).toMatchObject({ ok: false, code: "unauthenticated" });
  });
});

describe("changed tags", () => {
  test("reach only the open sockets of the account", async () => {
    const own = await newSite();
    const [channelId] = own.channels;
    const fan = await own.addAccount("fan", [], ["team:home"]);
    const [first, second] = [await joinAs(fan, channelId, ["team:home"], own), await joinAs(fan, channelId, ["team:home"], own)];
    const other = await openSocket(own, channelId);
    await waitForViewerCount(own, 3);
    await own.call("setAccountTags", { params: { id: fan.id }, body: { tags: ["team:away"] } });
    for (const viewer of [first, second]) {
      expect(await viewer.first("account.changed")).toMatchObject({ data: { _id: fan.id, tags: ["team:away"] } });
    }
    const contents = [{ kind: "html", html: "Goal", position: "center" }];
    const overlay = { name: "Goal", description: "", siteId: own.id, type: "template", duration: 60, contents };
    const { _id } = (await own.call("createOverlay", { body: overlay })).as(Overlay);
    const send = (tagId: string) => own.call("broadcastOverlayToTag", { params: { id: _id, tagId }, body: { channelId } });
    await send("team:home");
    const { broadcastId } = (await send("team:away")).as(BroadcastAnswer);
    expect(await first.first("overlay.show")).toMatchObject({ broadcastId });
    expect(other.frames.filter(({ type }) => type === "account.changed" || type === "overlay.show")).toEqual([]);
  });

  test("from a bulk change reach them too", async () => {
    const own = await newSite();
    const fan = await own.addAccount("fan", [], ["team:home"]);
    const viewer = await joinAs(fan, own.channels[0], ["team:home"], own);
    await waitForViewerCount(own, 1);
    const body = new Blob([`account_id,tag_name\n${fan.id},stand:north`], { type: "text/csv" });
    await own.call("addTagsInBulk", { body, headers: { "Tifo-Client-Id": own.id } });
    expect((await viewer.first("account.changed")).data.tags).toEqual(["team:home", "stand:north"]);
  });
});
