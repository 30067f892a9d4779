import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { viewerActivity } from "#db/schema/activity.ts";
import { broadcastCalls } from "#test/broadcasts.ts";
import { addSkus } from "#test/files-and-skus.ts";
import { type Caller, newSite, openSocket, type TestSite, waitForViewerCount } from "#test/harness.ts";
import { segmentLabel } from "#worker/lib/segments.ts";
import { grantEntitlement, revokeEntitlement } from "#worker/services/subscriptions/entitlements.ts";
import { asSystem } from "#worker/services/core/system.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { Configuration } from "#worker/services/pages/configuration-schemas.ts";
import { Panel } from "#worker/services/panels/schemas.ts";
import { Ticket } from "#worker/services/realtime/schemas.ts";
import type { SegmentFilter } from "#worker/services/segments/filter.ts";
import { SegmentSize } from "#worker/services/segments/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
const PanelList = listOf(Panel);

const HOLDERS: SegmentFilter = { attribute: "entitlements", operator: "any_of", value: ["season-pass"] };
const BRAZIL: SegmentFilter = { attribute: "country", operator: "any_of", value: ["BR"] };

async function siteWith(filters: Record<string, SegmentFilter>): Promise<TestSite> {
  const site = await newSite();
  await addSkus(site, "season-pass");
  expect((await save(site, filters)).status).toBe(200);
  return site;
}

function save(site: TestSite, filters: Record<string, SegmentFilter>) {
  const userSegments = Object.fromEntries(Object.entries(filters).map(([slug, filter]) => [slug, { name: slug, filter }]));
  return site.call("updateSite", { body: { name: "Harbour City", settings: { security: {}, userSegments } } });
}

const system = <T>(site: TestSite, work: Parameters<typeof asSystem<T>>[2]) => asSystem({ env, db, now: Date.now() }, site.id, work);
const grant = (site: TestSite) =>
  system(site, (ctx) =>
    grantEntitlement(ctx, { accountId: site.accounts.viewer.id, sku: "season-pass", grantedMethod: "customerService" }),
  );
const revoke = (site: TestSite) =>
  system(site, (ctx) => revokeEntitlement(ctx, { accountId: site.accounts.viewer.id, sku: "season-pass" }));

async function join(site: TestSite, as?: Caller, query = {}, headers: Record<string, string> = {}) {
  const [channelId] = site.channels;
  const ticket = as && (await site.call("createTicket", { as, body: { channelId } })).as(Ticket).ticket;
  const viewer = await openSocket(site, channelId, { ...(ticket && { ticket }), ...query }, headers);
  await viewer.first("welcome");
  return viewer;
}

const { newOverlay, send, active } = broadcastCalls(() => {
  throw new Error("Pass the site");
});

/** Shows an overlay to a segment and then one to everyone; returns the ids of the broadcasts. */
async function showBoth(site: TestSite, segment: string): Promise<{ toSegment: string | undefined; toAll: string | undefined }> {
  const id = await newOverlay({}, site);
  const [channelId] = site.channels;
  const [toSegment] = await send(id, { channelId, segment }, site);
  const [toAll] = await send(id, { channelId }, site);
  return { toSegment: toSegment?.broadcastId, toAll: toAll?.broadcastId };
}

const size = async (site: TestSite, slug: string) => (await site.call("getSegmentSize", { params: { slug } })).as(SegmentSize);

