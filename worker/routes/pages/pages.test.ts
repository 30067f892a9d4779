import { beforeAll, describe, expect, test } from "vitest";
import { newSite, openSocket, ORIGIN, send, type TestSite } from "#test/harness.ts";
import { addSkus } from "#test/files-and-skus.ts";
import { operationOf } from "#test/openapi.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { Overlay } from "#worker/services/overlays/schemas.ts";
import { Page, ProjectedPage } from "#worker/services/pages/schemas.ts";

const PageList = listOf(Page);
const ProjectedList = listOf(ProjectedPage);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const newSlug = (): string => `page-${randomHex(5)}`;

const create = (change: Record<string, unknown> = {}, on = site) =>
  on.call("createPage", { body: { type: "channel", slug: newSlug(), data: { name: "Second half" }, ...change } });

async function list(query: Record<string, string | number> = {}, on = site) {
  return (await on.call("listPages", { query })).as(ProjectedList).results;
}

describe("a page", () => {
  test("is returned as created, with defaults for omitted fields", async () => {
    await addSkus(site, "season");
    const data = { name: "Second half", gate: { type: "entitlement", skus: ["season"] }, anything: { else: [1, null, "x"] } };
    const created = await create({ data, seo: { title: "Live" }, style: { accent: "#6E5FFB" }, tags: ["football"] });
    const page = created.as(Page);
    expect(page).toMatchObject({
      collection: "pages",
      site_id: site.id,
      type: "channel",
      data,
      seo: { title: "Live" },
      renderers: {},
      active_renderers: [],
    });
    expect((await site.call("getPage", { params: { id: page._id } })).body).toEqual(created.body);
    expect((await create()).as(Page).data.gate).toEqual({ type: "none", skus: [] });
  });

  test("returns the messages that integrators rely on for unknown and malformed ids", async () => {
    expect((await site.call("getPage", { params: { id: newId(1) } })).problem).toMatchObject({ status: 404, message: "Page not found" });
    const malformed = await site.call("getPage", { params: { id: "main-stage" } });
    expect(malformed.problem).toMatchObject({ status: 400, issues: [{ path: "id", message: "Invalid page ID format" }] });
    expect(malformed.problem?.message).toContain("Invalid page ID format");
  });

  test("has a slug that is unique on its site", async () => {
    const slug = newSlug();
    const responses = await Promise.all([create({ slug }), create({ slug, type: "landing" })]);
    expect(responses.map((response) => response.status).sort()).toEqual([201, 409]);
    expect((await create({ slug }, await newSite())).status).toBe(201);
    const second = (await create()).as(Page);
    const renamed = await site.call("updatePage", { params: { id: second._id }, body: { slug, data: { name: "Second half" } } });
    expect(renamed.problem).toMatchObject({ status: 409, message: "Another page on this site already has this slug" });
  });

  test.for<[field: string, change: Record<string, unknown>]>([
    ["type", { type: "portal" }],
    ["siteId", { siteId: newId(1) }],
    ["data.name", { data: {} }],
    ["data.gate.type", { data: { name: "x", gate: { type: "password" } } }],
    ["data.gate.surprise", { data: { name: "x", gate: { type: "none", surprise: 1 } } }],
    ["data.schedule.endTimestamp", { data: { name: "x", schedule: { startTimestamp: 1 } } }],
    ["data.schedule.startTimestamp", { data: { name: "x", schedule: { startTimestamp: "2026-11-21", endTimestamp: 2 } } }],
    ["data.theme", { data: { name: "x", theme: "dark" } }],
    ["data.external_field_5", { data: { name: "x", external_field_5: "a".repeat(501) } }],
    ["data.channel_select_active_image_url", { data: { name: "x", channel_select_active_image_url: "javascript:alert(1)" } }],
    ["data", { data: { name: "x", large: "a".repeat(65 * 1024) } }],
    ["data", { data: { name: "x", deep: nested(10) } }],
    ["style", { style: nested(11) }],
  ])("rejects an invalid %s %#", async ([field, change]) => {
    expect(await create(change)).toMatchObject({ status: 400, fields: [field] });
  });

  test.for(["style", "data"])("rejects an extremely deep %s without overflowing the stack", async (field) => {
    const deep = '{"a":'.repeat(20_000) + "1" + "}".repeat(20_000);
    const parts = { data: '{"name":"x"}', [field]: `{"name":"x","deep":${deep}}` };
    const text = `{"type":"channel","slug":"${newSlug()}",${Object.entries(parts)
      .map(([name, json]) => `"${name}":${json}`)
      .join()}}`;
    const init = { method: "POST", headers: { ...(await site.headersOf("developer")), "Content-Type": "application/json" }, body: text };
    expect(await send(operationOf("createPage"), new URL("/page/v2", ORIGIN), init)).toMatchObject({ status: 400, fields: [field] });
  });

  test("keeps its type when it is replaced, and omitted fields return to their defaults", async () => {
    const created = (await create({ tags: ["football"], data: { name: "First half", external_field_1: "match-7" } })).as(Page);
    const params = { id: created._id };
    const changed = (await site.call("updatePage", { params, body: { slug: created.slug, data: { name: "Second half" } } })).as(Page);
    expect(changed).toMatchObject({ type: "channel", created: created.created, tags: [], data: { name: "Second half" } });
    expect(changed.data.external_field_1).toBeUndefined();
    expect(await site.call("updatePage", { params, body: { type: "landing", slug: created.slug, data: { name: "x" } } })).toMatchObject({
      status: 400,
      fields: ["type"],
    });
  });
});

