import { z } from "@hono/zod-openapi";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { accessCodes } from "#db/schema/commerce/access-codes.ts";
import { accountEntitlements } from "#db/schema/commerce/entitlements.ts";
import { subscriptions } from "#db/schema/commerce/subscriptions.ts";
import { sites } from "#db/schema/sites.ts";
import { streamProviders, streams } from "#db/schema/streams/streams.ts";
import { interruptedContext } from "#test/interrupted-context.ts";
import { type ApiResponse, newSite, type TestAccount, type TestSite } from "#test/harness.ts";
import { addSkus } from "#test/files-and-skus.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { grantEntitlement } from "#worker/services/subscriptions/entitlements.ts";
import { batchAll, type Ctx } from "#worker/services/core/context.ts";
import { getContent } from "#worker/services/pages/content.ts";
import { recordWatching, pruneWatchTime } from "#worker/services/pages/watch-time.ts";
import { Video } from "#worker/services/videos/schemas.ts";
import { PageContent } from "#worker/services/pages/content-schemas.ts";
import { Device } from "#worker/services/pages/device-schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const DeviceList = listOf(Device);
const gate = { type: "entitlement", skus: ["season-pass"] };
const stamps = () => ({ id: newId(Date.now()), siteId: site.id, created: 1, modified: 1 });

let site: TestSite;
let page: string;

beforeAll(async () => {
  site = await newSite();
  [page] = site.channels;
});

/** A viewer without devices. */
async function newViewer(on = site): Promise<TestAccount & { headers: Record<string, string> }> {
  const account = await on.addAccount(`viewer-${randomHex(5)}`, []);
  return { ...account, headers: { Authorization: `Bearer ${await on.signIn(account)}` } };
}

const open = (pageId: string, deviceId: string, headers: Record<string, string> = {}, on = site): Promise<ApiResponse> =>
  on.call("getContentById", { as: "client", params: { pageId }, headers: { "Tifo-Device-Id": deviceId, ...headers } });

async function play(pageId: string, deviceId: string, headers: Record<string, string> = {}) {
  const { canIPlayResponse } = (await open(pageId, deviceId, headers)).as(PageContent);
  return { ...canIPlayResponse.contentCheck, ...canIPlayResponse.deviceCheck, error: canIPlayResponse.error?.type ?? null };
}

const internalCtx = () => interruptedContext(site, () => Promise.resolve());

describe("a page's content", () => {
  test("is returned by id and by slug", async () => {
    const response = await open(page, "tv");
    expect(response.as(PageContent)).toMatchObject({
      canIPlayResponse: {
        contentCheck: { access: "full", live: false, offset: 0, previewTimeRemainingSeconds: null, video: null },
        deviceCheck: { accountDevices: {}, accountOverDeviceLimit: false, siteDeviceLimit: 3 },
        error: null,
      },
      channel: (await site.call("getPage", { params: { id: page } })).body,
    });
    const bySlug = await site.call("getContentBySlug", {
      as: "client",
      params: { pageSlug: "main-stage" },
      headers: { "Tifo-Device-Id": "tv" },
    });
    expect(bySlug.body).toEqual(response.body);
  });

  test("returns 404 for an unknown page and for one of another site", async () => {
    const other = (await newSite()).channels[0];
    for (const pageId of [other, newId(1)])
      expect((await open(pageId, "tv")).problem).toMatchObject({ status: 404, message: "Page not found" });
    const headers = { "Tifo-Device-Id": "tv" };
    expect((await site.call("getContentBySlug", { as: "client", params: { pageSlug: "nowhere" }, headers })).status).toBe(404);
  });

  test.for([undefined, "", "living room"])("rejects an invalid device id: %s", async (deviceId) => {
    const headers: Record<string, string> = deviceId === undefined ? {} : { "Tifo-Device-Id": deviceId };
    const response = await site.call("getContentById", { as: "client", params: { pageId: page }, headers });
    expect(response.problem).toMatchObject({ status: 400, code: "invalid_request" });
    expect(response.problem?.message).toContain("Tifo-Device-Id");
  });

  test("takes one round trip for a signed-in viewer, and two when the device takes its slot", async () => {
    const { headers } = await newViewer();
    const trips: number[] = [];
    for (let call = 0; call < 2; call++) trips.push((await open(page, "tv", headers)).log.d1.roundTrips);
    expect(trips).toEqual([2, 1]);
  });

  test("returns 401 for a revoked token", async () => {
    const { headers } = await newViewer();
    await site.call("logout", { as: "client", headers });
    expect((await open(page, "tv", headers)).status).toBe(401);
  });
});