describe("a broadcast to a segment", () => {
  test("reaches its members only, whose frames don't say so", async () => {
    const site = await siteWith({ holders: HOLDERS });
    await grant(site);
    const [member, other, anonymous] = [await join(site, "viewer"), await join(site, "creator"), await join(site)];
    const { toSegment, toAll } = await showBoth(site, "holders");
    const shown = await member.first("overlay.show");
    expect(shown.broadcastId).toBe(toSegment);
    expect(JSON.stringify(shown)).not.toContain("holders");
    for (const viewer of [other, anonymous]) expect((await viewer.first("overlay.show")).broadcastId).toBe(toAll);
    const [channelId] = site.channels;
    expect(await active({ channelId, sortBy: "startsAt" }, site)).toMatchObject([{ segment: "holders", tagId: null }, { segment: null }]);
    const late = await (await join(site, "viewer")).first("welcome");
    expect(late.overlays.map(({ broadcastId }) => broadcastId)).toEqual([toSegment, toAll]);
    expect((await (await join(site)).first("welcome")).overlays.map(({ broadcastId }) => broadcastId)).toEqual([toAll]);
  });

  test("reaches signed-out viewers by their country and language", async () => {
    const site = await siteWith({ brazil: { any: [BRAZIL, { attribute: "language", operator: "any_of", value: ["pt"] }] } });
    const here = await join(site, undefined, {}, { "CF-IPCountry": "BR" });
    const reads = await join(site, undefined, { language: "pt-PT" });
    const other = await join(site, undefined, {}, { "CF-IPCountry": "GB" });
    const { toSegment, toAll } = await showBoth(site, "brazil");
    for (const viewer of [here, reads]) expect((await viewer.first("overlay.show")).broadcastId).toBe(toSegment);
    expect((await other.first("overlay.show")).broadcastId).toBe(toAll);
  });

  test("can't be for an unknown segment, nor also for a tag", async () => {
    const site = await siteWith({ holders: HOLDERS });
    const id = await newOverlay({}, site);
    const call = (body: Record<string, unknown>) => site.call("broadcastOverlay", { params: { id }, body });
    expect(await call({ segment: "unknown" })).toMatchObject({ status: 400, fields: ["segment"] });
    expect(await call({ segment: "holders", tagId: "team:home" })).toMatchObject({ status: 400, fields: ["segment"] });
  });

  test("isn't reached through a tag that looks like the segment's label", async () => {
    const site = await siteWith({ holders: HOLDERS });
    await site.call("setAccountTags", { params: { id: site.accounts.viewer.id }, body: { tags: [segmentLabel("holders")] } });
    const viewer = await join(site, "viewer");
    const { toAll } = await showBoth(site, "holders");
    expect((await viewer.first("overlay.show")).broadcastId).toBe(toAll);
  });
});

describe("an open socket", () => {
  test("enters and leaves a segment when its account gets and loses what the filter asks for", async () => {
    const site = await siteWith({ holders: HOLDERS });
    const viewer = await join(site, "viewer");
    await waitForViewerCount(site, 1);
    expect(await size(site, "holders")).toMatchObject({ accounts: 0, viewers: 0 });
    await grant(site);
    await viewer.first("audience.changed");
    expect(await size(site, "holders")).toMatchObject({ accounts: 1, viewers: 1, channels: [{ _id: site.channels[0], viewers: 1 }] });
    await revoke(site);
    await vi.waitUntil(() => viewer.frames.filter(({ type }) => type === "audience.changed").length === 2);
    expect(await size(site, "holders")).toMatchObject({ accounts: 0, viewers: 0 });
  });

  test("follows a change of the account's tags", async () => {
    const site = await siteWith({ home: { attribute: "tags", operator: "any_of", value: ["team:home"] } });
    const viewer = await join(site, "viewer");
    await waitForViewerCount(site, 1);
    expect(await size(site, "home")).toMatchObject({ viewers: 1 });
    await site.call("setAccountTags", { params: { id: site.accounts.viewer.id }, body: { tags: [] } });
    await viewer.first("audience.changed");
    expect(await size(site, "home")).toMatchObject({ viewers: 0 });
  });

  test("follows a change of the filter, with an account or without one", async () => {
    const site = await siteWith({ brazil: BRAZIL });
    const viewers = [await join(site, "viewer", {}, { "CF-IPCountry": "GB" }), await join(site, undefined, {}, { "CF-IPCountry": "GB" })];
    await waitForViewerCount(site, 2);
    await save(site, { brazil: { attribute: "country", operator: "any_of", value: ["BR", "GB"] } });
    await Promise.all(viewers.map((viewer) => viewer.first("audience.changed")));
    expect(await size(site, "brazil")).toMatchObject({ viewers: 2 });
    await join(site, undefined, {}, { "CF-IPCountry": "GB" });
    expect(await size(site, "brazil")).toMatchObject({ viewers: 3 });
  });

  test("isn't notified of a change of other settings", async () => {
    const site = await siteWith({ brazil: BRAZIL });
    const viewer = await join(site, undefined, {}, { "CF-IPCountry": "BR" });
    await waitForViewerCount(site, 1);
    await site.call("updateSite", {
      body: { name: "New name", settings: { security: {}, userSegments: { brazil: { name: "brazil", filter: BRAZIL } } } },
    });
    const { toSegment } = await showBoth(site, "brazil");
    expect((await viewer.first("overlay.show")).broadcastId).toBe(toSegment);
    expect(viewer.frames.map(({ type }) => type)).not.toContain("audience.changed");
  });

  test("is in a segment by what its account has watched", async () => {
    const site = await siteWith({ regulars: { attribute: "watchMinutes", operator: "at_least", value: 90 } });
    const part = { siteId: site.id, accountId: site.accounts.viewer.id, kind: "watch" as const, channelId: site.channels[0] };
    await db.insert(viewerActivity).values({ ...part, targetId: "match", startMinute: 1, seconds: 5400, firstAt: 1, lastAt: 1 });
    await join(site, "viewer");
    await join(site, "creator");
    await waitForViewerCount(site, 2);
    expect(await size(site, "regulars")).toMatchObject({ accounts: 1, viewers: 1 });
  });
});