describe("a channel", () => {
  test("notifies its viewers when it changes", async () => {
    const { _id, slug } = (await create()).as(Page);
    const viewer = await openSocket(site, _id);
    await viewer.first("welcome");
    await site.call("updatePage", { params: { id: _id }, body: { slug, data: { name: "Extra time" } } });
    expect((await viewer.first("page.updated")).data).toMatchObject({ _id, data: { name: "Extra time" } });
  });

  test("can be updated by its own creators only", async () => {
    const [own, other] = site.channels;
    const change = (id: string) =>
      site.call("updatePage", { as: "creator", params: { id }, body: { slug: newSlug(), data: { name: "Stage" } } });
    expect((await change(own)).status).toBe(200);
    expect((await change(other)).problem).toMatchObject({ status: 403, code: "forbidden" });
    expect((await site.call("deletePage", { as: "creator", params: { id: own } })).status).toBe(403);
    expect((await site.call("createPage", { as: "creator", body: { type: "channel", slug: newSlug(), data: { name: "x" } } })).status).toBe(
      403,
    );
  });

  test("is deleted with its active broadcasts, and its viewers are disconnected", async () => {
    const own = await newSite();
    const [id] = own.channels;
    const overlay = {
      name: "Goal",
      description: "",
      siteId: own.id,
      type: "template",
      duration: 60,
      contents: [{ kind: "html", html: "Goal", position: "center" }],
    };
    const overlayId = (await own.call("createOverlay", { body: overlay })).as(Overlay)._id;
    await own.call("broadcastOverlay", { params: { id: overlayId }, body: { channelId: id } });
    const viewer = await openSocket(own, id);
    await viewer.first("welcome");
    const version = (await own.call("getPage", { params: { id } })).headers.get("ETag") ?? "";
    expect((await own.call("deletePage", { params: { id }, headers: { "If-Match": '"v9"' } })).status).toBe(412);
    expect((await own.call("deletePage", { params: { id }, headers: { "If-Match": version } })).body).toEqual({ success: true, _id: id });
    expect((await viewer.closed).code).toBe(4404);
    expect((await own.call("getPage", { params: { id } })).status).toBe(404);
    expect((await own.call("listBroadcasts")).body).toMatchObject({ results: [], pagination: { totalCount: 0 } });
    expect((await own.call("broadcastOverlay", { params: { id: overlayId }, body: { channelId: id } })).status).toBe(404);
  });
});

