import { beforeAll, expect, test } from "vitest";
import { type ApiResponse, newSite, type TestSite } from "#test/harness.ts";
import { PLAYLIST_HOST, servePlaylist } from "#test/playlists.ts";
import { newDataProvider, newRule, newTemplate, type RuleChange, ruleOf, signatureOf } from "#test/providers.ts";
import { registerProvider } from "#test/streams.ts";
import { randomHex } from "#worker/lib/ids.ts";
import { RuleWithLog } from "#worker/services/automation-rules/schemas.ts";
import { Leaderboard } from "#worker/services/leaderboards/schemas.ts";
import { Navigation } from "#worker/services/navigation/schemas.ts";
import { SiteAsRead } from "#worker/services/sites/schemas.ts";
import { ProviderMapping } from "#worker/services/stats/schemas.ts";
import { Subscription } from "#worker/services/subscriptions/schemas.ts";

// What a resource references may be deleted. The resource can still be changed then: what GET returns is valid in a PUT.

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

/** A resource that references something else. */
interface Referring {
  /** Reads it, and sends back what was read. */
  sendBack: () => Promise<ApiResponse>;
  /** Adds the reference to a resource that doesn't have it. */
  add: () => Promise<ApiResponse>;
}

type Case = Referring & { remove: () => Promise<ApiResponse> };

async function ruleWith(template: string, change: RuleChange = {}): Promise<Referring> {
  const body = ruleOf(site, await newDataProvider(site), template, change);
  const id = await newRule(site, body);
  const sendBack = async () => {
    const { jsonRule, channelId } = (await site.call("getAutomationRule", { params: { id } })).as(RuleWithLog);
    return site.call("updateAutomationRule", { params: { id }, body: { name: "Renamed", jsonRule, channelId, active: false } });
  };
  return { sendBack, add: () => site.call("createAutomationRule", { body }) };
}

async function templateOfRule(): Promise<Case> {
  const template = await newTemplate(site);
  return { ...(await ruleWith(template)), remove: () => site.call("deleteOverlay", { params: { id: template } }) };
}

async function channelOfRule(): Promise<Case> {
  const { id, remove } = await newChannel();
  const targeting = { scope: "specific_channels", target: { type: "static", value: [site.channels[0], id] } };
  return { ...(await ruleWith(await newTemplate(site), { targeting })), remove };
}

async function newChannel() {
  const id = await site.addChannel(`channel-${randomHex(4)}`);
  return { id, remove: () => site.call("deletePage", { params: { id } }) };
}

async function pageOfNavigation(): Promise<Case> {
  const { id: pageId, remove } = await newChannel();
  const parents = [{ type: "folder", name: "Live", private: false, children: [{ type: "channel", pageId, private: false }] }];
  const add = () => site.call("createNavigation", { body: { siteId: site.id, name: "Menu", type: "custom", parents, externalLinks: [] } });
  const id = (await add()).as(Navigation)._id;
  const sendBack = async () => {
    const read = (await site.call("getNavigation", { params: { id }, as: "developer" })).as(Navigation);
    const { siteId, type, externalLinks } = read;
    const body = { siteId, name: "Renamed", type, parents: read.parents, externalLinks };
    return site.call("updateNavigation", { params: { id }, body });
  };
  return { add, sendBack, remove };
}

async function channelOfMapping(): Promise<Case> {
  const { id: channelId, remove } = await newChannel();
  const entity = { channelId, each: "players", entityType: "player", id: "id", name: "name", facts: { goals: "goals" } };
  const mapped = async () => ({ providerId: (await newDataProvider(site)).id });
  const save = (params: { providerId: string }, body: unknown) => site.call("setStatMapping", { params, body });
  const params = await mapped();
  expect((await save(params, { entities: [entity], keyPlays: [] })).status).toBe(200);
  const sendBack = async () => {
    const { mapping } = (await site.call("getStatMapping", { params })).as(ProviderMapping);
    expect(mapping).toMatchObject({ entities: [entity] });
    return save(params, mapping);
  };
  return { sendBack, add: async () => save(await mapped(), { entities: [entity], keyPlays: [] }), remove };
}

async function siteWith(settings: Record<string, unknown>): Promise<Referring> {
  const save = (on: TestSite, body: unknown) => on.call("updateSite", { body });
  const body = { name: "Harbour City", settings: { security: {}, ...settings } };
  expect((await save(site, body)).status).toBe(200);
  const sendBack = async () => {
    const read = (await site.call("getSite", { as: "admin" })).as(SiteAsRead);
    expect(read.settings).toMatchObject(settings);
    return save(site, { name: "Renamed", settings: read.settings });
  };
  const add = async () => {
    await save(site, { name: "Harbour City", settings: { security: {} } });
    return save(site, body);
  };
  return { sendBack, add };
}

const segments = (filter: unknown) => ({ userSegments: { fans: { name: "Fans", filter } } });

async function skuOfSegment(): Promise<Case> {
  const sku = `cup-${randomHex(5)}`;
  const body = { siteId: site.id, name: "Cup pass", sku, subscriptionProvider: "external" };
  const id = (await site.call("createSubscription", { body })).as(Subscription)._id;
  const referring = await siteWith(segments({ attribute: "entitlements", operator: "any_of", value: [sku] }));
  return { ...referring, remove: () => site.call("deleteSubscription", { params: { id } }) };
}

async function leaderboardOfSegment(): Promise<Case> {
  const body = { name: "Season", period: "all", channelIds: [], rules: [{ on: "poll.answered", points: 1 }] };
  const id = (await site.call("createLeaderboard", { body })).as(Leaderboard)._id;
  const referring = await siteWith(segments({ attribute: "points", operator: "at_least", value: 5, leaderboardId: id }));
  return { ...referring, remove: () => site.call("deleteLeaderboard", { params: { id } }) };
}

async function providerOfCues(): Promise<Case> {
  const { id, secret } = await newDataProvider(site);
  const src = servePlaylist(`https://${PLAYLIST_HOST}/${randomHex(6)}.m3u8`, "#EXTM3U\n");
  const referring = await siteWith({ manifest: { hosts: [PLAYLIST_HOST], cues: [{ src, dataProviderId: id }] } });
  const remove = async () =>
    site.call("deleteDataProvider", { as: "client", params: { id }, headers: await signatureOf(secret, id, null) });
  return { ...referring, remove };
}

async function defaultStreamProvider(): Promise<Case> {
  const { id } = await registerProvider(site, "wowza");
  const referring = await siteWith({ streamProvider: "wowza" });
  return { ...referring, remove: () => site.call("removeStreamProvider", { params: { id } }) };
}

test.for([
  ["template of a rule", templateOfRule],
  ["channel of a rule", channelOfRule],
  ["page of a navigation", pageOfNavigation],
  ["channel of a mapping", channelOfMapping],
  ["SKU of a segment", skuOfSegment],
  ["leaderboard of a segment", leaderboardOfSegment],
  ["data provider of cues", providerOfCues],
  ["default stream provider of a site", defaultStreamProvider],
] as const)("a deleted %s may stay, but not be added", async ([, prepare]) => {
  const { remove, sendBack, add } = await prepare();
  expect((await remove()).status).toBeLessThan(300);
  const kept = await sendBack();
  expect([kept.status, kept.problem]).toEqual([200, undefined]);
  expect((await add()).problem?.code).toBe("invalid_request");
});