describe("a panel for a segment", () => {
  const renderer = { panel_type: "chat", panel_name: "Holders' lounge" };

  async function siteWithPanels() {
    const site = await siteWith({ holders: HOLDERS });
    const create = async (change: Record<string, unknown>) =>
      (await site.call("createPanel", { body: { siteId: site.id, renderer: { ...renderer, ...change } } })).as(Panel)._id;
    const [open, closed] = [await create({ panel_name: "Match chat" }), await create({ segment: "holders" })];
    const [channelId] = site.channels;
    const data = { name: "Main stage", sidebar: { panels: [closed, open] } };
    expect((await site.call("updatePage", { params: { id: channelId }, body: { slug: "main-stage", data } })).status).toBe(200);
    return { site, open, closed, channelId };
  }

  test("is in the responses for its members, and in none for others", async () => {
    const { site, open, closed, channelId } = await siteWithPanels();
    const configured = async (as: Caller) => site.call("getConfiguration", { as, params: { pageId: channelId } });
    const panelsOf = async (as: Caller) => (await configured(as)).as(Configuration).panels.map(({ _id }) => _id);
    const listed = async (as: Caller, query = {}) => (await site.call("listPanels", { as, query })).as(PanelList);
    const read = (as: Caller) => site.call("getPanel", { as, params: { id: closed } });

    for (const as of ["client", "viewer", "creator"] as const) {
      expect(await panelsOf(as)).toEqual([open]);
      expect((await configured(as)).text).not.toContain("lounge");
    }
    expect((await listed("viewer")).results.map(({ _id }) => _id)).toEqual([open]);
    expect((await listed("viewer", { search: "lounge" })).pagination.totalCount).toBe(0);
    expect((await listed("viewer", { search: "lounge", limit: 1, offset: 1 })).pagination.totalCount).toBe(0);
    expect((await listed("viewer", { panel_name: "Holders' lounge" })).pagination.totalCount).toBe(0);
    expect((await read("viewer")).status).toBe(404);
    expect((await read("admin")).as(Panel).renderer.segment).toBe("holders");

    await grant(site);
    expect(await panelsOf("viewer")).toEqual([closed, open]);
    expect((await configured("viewer")).text).not.toContain('"segment"');
    expect((await listed("viewer")).results).toHaveLength(2);
    expect((await read("viewer")).as(Panel).renderer.segment).toBeUndefined();
    expect(await panelsOf("client")).toEqual([open]);
  });
});