describe("a gate", () => {
  test("admits a viewer with the entitlement, and names what is missing otherwise", async () => {
    const gated = await site.addChannel(`gated-${randomHex(5)}`, { gate });
    const viewer = await newViewer();
    expect(await play(gated, "tv")).toMatchObject({
      access: "preview_over",
      error: "sign_in_required",
      userHasChannelGateEntitlement: false,
    });
    const rejected = (await open(gated, "tv", viewer.headers)).as(PageContent).canIPlayResponse.error;
    expect(rejected).toEqual({ type: "no_entitlement", message: "The account lacks an entitlement of season-pass" });
    await grantEntitlement(internalCtx(), { accountId: viewer.id, sku: "season-pass", grantedMethod: "customerService" });
    expect(await play(gated, "tv", viewer.headers)).toMatchObject({ access: "full", error: null, userHasChannelGateEntitlement: true });
    await db
      .update(accountEntitlements)
      .set({ status: "cancelScheduled", dateEnds: Date.now() })
      .where(eq(accountEntitlements.accountId, viewer.id));
    expect(await play(gated, "tv", viewer.headers)).toMatchObject({ error: "no_entitlement", userHasChannelGateEntitlement: false });
  });

  test("admits managers of the page", async () => {
    const gated = await site.addChannel(`gated-${randomHex(5)}`, { gate });
    expect(await play(gated, "desk", await site.headersOf("reader"))).toMatchObject({ access: "full" });
    expect(await play(gated, "desk", await site.headersOf("creator"))).toMatchObject({ error: "no_entitlement" });
  });

  test("of login codes admits the account that has redeemed one", async () => {
    const gated = await site.addChannel(`press-${randomHex(5)}`, { gate: { type: "login", skus: ["press"] } });
    const viewer = await newViewer();
    expect(await play(gated, "tv", viewer.headers)).toMatchObject({ error: "no_entitlement" });
    await db
      .insert(accessCodes)
      .values({ ...stamps(), accessCode: randomHex(5), sku: "press", type: "login", tags: [], accountId: viewer.id, consumedAt: 1 });
    expect(await play(gated, "tv", viewer.headers)).toMatchObject({ access: "full" });
  });

  test("admits the account that redeems a magic link for its sku", async () => {
    const gated = await site.addChannel(`invited-${randomHex(5)}`, { gate: { type: "entitlement", skus: ["vip"] } });
    const viewer = await newViewer();
    await addSkus(site, "vip");
    const created = await site.call("createInvite", {
      body: { targetSkus: ["vip"], redirectUri: "https://demo.example/welcome", siteId: site.id },
    });
    const { token } = z.object({ token: z.string() }).parse(created.body);
    const opened = await site.call("openInvite", { as: "nobody", params: { token } });
    const intent = new URL(opened.headers.get("Location") ?? "").searchParams.get("intent") ?? "";
    const redeemed = await site.call("consumeIntent", { as: "client", params: { token: intent } });
    const { jwt } = z.object({ jwt: z.string() }).parse(redeemed.body);
    expect(await play(gated, "tv", { Authorization: `Bearer ${jwt}` })).toMatchObject({ access: "full" });
    expect(await play(gated, "tv", viewer.headers)).toMatchObject({ error: "no_entitlement" });
  });
});

describe("regions and schedule", () => {
  test("deny other countries and other times", async () => {
    const now = Date.now();
    const british = await site.addChannel(`british-${randomHex(5)}`, { regions: ["GB"] });
    expect(await play(british, "tv", { "CF-IPCountry": "GB" })).toMatchObject({ access: "full" });
    expect(await play(british, "tv", { "CF-IPCountry": "FR" })).toMatchObject({ error: "region" });
    for (const [start, end, expected] of [
      [1, 2, { error: "not_started", live: false }],
      [-2, -1, { error: "ended", live: false, offset: 0 }],
      [-1, 1, { error: null, live: true }],
    ] as const) {
      const schedule = { startTimestamp: now + start * 3_600_000, endTimestamp: now + end * 3_600_000 };
      expect(await play(await site.addChannel(`timed-${randomHex(5)}`, { schedule }), "tv")).toMatchObject(expected);
    }
  });
});

