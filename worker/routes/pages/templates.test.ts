import { beforeAll, describe, expect, test } from "vitest";
import { newSite, type TestSite } from "#test/harness.ts";
import { addResource } from "#test/resources.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { Panel } from "#worker/services/panels/schemas.ts";
import { Theme } from "#worker/services/themes/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Configuration } from "#worker/services/pages/configuration-schemas.ts";
import { Page } from "#worker/services/pages/schemas.ts";
import { ChannelTemplate, ChannelTemplateList } from "#worker/services/pages/template-schemas.ts";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

function bodyOf(change: Record<string, unknown> = {}, on = site) {
  return {
    title: "Match day",
    siteId: on.id,
    creator: on.accounts.admin.id,
    owner: on.accounts.admin.id,
    panels: [],
    rules: [],
    ...change,
  };
}

function panelOf(slug: string, change: Record<string, unknown> = {}) {
  return { collection: "panels", type: "panel", creator: "ada", owner: "ada", site_id: site.id, slug, ...change };
}

const create = (change: Record<string, unknown> = {}, on = site) => on.call("createChannelTemplate", { body: bodyOf(change, on) });
const archive = (templateId: string) => site.call("archiveChannelTemplate", { params: { templateId } });
const newPage = (templateId: string, data: Record<string, unknown> = {}) =>
  site.call("createPage", { body: { type: "channel", slug: `made-${randomHex(5)}`, templateId, data: { name: "Second half", ...data } } });
const newTheme = async () => (await site.call("createCustomTheme", { body: { name: "Floodlight", colors: {} } })).as(Theme)._id;

describe("a channel template", () => {
  test("is returned as created, and can be replaced and read", async () => {
    const renderer = { panel_type: "twitch_chat", panel_name: "Chat", channel: "harbourcity" };
    const panels = [panelOf("chat", { renderer })];
    const created = (await create({ icon: "whistle", description: "Chat beside the video", panels })).as(ChannelTemplate);
    expect(created).toMatchObject({ ...bodyOf({ icon: "whistle", panels }), theme: null, archived: false });
    const params = { templateId: created._id };
    const changed = (await site.call("updateChannelTemplate", { params, body: bodyOf({ title: "Cup night" }) })).as(ChannelTemplate);
    expect(changed).toMatchObject({
      _id: created._id,
      title: "Cup night",
      description: "",
      icon: null,
      panels: [],
      created: created.created,
    });
    expect((await site.call("getChannelTemplate", { params })).body).toEqual(changed);
  });

  test.for<[field: string, change: Record<string, unknown>, panel?: Record<string, unknown>]>([
    ["title", { title: "x".repeat(101) }],
    ["title", { title: undefined }],
    ["description", { description: "x".repeat(251) }],
    ["siteId", { siteId: newId(1) }],
    ["siteId", { siteId: undefined }],
    ["creator", { creator: undefined }],
    ["owner", { owner: undefined }],
    ["panels", { panels: undefined }],
    ["rules", { rules: undefined }],
    ["rules.0", { rules: ["goal"] }],
    ["theme", { theme: newId(1) }],
    ["panels.0.slug", {}, { slug: undefined }],
    ["panels.0.site_id", {}, { site_id: newId(1) }],
    ["panels.0.collection", {}, { collection: "cards" }],
    ["panels.0.renderer.panel_type", {}, { renderer: { panel_type: "hologram", panel_name: "x" } }],
  ])("rejects an invalid %s %#", async ([field, change, panel]) => {
    expect(await create(panel ? { panels: [panelOf("x", panel)] } : change)).toMatchObject({ status: 400, fields: [field] });
  });

  test("accepts titles of 100 and descriptions of 250 characters", async () => {
    expect((await create({ title: "x".repeat(100), description: "x".repeat(250) })).status).toBe(201);
  });

  test("requires write permission to create", async () => {
    expect((await site.call("createChannelTemplate", { as: "reader", body: bodyOf() })).status).toBe(403);
    expect((await site.call("listChannelTemplates", { as: "reader" })).status).toBe(200);
    expect((await site.call("listChannelTemplates", { as: "viewer" })).status).toBe(403);
  });

  test("is archived once, and can still be read", async () => {
    const { _id } = (await create()).as(ChannelTemplate);
    expect((await Promise.all([archive(_id), archive(_id)])).map(({ body }) => body).sort()).toEqual([false, true]);
    expect((await archive(_id)).body).toBe(false);
    expect((await site.call("getChannelTemplate", { params: { templateId: _id } })).body).toMatchObject({ archived: true });
    expect(await newPage(_id)).toMatchObject({ status: 400, fields: ["templateId"] });
  });

  test("is listed with the archived ones, marked as archived, and restored by PUT", async () => {
    const own = await newSite();
    const { _id } = (await create({}, own)).as(ChannelTemplate);
    const params = { templateId: _id };
    await own.call("archiveChannelTemplate", { params });
    const idsOf = async (query = {}) =>
      (await own.call("listChannelTemplates", { query }))
        .as(ChannelTemplateList)
        .templates.map(({ archived, ...one }) => [one._id, archived]);
    expect([await idsOf(), await idsOf({ archived: true })]).toEqual([[], [[_id, true]]]);
    const put = async (change: Record<string, unknown>) =>
      (await own.call("updateChannelTemplate", { params, body: bodyOf(change, own) })).as(ChannelTemplate).archived;
    expect(await put({ title: "Changed while archived" })).toBe(true);
    expect(await put({ archived: false })).toBe(false);
    expect([await idsOf(), await idsOf({ archived: true })]).toEqual([[[_id, false]], []]);
    const created = await own.call("createPage", {
      body: { type: "channel", slug: "restored", templateId: _id, data: { name: "Restored" } },
    });
    expect(created.status).toBe(201);
    expect(await put({ archived: true })).toBe(true);
    const { results } = (await own.call("listEvents", { query: { types: "admin.templateArchived,admin.templateUpdated" } })).as(EventList);
    expect(results.map(({ type }) => type)).toEqual([
      "admin.templateArchived",
      "admin.templateUpdated",
      "admin.templateUpdated",
      "admin.templateArchived",
    ]);
  });

  test("is listed, most recently modified first, until it is archived", async () => {
    const own = await newSite();
    const ids: string[] = [];
    for (const title of ["Beta", "Alpha", "Gamma"]) ids.push((await create({ title }, own)).as(ChannelTemplate)._id);
    const [beta = "", , gamma = ""] = ids;
    await own.call("updateChannelTemplate", { params: { templateId: beta }, body: bodyOf({ title: "Beta" }, own) });
    const list = async (query: Record<string, string | number> = {}) =>
      (await own.call("listChannelTemplates", { query })).as(ChannelTemplateList);
    const titles = async (query: Record<string, string | number> = {}) => (await list(query)).templates.map(({ title }) => title);
    expect(await titles()).toEqual(["Beta", "Gamma", "Alpha"]);
    expect(await titles({ sort: "title", direction: 1 })).toEqual(["Alpha", "Beta", "Gamma"]);
    expect(await titles({ sort: "created", direction: -1, limit: 1, offset: 1 })).toEqual(["Alpha"]);
    await own.call("archiveChannelTemplate", { params: { templateId: gamma } });
    expect((await list({ limit: 1 })).totalCount).toBe(2);
    expect(await own.call("listChannelTemplates", { query: { direction: 2 } })).toMatchObject({ status: 400, fields: ["direction"] });
  });
});

