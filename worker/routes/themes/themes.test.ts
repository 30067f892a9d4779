import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { interruptedContext } from "#test/interrupted-context.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { Page } from "#worker/services/pages/schemas.ts";
import { deleteTheme } from "#worker/services/themes/themes.ts";
import { SiteAsRead } from "#worker/services/sites/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { DeleteThemeAnswer, Theme, ThemeList } from "#worker/services/themes/schemas.ts";
import { siteStore } from "#test/site-store.ts";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

const COLORS = { accent: "#4B3FD1", surface1: "#0B0B12", text100: "#fff" };
const input = (change: Record<string, unknown> = {}) => ({ name: "Floodlight", mode: "dark", colors: COLORS, ...change });
const create = (change: Record<string, unknown> = {}, on = site) => on.call("createCustomTheme", { body: input(change) });
const newTheme = async (change: Record<string, unknown> = {}, on = site) => (await create(change, on)).as(Theme);
const remove = (id: string, on = site) => on.call("deleteTheme", { params: { id } });
const operatorsTheme = async (operation: "createAdminTheme" | "createDefaultTheme", name: string) =>
  (await site.call(operation, { body: input({ name }) })).as(Theme);

async function dress(pageId: string, theme: string | undefined, on = site) {
  const { slug, data } = (await on.call("getPage", { params: { id: pageId } })).as(Page);
  return on.call("updatePage", { params: { id: pageId }, body: { slug, data: { ...data, theme } } });
}