describe("a preview", () => {
  const START = Date.UTC(2026, 10, 21, 15);
  const viewer = { country: undefined, description: "" };

  /** A page with one gate sku per number of preview seconds. */
  async function newPreview(...seconds: number[]): Promise<string> {
    const skus = seconds.map((_, index) => `pass-${index}-${randomHex(4)}`);
    const bare = { subscriptionProvider: "external" as const, recurrence: "once" as const, prices: [], tags: [] };
    const rows = skus.map((sku, index) => ({ ...stamps(), ...bare, sku, name: sku, previewDurationSeconds: seconds[index] ?? 0 }));
    await db.insert(subscriptions).values(rows);
    return site.addChannel(`preview-${randomHex(5)}`, { gate: { type: "entitlement", skus } });
  }

  /** The preview seconds that remain at a request this many seconds after the start. */
  async function leftAt(seconds: number, pageId: string, who: Partial<Ctx>): Promise<number | string | null> {
    const { verdict } = await getContent({ ...internalCtx(), now: START + seconds * 1000, ...who }, { id: pageId }, viewer);
    return verdict.error?.type ?? verdict.previewTimeRemainingSeconds;
  }

  test("lasts as long as the longest that the gate's subscriptions allow", async () => {
    expect(await play(await newPreview(60, 120), "tv")).toMatchObject({ access: "preview", previewTimeRemainingSeconds: 120, error: null });
  });

  test("is used up by the time between two requests, separately per device", async () => {
    const pageId = await newPreview(60);
    const [tv, phone] = [{ deviceId: "tv" }, { deviceId: "phone" }];
    const left: unknown[] = [];
    for (const at of [0, 30, 30.6, 45.2, 59.9, 60, 90, 500]) left.push(await leftAt(at, pageId, tv));
    expect(left).toEqual([60, 30, 30, 15, 1, "preview_over", "preview_over", "preview_over"]);
    expect(await leftAt(90, pageId, phone)).toBe(60);
  });

  test.for([
    ["a viewer who rarely sends requests", [0, 91, 182, 273, 364], [300, 210, 120, 30, "preview_over"]],
    ["a viewer who returns after an hour", [0, 10, 3600, 3620], [300, 290, 200, 180]],
  ] as const)("loses 90 seconds for each longer gap: %s", async ([, moments, expected]) => {
    const pageId = await newPreview(300);
    const left: unknown[] = [];
    for (const at of moments) left.push(await leftAt(at, pageId, { deviceId: "tv" }));
    expect(left).toEqual(expected);
  });

  test("is reset after 90 days without watching", async () => {
    const pageId = await newPreview(60);
    const DAY = 86_400_000;
    await leftAt(0, pageId, { deviceId: "tv" });
    expect(await leftAt(60, pageId, { deviceId: "tv" })).toBe("preview_over");
    await pruneWatchTime({ db, now: START + 60_000 + 90 * DAY });
    expect(await leftAt(0, pageId, { deviceId: "tv" })).toBe("preview_over");
    await pruneWatchTime({ db, now: START + 60_001 + 90 * DAY });
    expect(await leftAt(0, pageId, { deviceId: "tv" })).toBe(60);
  });

  test("is shared by all devices of an account", async () => {
    const pageId = await newPreview(60);
    const { id } = await newViewer();
    const on = (deviceId: string): Partial<Ctx> => ({
      deviceId,
      claimedAccountId: id,
      caller: () => Promise.resolve({ kind: "account", id, sessionId: "", roles: [], tags: [] }),
    });
    expect([await leftAt(0, pageId, on("tv")), await leftAt(40, pageId, on("phone"))]).toEqual([60, 20]);
    expect(await leftAt(60, pageId, on("tv"))).toBe("preview_over");
  });

  test("with a new device takes a signed-in viewer two round trips", async () => {
    const { headers } = await newViewer();
    const response = await open(await newPreview(60), "tv", headers);
    expect(response.as(PageContent).canIPlayResponse.deviceCheck.accountDevices).toHaveProperty("tv");
    expect(response.log.d1.roundTrips).toBe(2);
  });
});

