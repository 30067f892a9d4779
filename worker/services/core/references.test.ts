import { eq } from "drizzle-orm";
import { beforeAll, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { subscriptions } from "#db/schema/commerce/subscriptions.ts";
import { dataProviders } from "#db/schema/data-providers.ts";
import { media } from "#db/schema/media.ts";
import { overlays } from "#db/schema/overlays.ts";
import { pages } from "#db/schema/pages.ts";
import { validCall } from "#test/contract-requests.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { interruptedContext } from "#test/interrupted-context.ts";
import { operationOf } from "#test/openapi.ts";
import { addFile, addSkus } from "#test/files-and-skus.ts";
import { addResource } from "#test/resources.ts";
import { workingProvider } from "#test/streams.ts";
import { newId } from "#worker/lib/ids.ts";
import { createRule } from "#worker/services/automation-rules/automation-rules.ts";
import { RuleInput } from "#worker/services/automation-rules/schemas.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { createCalendarEvent } from "#worker/services/events/calendar.ts";
import { createNavigation } from "#worker/services/navigation/navigation.ts";
import { Overlay } from "#worker/services/overlays/schemas.ts";
import { createStream } from "#worker/services/streams/streams.ts";
import { Video } from "#worker/services/videos/schemas.ts";
import { updateVideo } from "#worker/services/videos/videos.ts";
import { siteStore } from "#test/site-store.ts";

const db = createDb(siteStore);
let site: TestSite;
let other: TestSite;

beforeAll(async () => {
  site = await newSite();
  other = await newSite();
  await addSkus(other, "theirs");
});

const NOWHERE = newId(1);
const html = { kind: "html", html: "<b>Goal!</b>", position: "center" };
const page = (data: Record<string, unknown>) => ({ type: "channel", slug: newId(1), data: { name: "Main stage", ...data } });
const panel = (renderer: Record<string, unknown>) => ({ siteId: site.id, renderer: { panel_name: "Panel", ...renderer } });
const schedule = (fields: Record<string, unknown>) => panel({ panel_type: "schedule", schedule_type_renderer: fields });
const overlay = (fields: Record<string, unknown>) => ({ ...fields, contents: fields.contents ?? [html] });
const template = (fields: Record<string, unknown>) => ({ panels: [], rules: [], ...fields });
const templatePanel = { collection: "panels", type: "panel", creator: "ada", owner: "ada", slug: "nowhere" };

/** Bodies with a reference that doesn't exist, and the path that the 400 names. */
const CASES: [operationId: string, path: string, body: () => Record<string, unknown>][] = [
  ["createBundle", "items.0.id", () => ({ items: [{ type: "ticket", id: "theirs" }] })],
  ["createAccessCodes", "sku", () => ({ sku: "theirs" })],
  ["createInvite", "targetSkus.0", () => ({ targetSkus: ["theirs"] })],
  ["updateInvite", "targetSkus.0", () => ({ targetSkus: ["theirs"] })],
  ["createPage", "data.gate.skus.0", () => page({ gate: { type: "entitlement", skus: ["theirs"] } })],
  ["updatePage", "data.gate.skus.0", () => ({ ...page({ gate: { type: "entitlement", skus: ["theirs"] } }), type: undefined })],
  ["createPage", "data.theme", () => page({ theme: NOWHERE })],
  ["createPage", "data.navigation", () => page({ navigation: NOWHERE })],
  ["createPage", "data.sidebar.panels.0", () => page({ sidebar: { panels: [NOWHERE] } })],
  ["createPage", "data.content.live.video_id", () => page({ content: { live: { video_id: NOWHERE } } })],
  ["createOverlay", "contents.0.mediaId", () => overlay({ contents: [{ kind: "rive", mediaId: NOWHERE, fileName: "goal.riv" }] })],
  ["updateOverlay", "contents.0.mediaId", () => overlay({ contents: [{ kind: "rive", mediaId: NOWHERE, fileName: "goal.riv" }] })],
  ["createOverlay", "contents.0.channels.0", () => overlay({ contents: [{ ...html, channels: [NOWHERE] }] })],
  ["createOverlay", "contents.0.templateId", () => overlay({ contents: [{ ...html, templateId: NOWHERE }] })],
  ["createOverlay", "cta.data.channelId", () => overlay({ cta: { type: "go_to_channel", data: { channelId: NOWHERE } } })],
  ["createOverlay", "cta.data.videoId", () => overlay({ cta: { type: "play_video", data: { videoId: NOWHERE } } })],
  ["createOverlay", "cta.data.panelId", () => overlay({ cta: { type: "show_panel", data: { panelId: NOWHERE } } })],
  ["createPlaylist", "members.0.id", () => ({ members: [{ id: NOWHERE, schema: "video" }] })],
  ["updatePlaylist", "members.0.id", () => ({ members: [{ id: NOWHERE, schema: "poll" }] })],
  ["createPanel", "renderer.playlist_id", () => panel({ panel_type: "playlist", playlist_id: NOWHERE })],
  ["replacePanel", "renderer.playlist_id", () => panel({ panel_type: "playlist", playlist_id: NOWHERE })],
  [
    "createPanel",
    "renderer.behavior.pages.0",
    () => panel({ panel_type: "channel_select", behavior: { kind: "manual", pages: [NOWHERE] } }),
  ],
  [
    "createPanel",
    "renderer.schedule_type_renderer.source_channels.0",
    () => schedule({ schedule_type: "calendar", source_channels: [NOWHERE] }),
  ],
  ["createChannelTemplate", "theme", () => template({ theme: NOWHERE })],
  ["createChannelTemplate", "rules.0", () => template({ rules: [NOWHERE] })],
  ["createChannelTemplate", "panels.0.slug", () => template({ panels: [{ ...templatePanel, site_id: site.id }] })],
  ["updateChannelTemplate", "rules.0", () => template({ rules: [NOWHERE] })],
  ["createQuest", "channelIds.0", () => ({ channelIds: [NOWHERE] })],
  ["createVideo", "subscriptions.0", () => ({ subscriptions: ["theirs"] })],
  ["createVod", "subscriptions.0", () => ({ subscriptions: ["theirs"] })],
  ["updateVideo", "subscriptions.0", () => ({ subscriptions: ["theirs"] })],
];

test.for(CASES)("%s rejects an unknown reference at %s", async ([operationId, path, body]) => {
  const call = await validCall(site, operationOf(operationId));
  const valid = typeof call.body === "object" && call.body !== null ? { ...call.body } : {};
  const response = await site.call(operationId, { ...call, body: { ...valid, ...body() } });
  expect(response).toMatchObject({ status: 400, fields: [path] });
});

test("addAccessCode rejects a sku without a subscription", async () => {
  const query = { accessCode: "NOWHERE", siteId: site.id, sku: "theirs", type: "login" };
  expect(await site.call("addAccessCode", { query })).toMatchObject({ status: 400, fields: ["sku"] });
});

test("a reference to another site's resource, or to another kind, is rejected", async () => {
  const theirs = { kind: "rive", mediaId: await addFile(other), fileName: "goal.riv" };
  const nothing = { kind: "rive", mediaId: await addResource(site, "panel"), fileName: "goal.riv" };
  const call = await validCall(site, operationOf("createOverlay"));
  for (const content of [theirs, nothing]) {
    const response = await site.call("createOverlay", { ...call, body: Object.assign({}, call.body, { contents: [content] }) });
    expect(response).toMatchObject({ status: 400, fields: ["contents.0.mediaId"] });
  }
});

test("a resource can still be updated after one of its references is deleted", async () => {
  const mediaId = await addFile(site);
  const contents = [{ kind: "rive", mediaId, fileName: "goal.riv", position: "center" }];
  const body = { name: "Goal", description: "", siteId: site.id, type: "template", duration: 8, contents };
  const { _id: id } = (await site.call("createOverlay", { body })).as(Overlay);
  await db.delete(media).where(eq(media.id, mediaId));
  expect((await site.call("updateOverlay", { params: { id }, body: { ...body, name: "Own goal" } })).status).toBe(200);
});

test("of a file's deletion and a concurrent overlay that references it, one is rejected", async () => {
  const body = { name: "Goal", description: "", siteId: site.id, type: "template", duration: 8 };
  for (let round = 0; round < 5; round++) {
    const mediaId = await addFile(site);
    const contents = [{ kind: "rive", mediaId, fileName: "goal.riv", position: "center" }];
    const [created, deleted] = await Promise.all([
      site.call("createOverlay", { body: { ...body, contents } }),
      site.call("deleteMedia", { params: { id: mediaId } }),
    ]);
    expect([
      [201, 409],
      [400, 200],
    ]).toContainEqual([created.status, deleted.status]);
  }
});

type Write = (ctx: Ctx, on: TestSite) => Promise<unknown>;

const channelOf = (on: TestSite) => on.channels[0];
const deleteChannel = (on: TestSite) => db.delete(pages).where(eq(pages.id, channelOf(on)));
const rule = async (on: TestSite) => RuleInput.parse((await validCall(on, operationOf("createAutomationRule"))).body);
const moment = { startTimestamp: 1, timeZone: "UTC" };

/** What a write names, and that is deleted between its check and the write. */
const RACES: [what: string, write: Write, gone: (on: TestSite) => Promise<unknown>, failure: Record<string, unknown>][] = [
  [
    "a rule's template",
    async (ctx, on) => createRule(ctx, await rule(on)),
    (on) => db.delete(overlays).where(eq(overlays.siteId, on.id)),
    { issues: [{ path: "jsonRule.action.templateId" }] },
  ],
  [
    "a rule's data provider",
    async (ctx, on) => createRule(ctx, await rule(on)),
    (on) => db.delete(dataProviders).where(eq(dataProviders.siteId, on.id)),
    { issues: [{ path: "jsonRule.trigger.dataProviderId" }] },
  ],
  [
    "a navigation's page",
    (ctx, on) => {
      const parents = [{ type: "channel" as const, pageId: channelOf(on), private: false }];
      return createNavigation(ctx, { siteId: on.id, name: "Main", type: "default", parents, externalLinks: [] });
    },
    deleteChannel,
    { issues: [{ path: "parents.0.pageId" }] },
  ],
  [
    "a calendar event's channel",
    (ctx, on) =>
      createCalendarEvent(ctx, {
        titleRaw: "Derby",
        descriptionRaw: "",
        categories: [],
        date: moment,
        siteId: on.id,
        channelId: channelOf(on),
      }),
    deleteChannel,
    // Run again, the request finds no channel: 404.
    { code: "conflict" },
  ],
  [
    "a stream's channel",
    async (ctx, on) => createStream(ctx, { title: "Derby", tags: [], channelId: channelOf(on), provider: await workingProvider(on) }),
    deleteChannel,
    { issues: [{ path: "channelId" }] },
  ],
  [
    "a video's subscription",
    async (ctx, on) => {
      await addSkus(on, "replays");
      const { _id: id } = (await on.call("createVideo", await validCall(on, operationOf("createVideo")))).as(Video);
      return updateVideo(ctx, id, { subscriptions: ["replays"] });
    },
    () => db.delete(subscriptions).where(eq(subscriptions.sku, "replays")),
    { issues: [{ path: "subscriptions.0" }] },
  ],
];

test.for(RACES)("%s that is deleted in the middle of a request leads to nothing being written", async ([, write, gone, failure]) => {
  const own = await newSite();
  const call = write(
    interruptedContext(own, () => gone(own)),
    own,
  );
  await expect(call).rejects.toMatchObject(failure);
});