describe("a channel created from a template", () => {
  test("gets its own copies of the panels, in order, and the theme", async () => {
    const theme = await newTheme();
    const stored = (
      await site.call("createPanel", { body: { siteId: site.id, renderer: { panel_type: "chat", panel_name: "Stored chat" } } })
    ).as(Panel);
    const renderer = { panel_type: "image", panel_name: "Crest", image_url: "https://demo.example/crest.png" };
    const panels = [panelOf("crest", { renderer }), panelOf(stored.slug)];
    const template = (await create({ theme, panels })).as(ChannelTemplate);
    const [one, other] = [(await newPage(template._id)).as(Page), (await newPage(template._id)).as(Page)];
    const shown = async (pageId: string) => (await site.call("getConfiguration", { params: { pageId } })).as(Configuration);
    const [first, second] = [await shown(one._id), await shown(other._id)];
    expect(first.panels.map(({ panel_name }) => panel_name)).toEqual(["Crest", "Stored chat"]);
    expect(one.data.theme).toBe(theme);
    expect(first.theme?.name).toBe("Floodlight");
    const ids = [first, second].flatMap((configuration) => configuration.panels.map(({ _id }) => _id));
    expect(new Set([...ids, stored._id]).size).toBe(5);
  });

  test("keeps its own values", async () => {
    const [own, theirs] = [await newTheme(), await newTheme()];
    const renderer = { panel_type: "chat", panel_name: "Match chat" };
    const template = (await create({ theme: theirs, panels: [panelOf("chat", { renderer })] })).as(ChannelTemplate);
    const first = await addResource(site, "panel");
    const page = (await newPage(template._id, { theme: own, sidebar: { panels: [first], width: 320 } })).as(Page);
    expect(page.data).toMatchObject({ theme: own, sidebar: { width: 320 } });
    expect(page.data.sidebar?.panels).toEqual([first, expect.stringMatching(/^[0-9a-f]{24}$/)]);
  });

  test("has no theme if the template's theme has been deleted", async () => {
    const theme = await newTheme();
    const template = (await create({ theme })).as(ChannelTemplate);
    await site.call("deleteTheme", { params: { id: theme } });
    expect((await newPage(template._id)).as(Page).data).not.toHaveProperty("theme");
  });

  test("is rejected if it would have more panels than a page can have", async () => {
    const renderer = { panel_type: "chat", panel_name: "Match chat" };
    const template = (await create({ panels: [panelOf("a", { renderer }), panelOf("b", { renderer })] })).as(ChannelTemplate);
    const ids: string[] = [];
    while (ids.length < 49) ids.push(await addResource(site, "panel"));
    const own = (count: number) => ({ sidebar: { panels: ids.slice(0, count) } });
    const { _id, slug, data } = (await newPage(template._id, own(48))).as(Page);
    expect((await site.call("updatePage", { params: { id: _id }, body: { slug, data } })).status).toBe(200);
    expect(await newPage(template._id, own(49))).toMatchObject({ status: 400, fields: ["data.sidebar.panels"] });
  });

  test("is rejected for an unknown template and for one of another site", async () => {
    const foreign = (await create({}, await newSite())).as(ChannelTemplate)._id;
    for (const id of [foreign, newId(1)]) expect(await newPage(id)).toMatchObject({ status: 400, fields: ["templateId"] });
  });

  test("leaves no panels behind if its slug is taken", async () => {
    const own = await newSite();
    const renderer = { panel_type: "chat", panel_name: "Match chat" };
    const panels = [{ ...panelOf("chat", { renderer }), site_id: own.id }];
    const template = (await create({ panels }, own)).as(ChannelTemplate);
    const body = { type: "channel", slug: "main-stage", templateId: template._id, data: { name: "x" } };
    expect((await own.call("createPage", { body })).status).toBe(409);
    expect((await own.call("listPanels")).body).toMatchObject({ results: [] });
  });
});