describe("a programme's video", () => {
  async function newVideo(title: string, skus: string[] = []): Promise<string> {
    await addSkus(site, ...skus);
    const body = {
      title,
      durationSeconds: 60,
      player: "file",
      type: "vod",
      url: "https://vod.demo.example/goals.m3u8",
      subscriptions: skus,
    };
    return (await site.call("createVideo", { body })).as(Video)._id;
  }

  test("is the live one while the page is live, and the offline one otherwise", async () => {
    const content = { live: { video_id: await newVideo("Match") }, offline: { video_id: await newVideo("Highlights") } };
    const hour = 3_600_000;
    const schedule = { startTimestamp: Date.now() - hour, endTimestamp: Date.now() + hour };
    const [on, off] = [
      await site.addChannel(`on-${randomHex(5)}`, { content, schedule }),
      await site.addChannel(`off-${randomHex(5)}`, { content }),
    ];
    expect((await play(on, "tv")).video).toMatchObject({ title: "Match", player: "file", type: "vod" });
    expect((await play(off, "tv")).video).toMatchObject({ title: "Highlights" });
  });

  test("can require its own skus, in addition to the page's gate", async () => {
    const content = { offline: { video_id: await newVideo("Replay", ["replays"]) } };
    const pageId = await site.addChannel(`replay-${randomHex(5)}`, { content });
    const viewer = await newViewer();
    expect(await play(pageId, "tv", viewer.headers)).toMatchObject({
      error: "no_entitlement",
      userHasChannelGateEntitlement: true,
      userHasVideoEntitlement: false,
      video: null,
    });
    await grantEntitlement(internalCtx(), { accountId: viewer.id, sku: "replays", grantedMethod: "customerService" });
    expect(await play(pageId, "tv", viewer.headers)).toMatchObject({ access: "full", video: { title: "Replay" } });
  });

  test("is not available through the preview of a gate that the viewer already passes", async () => {
    const bare = { subscriptionProvider: "external" as const, recurrence: "once" as const, prices: [], tags: [] };
    await db.insert(subscriptions).values({ ...stamps(), ...bare, sku: "season", name: "Season", previewDurationSeconds: 600 });
    const content = { offline: { video_id: await newVideo("Fight night", ["ppv"]) } };
    const pageId = await site.addChannel(`paid-twice-${randomHex(5)}`, { gate: { type: "entitlement", skus: ["season"] }, content });
    const viewer = await newViewer();
    const rejected = { access: "preview_over", error: "no_entitlement", video: null };
    expect(await play(pageId, "tv", viewer.headers)).toMatchObject(rejected);
    await grantEntitlement(internalCtx(), { accountId: viewer.id, sku: "season", grantedMethod: "customerService" });
    expect(await play(pageId, "tv", viewer.headers)).toMatchObject({ ...rejected, userHasChannelGateEntitlement: true });
  });
});

describe("a stream", () => {
  test("that is live is the video for viewers who may play", async () => {
    const gated = await site.addChannel(`streamed-${randomHex(5)}`, { gate: { type: "login", skus: [] } });
    await db.insert(streamProviders).values({
      ...stamps(),
      name: "encoder",
      canGenerateCaptions: false,
      canSupport4K: false,
      createStream: "",
      deleteStream: "",
      startStream: "",
      stopStream: "",
      authorizationSealed: "",
      authorizationHash: randomHex(8),
    });
    const stream = {
      ...{ provider: "encoder", providerStreamId: "", ingestUrl: "", streamKeySealed: "", tags: [], channelId: gated },
      playbackUrl: "https://demo.example/live.m3u8",
    };
    await db.insert(streams).values({ ...stamps(), ...stream, title: "Rehearsal", isLive: false });
    const viewer = await newViewer();
    expect(await play(gated, "tv", viewer.headers)).toMatchObject({ live: false, video: null });
    await db.insert(streams).values({ ...stamps(), ...stream, title: "Derby", isLive: true, liveSince: Date.now() - 61_000, created: 0 });
    const on = await play(gated, "tv", viewer.headers);
    expect(on).toMatchObject({ live: true, video: { title: "Derby", player: "tifo", type: "livestream", url: stream.playbackUrl } });
    expect(on.offset).toBeGreaterThanOrEqual(61);
    expect(await play(gated, "tv")).toMatchObject({ live: true, video: null, error: "sign_in_required" });
  });
});