describe("a custom theme", () => {
  test("is returned as created, and publicly readable by its id", async () => {
    const full = {
      name: "Floodlight",
      type: "advanced",
      mode: "dark",
      colors: { ...COLORS, highlight: "#FACC15", surface6: "#000", text500: "#ffffff", alertError: "#f00" },
      button: { borderRadius: "pill", textCapitalization: "uppercase" },
      typography: { body: "Inter", headline: "Archivo" },
      logo: "https://demo.example/crest.svg",
      icon: "/media/v1/5eed0000000000000000f001",
      backgrounds: ["https://demo.example/stand.jpg"],
    };
    const response = await create(full);
    expect(response.as(Theme)).toMatchObject({ ...full, siteId: site.id });
    const read = await site.call("getTheme", { params: { id: response.as(Theme)._id }, as: "nobody" });
    expect(read.body).toEqual(response.body);
    expect(read.headers.get("ETag")).toBe(response.headers.get("ETag"));
    expect((await site.call("getTheme", { params: { id: newId(1) } })).status).toBe(404);
  });

  test("defaults to plain buttons and the system font", async () => {
    expect((await site.call("createCustomTheme", { body: { name: "Plain", colors: {} } })).as(Theme)).toMatchObject({
      type: "custom",
      mode: "light",
      button: { borderRadius: "rounded", textCapitalization: "original" },
      typography: { body: "system-ui", headline: "system-ui" },
      logo: null,
      icon: null,
      backgrounds: [],
      warnings: [],
    });
  });

  test.for<[field: string, change: Record<string, unknown>]>([
    ["siteId", { siteId: newId(1) }],
    ["name", { name: " " }],
    ["type", { type: "admin" }],
    ["type", { type: "default" }],
    ["mode", { mode: "sepia" }],
    ["colors.accent", { colors: { accent: "purple" } }],
    ["colors.accent", { colors: { accent: "#12345" } }],
    ["colors.accent", { colors: { accent: "#12345G" } }],
    ["colors.accent", { colors: { accent: "#fff;}" } }],
    ["colors.surface7", { colors: { surface7: "#fff" } }],
    ["button.borderRadius", { button: { borderRadius: "round" } }],
    ["button.textCapitalization", { button: { textCapitalization: "title" } }],
    ["typography.body", { typography: { body: "" } }],
    ["logo", { logo: "http://demo.example/crest.svg" }],
    ["backgrounds.0", { backgrounds: ["javascript:alert(1)"] }],
  ])("rejects %s %#", async ([field, change]) => {
    expect(await create(change)).toMatchObject({ status: 400, fields: [field] });
  });

  test("has warnings for text that is hard to read on a surface or on the button", async () => {
    const { warnings } = await newTheme({
      colors: { accent: "#767676", surface1: "#ffffff", surface2: "#767676", text100: "#ffffff", text300: "#777777", text500: "#000" },
    });
    expect(warnings).toEqual([
      { path: "colors.text100", message: "1:1 on surface1; text needs 4.5:1" },
      { path: "colors.text300", message: "4.47:1 on surface1; text needs 4.5:1" },
      { path: "colors.text300", message: "1.01:1 on surface2; text needs 4.5:1" },
    ]);
    expect((await newTheme({ colors: { accent: "#777777", surface1: "#ffffff", text100: "#333333" } })).warnings).toEqual([
      { path: "colors.accent", message: "4.47:1 at best for a button's label (text100 or surface1); text needs 4.5:1" },
    ]);
    expect((await newTheme({ colors: { accent: "#3B2FB8", surface1: "#ffffff", text100: "#101018" } })).warnings).toEqual([]);
  });

  test("is replaced by PUT, and only one of several changes of the same version succeeds", async () => {
    const { _id } = await newTheme();
    const put = (name: string, headers = {}) => site.call("updateCustomTheme", { params: { id: _id }, body: input({ name }), headers });
    expect((await put("Dusk")).as(Theme)).toMatchObject({ _id, name: "Dusk" });
    const responses = await Promise.all(["a", "b", "c"].map((name) => put(name, { "If-Match": '"v2"' })));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test("is listed only with its own site's themes, last changed first", async () => {
    const other = await newSite();
    await operatorsTheme("createDefaultTheme", "Everyone's");
    const first = await newTheme({ name: "First" }, other);
    await newTheme({ name: "Second" }, other);
    await other.call("updateCustomTheme", { params: { id: first._id }, body: input({ name: "First" }) });
    const list = async (query: Record<string, number>) => {
      const response = await other.call("listCustomThemes", { query });
      expect(response.log.d1).toMatchObject({ roundTrips: 1 });
      const { totalCount, themes } = response.as(ThemeList);
      return { totalCount, names: themes.map(({ name }) => name) };
    };
    expect(await list({})).toEqual({ totalCount: 2, names: ["First", "Second"] });
    expect(await list({ limit: 1, offset: 1 })).toEqual({ totalCount: 2, names: ["Second"] });
    const { results } = await siteStore
      .prepare("explain query plan select * from themes where site_id = ? order by modified desc, id desc limit 50")
      .bind(site.id)
      .all<{ detail: string }>();
    expect(results.map(({ detail }) => detail)).toEqual(["SEARCH themes USING INDEX themes_site_modified (site_id=?)"]);
  });

  test("can be changed and deleted only by its own site", async () => {
    const other = await newSite();
    const { _id } = await newTheme({}, other);
    expect((await site.call("updateCustomTheme", { params: { id: _id }, body: input() })).status).toBe(404);
    expect((await remove(_id)).status).toBe(404);
    expect((await other.call("getTheme", { params: { id: _id } })).status).toBe(200);
  });
});

describe("deleting a theme", () => {
  test("that no page uses removes it", async () => {
    const { _id } = await newTheme();
    expect((await remove(_id)).as(DeleteThemeAnswer)).toEqual({ result: true, pages: [] });
    expect((await site.call("getTheme", { params: { id: _id } })).status).toBe(404);
  });

  test("that pages use returns them and keeps it until none does", async () => {
    const [one, two] = site.channels;
    const { _id } = await newTheme();
    await dress(one, _id);
    await dress(two, _id);
    expect((await remove(_id)).as(DeleteThemeAnswer)).toEqual({
      result: false,
      pages: [
        { _id: two, slug: "backstage", name: "backstage" },
        { _id: one, slug: "main-stage", name: "main-stage" },
      ],
    });
    expect((await site.call("getTheme", { params: { id: _id } })).status).toBe(200);
    await dress(one, undefined);
    await dress(two, undefined);
    expect((await remove(_id)).as(DeleteThemeAnswer).result).toBe(true);
  });

  test("isn't blocked by another site that references its id, nor reveals it", async () => {
    const other = await newSite();
    const { _id } = await newTheme();
    await dress(other.channels[0], _id, other);
    expect((await remove(_id)).as(DeleteThemeAnswer)).toEqual({ result: true, pages: [] });
  });

  test("never removes one that a page starts using at the same time", async () => {
    const { _id } = await newTheme();
    const [channel] = site.channels;
    const ctx = interruptedContext(site, () => dress(channel, _id));
    await expect(deleteTheme(ctx, _id)).rejects.toMatchObject({ code: "conflict" });
    expect((await site.call("getTheme", { params: { id: _id } })).status).toBe(200);
    await dress(channel, undefined);
  });

  test("of the operator is forbidden for sites", async () => {
    const { _id } = await operatorsTheme("createDefaultTheme", "Everyone's");
    expect((await remove(_id)).problem).toMatchObject({ status: 403, message: "Admin and default themes belong to the operator" });
    expect((await site.call("getTheme", { params: { id: _id } })).status).toBe(200);
  });
});

describe("the operator's themes", () => {
  test("are listed for every site if they are default themes, and for none if they are admin themes", async () => {
    const marker = randomHex(4);
    await operatorsTheme("createAdminTheme", `Admin ${marker}`);
    const { _id, siteId, type } = await operatorsTheme("createDefaultTheme", `Default ${marker}`);
    expect([siteId, type]).toEqual([null, "default"]);
    const names = (await site.call("listDefaultThemes", { query: { limit: 200 } })).as(ThemeList).themes.map(({ name }) => name);
    expect(names.filter((name) => name.endsWith(marker))).toEqual([`Default ${marker}`]);
    const changed = await site.call("updateDefaultTheme", { params: { id: _id }, body: input({ name: `Changed ${marker}` }) });
    expect(changed.as(Theme)).toMatchObject({ _id, name: `Changed ${marker}`, type: "default" });
  });

  test("can't change their type", async () => {
    const admin = await operatorsTheme("createAdminTheme", "Control room");
    const custom = await newTheme();
    for (const { _id } of [admin, custom]) {
      expect((await site.call("updateDefaultTheme", { params: { id: _id }, body: input() })).status).toBe(404);
      expect((await site.call("updateCustomTheme", { params: { id: admin._id }, body: input() })).status).toBe(404);
    }
  });

  test("have their events in the operator's own log", async () => {
    const { _id } = await operatorsTheme("createDefaultTheme", "Everyone's");
    const log = env.SITE_LOG.getByName("");
    await log.nudge();
    const { entries } = await log.read({ after: 0, limit: 1000, types: null });
    expect(entries.filter(({ resource }) => resource === `theme/${_id}`).map(({ type }) => type)).toEqual(["theme.created"]);
    const { results } = (await site.call("listEvents", { query: { limit: 200 } })).as(EventList);
    expect(results.map(({ resource }) => resource)).not.toContain(`theme/${_id}`);
  });

  test("belong to the operator even if a client id is sent with the super key", async () => {
    const body = input({ name: "Shown with a site" });
    const headers = { "Tifo-Client-Id": site.id };
    const { _id, siteId } = (await site.call("createDefaultTheme", { body, headers })).as(Theme);
    expect(siteId).toBeNull();
    expect((await site.call("updateDefaultTheme", { params: { id: _id }, body, headers })).status).toBe(200);
  });
});

describe("applying an admin theme to a site", () => {
  const apply = (siteSlugOrId: string, themeNameOrId: string) => site.call("applyAdminTheme", { body: { siteSlugOrId, themeNameOrId } });
  const applied = async () => (await site.call("getSite", { as: "reader" })).as(SiteAsRead).adminTheme;

  test("accepts site and theme by id, or by slug and name, and replaces the previous theme", async () => {
    const name = `Control room ${randomHex(4)}`;
    const named = await operatorsTheme("createAdminTheme", name);
    const other = await operatorsTheme("createAdminTheme", `Van ${randomHex(4)}`);
    expect((await apply(site.slug, name)).body).toEqual({ success: true });
    expect(await applied()).toBe(named._id);
    const known = { "If-None-Match": (await site.call("getSite", { as: "reader" })).headers.get("ETag") ?? "" };
    expect((await apply(site.id, other._id)).body).toEqual({ success: true });
    expect(await applied()).toBe(other._id);
    expect((await site.call("getSite", { as: "reader", headers: known })).status).toBe(200);
    const { results } = (await site.call("listEvents", { query: { limit: 200, types: "theme.applied" } })).as(EventList);
    expect(results.map(({ resource, actor }) => [resource, actor])).toEqual([
      [`site/${site.id}`, "super"],
      [`site/${site.id}`, "super"],
    ]);
  });

  test("rejects unknown sites and themes that aren't admin themes", async () => {
    const admin = await operatorsTheme("createAdminTheme", "Control room");
    const standard = await operatorsTheme("createDefaultTheme", `Default ${randomHex(4)}`);
    const custom = await newTheme({ name: `Own ${randomHex(4)}` });
    expect((await apply(site.id, standard._id)).status).toBe(404);
    expect((await apply(site.id, custom.name)).status).toBe(404);
    expect((await apply("no-such-site", admin._id)).status).toBe(404);
    expect((await apply(newId(1), admin._id)).status).toBe(404);
  });

  test("requires the id if several themes have the name", async () => {
    const name = `Twin ${randomHex(4)}`;
    const [one] = [await operatorsTheme("createAdminTheme", name), await operatorsTheme("createAdminTheme", name)];
    expect((await apply(site.id, name)).status).toBe(409);
    expect((await apply(site.id, one._id)).status).toBe(200);
  });
});