test("the size limit of a page's data is in bytes", async () => {
  const of = (length: number) => ({ type: "landing", slug: "long", data: { name: "Long", text: "€".repeat(length) } });
  expect(await site.call("createPage", { body: of(22_000) })).toMatchObject({ status: 400, fields: ["data"] });
  expect((await site.call("createPage", { body: of(21_000) })).status).toBe(201);
});

describe("listing pages", () => {
  test("separates channels and landing pages", async () => {
    const own = await newSite();
    const landing = (await create({ type: "landing" }, own)).as(Page)._id;
    const ids = async (operation: string) =>
      (await own.call(operation))
        .as(PageList)
        .results.map(({ _id }) => _id)
        .sort();
    expect(await ids("listChannels")).toEqual([...own.channels].sort());
    expect(await ids("listLandings")).toEqual([landing]);
    expect(await ids("listChannelsAndLandings")).toEqual([...own.channels, landing].sort());
  });

  test("by ids accepts up to 300", async () => {
    const many = (count: number) => JSON.stringify([site.channels[0], ...Array.from({ length: count - 1 }, () => newId(1))]);
    expect(await list({ ids: many(300) })).toHaveLength(1);
    expect(await list({ ids: many(300).replaceAll(",", ", ") })).toHaveLength(1);
    expect(await site.call("listPages", { query: { ids: many(301) } })).toMatchObject({ status: 400, fields: ["ids"] });
  });

  test("by ids returns only pages of the site, however many ids are given", async () => {
    const foreign = await newSite();
    const ids = [...site.channels, foreign.channels[0], ...Array.from({ length: 150 }, () => newId(1))];
    expect((await list({ ids: JSON.stringify(ids) })).map(({ _id }) => _id).sort()).toEqual([...site.channels].sort());
    expect(await list({ ids: "[]" })).toEqual([]);
  });

  test.for<[field: string, value: string]>([
    ["ids", "5eed"],
    ["ids.0", '["main-stage"]'],
    ["ids", '{"a":1}'],
    ["options", "{"],
    ["options", "[]"],
    ["options.sort", '{"sort":2}'],
    ["options.sortBy", '{"sortBy":"data.gate"}'],
    ["options.projection.0", '{"projection":["password"]}'],
    ["options.criteria.slug", '{"criteria":{"slug":"x"}}'],
    ["options.surprise", '{"surprise":1}'],
  ])("rejects an invalid %s: %s", async ([field, value]) => {
    const [name = ""] = field.split(".");
    expect(await site.call("listPages", { query: { [name]: value } })).toMatchObject({ status: 400, fields: [field] });
  });

  test("by options sorts, filters by name and returns only the requested fields", async () => {
    const own = await newSite();
    for (const name of ["Beta", "Alpha", "Gamma"]) await create({ type: "landing", data: { name } }, own);
    const names = async (options: unknown) => (await list({ options: JSON.stringify(options) }, own)).map(({ data }) => data?.name);
    expect((await names({ sort: -1, sortBy: "data.name" })).slice(0, 2)).toEqual(["main-stage", "backstage"]);
    expect((await names({ sort: 1, sortBy: "data.name" })).slice(0, 3)).toEqual(["Alpha", "Beta", "Gamma"]);
    expect(await names({ criteria: { "data.name": "Beta" } })).toEqual(["Beta"]);
    expect(await names({ criteria: { "data.name": "bÉTA" } })).toEqual(["Beta"]);
    expect(await names({ criteria: { "data.name": "Bet" } })).toEqual([]);
    for (const projection of [["slug"], ["_id", "slug"]]) {
      const [first] = await list({ options: JSON.stringify({ projection }), limit: 1 }, own);
      expect(Object.keys(first ?? {}).sort()).toEqual(["_id", "slug"]);
    }
  });
});

/** JSON with this many levels. */
function nested(depth: number): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let level = 1; level < depth; level++) value = { a: value };
  return value;
}