describe("devices", () => {
  test("take as many slots as the site allows, even with concurrent requests", async () => {
    const { headers } = await newViewer();
    const names = Array.from({ length: 8 }, (_, index) => `screen-${index}`);
    const responses = await Promise.all(names.map((name) => play(page, name, headers)));
    expect(responses.filter(({ error }) => error === null).length).toBe(3);
    expect(new Set(responses.filter(({ error }) => error !== null).map(({ error }) => error))).toEqual(new Set(["device_limit"]));
    const late = await play(page, "one-more", headers);
    expect(late).toMatchObject({ access: "preview_over", accountOverDeviceLimit: true, siteDeviceLimit: 3, video: null });
    expect(Object.keys(late.accountDevices).length).toBe(3);
  });

  test("take one slot each, however many requests they send", async () => {
    const { headers } = await newViewer();
    const responses = await Promise.all(Array.from({ length: 5 }, () => play(page, "tv", { ...headers, "User-Agent": "Tifo TV 2.1" })));
    expect(responses.map(({ error, accountDevices }) => ({ error, accountDevices }))).toEqual(
      responses.map(() => ({ error: null, accountDevices: { tv: "Tifo TV 2.1" } })),
    );
  });

  test("take no slot if playback is denied, nor without an account", async () => {
    const { headers } = await newViewer();
    const gated = await site.addChannel(`gated-${randomHex(5)}`, { gate });
    expect(await play(gated, "tv", headers)).toMatchObject({ error: "no_entitlement", accountDevices: {} });
    for (const device of ["a", "b", "c", "d"]) expect(await play(page, device)).toMatchObject({ error: null });
    expect((await play(page, "tv", headers)).accountDevices).toHaveProperty("tv");
  });

  test("can be listed and freed by their own account only", async () => {
    const [own, other] = [await newViewer(), await newViewer()];
    for (const device of ["a", "b", "c"]) await play(page, device, own.headers);
    const list = async (headers: Record<string, string>) =>
      (await site.call("listDevices", { as: "client", headers })).as(DeviceList).results.map(({ deviceId }) => deviceId);
    expect(await list(own.headers)).toEqual(["a", "b", "c"]);
    expect(await list(other.headers)).toEqual([]);
    const free = (headers: Record<string, string>) => site.call("freeDevice", { as: "client", params: { deviceId: "b" }, headers });
    expect((await free(other.headers)).problem).toMatchObject({ status: 404, message: "Device not found" });
    expect(await play(page, "d", own.headers)).toMatchObject({ error: "device_limit" });
    expect((await Promise.all([free(own.headers), free(own.headers)])).map(({ status }) => status).sort()).toEqual([204, 404]);
    expect(await play(page, "d", own.headers)).toMatchObject({ error: null });
    expect(await list(own.headers)).toEqual(["a", "c", "d"]);
  });

  test("that came first keep their slots if the limit is lowered", async () => {
    const small = await newSite();
    const { headers } = await newViewer(small);
    const errorOn = async (device: string) =>
      (await open(small.channels[0], device, headers, small)).as(PageContent).canIPlayResponse.error?.type ?? null;
    for (const device of ["a", "b", "c"]) expect(await errorOn(device)).toBeNull();
    await db.update(sites).set({ deviceLimit: 2 }).where(eq(sites.id, small.id));
    expect([await errorOn("a"), await errorOn("b"), await errorOn("c")]).toEqual([null, null, "device_limit"]);
  });

  test("are deleted with their account", async () => {
    const viewer = await newViewer();
    await play(page, "tv", viewer.headers);
    await batchAll(db, [recordWatching(internalCtx(), page, `account:${viewer.id}`)]);
    await site.call("deleteAccount", { params: { id: viewer.id } });
    for (const [table, column] of [
      ["devices", "account_id = ?"],
      ["watch_time", "viewer = 'account:' || ?"],
    ]) {
      const left = await siteStore.prepare(`select count(*) as rows from ${table} where ${column}`).bind(viewer.id).first("rows");
      expect(left).toBe(0);
    }
  });
});
