import { beforeAll, describe, expect, test } from "vitest";
import { newSite, type TestSite } from "#test/harness.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { Panel } from "#worker/services/panels/schemas.ts";
import { Theme } from "#worker/services/themes/schemas.ts";
import { Configuration } from "#worker/services/pages/configuration-schemas.ts";
import { Page } from "#worker/services/pages/schemas.ts";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

async function newPanel(panel_name: string, change: Record<string, unknown> = {}) {
  const body = { siteId: site.id, renderer: { panel_type: "chat", panel_name, ...change } };
  return (await site.call("createPanel", { body })).as(Panel);
}

async function newPage(change: Record<string, unknown> = {}, data: Record<string, unknown> = {}) {
  const body = { type: "channel", slug: `page-${randomHex(5)}`, ...change, data: { name: "Second half", ...data } };
  return (await site.call("createPage", { body })).as(Page);
}

async function configure(pageId: string) {
  return (await site.call("getConfiguration", { params: { pageId } })).as(Configuration);
}

describe("a page's configuration", () => {
  test("contains the page, the site, and the panels of its sidebar in order", async () => {
    const [chat, image] = [
      await newPanel("Match chat", { icon_name: "chat", filtered_words: "offside" }),
      await newPanel("Crest", { panel_type: "image", image_url: "https://demo.example/crest.png" }),
    ];
    const gone = await newPanel("Gone before long");
    const page = await newPage({}, { sidebar: { panels: [image._id, gone._id, chat._id] } });
    await site.call("deletePanel", { params: { id: gone._id } });
    const { insights, ...configuration } = await configure(page._id);
    expect(insights).toEqual({ _id: insights._id, version: 1, collect: true });
    expect(insights._id).toMatch(/^[0-9a-f]{32}$/);
    expect(configuration).toEqual({
      panels: [
        { _id: image._id, slug: image.slug, panel_name: "Crest", panel_type: "image", icon_name: null, renderer: image.renderer },
        {
          _id: chat._id,
          slug: chat.slug,
          panel_name: "Match chat",
          panel_type: "chat",
          icon_name: "chat",
          renderer: { ...chat.renderer, filtered_words: "" },
        },
      ],
      page: { _id: page._id, slug: page.slug, type: "channel", name: "Second half" },
      site: { _id: site.id },
    });
  });

  test("can't contain a panel of another site", async () => {
    const other = await newSite();
    const body = { siteId: other.id, renderer: { panel_type: "chat", panel_name: "Theirs" } };
    const { _id } = (await other.call("createPanel", { body })).as(Panel);
    const page = { type: "channel", slug: `page-${randomHex(5)}`, data: { name: "Second half", sidebar: { panels: [_id] } } };
    expect(await site.call("createPage", { body: page })).toMatchObject({ status: 400, fields: ["data.sidebar.panels.0"] });
  });

  test("contains panels if the page's active renderers include the sidebar or are empty", async () => {
    const data = { sidebar: { panels: [(await newPanel("Match chat"))._id] } };
    const shown = async (active_renderers: string[]) => (await configure((await newPage({ active_renderers }, data))._id)).panels.length;
    expect([await shown([]), await shown(["player", "sidebar"]), await shown(["player"])]).toEqual([1, 1, 0]);
  });

  test("has a different insights id for each view", async () => {
    const { _id } = await newPage();
    const views = [await configure(_id), await configure(_id)].map(({ insights }) => insights._id);
    expect(new Set(views).size).toBe(2);
  });

  test("is current as soon as the page, a panel or the theme has changed", async () => {
    const panel = await newPanel("Match chat");
    const theme = (await site.call("createCustomTheme", { body: { name: "Floodlight", colors: { accent: "#4B3FD1" } } })).as(Theme);
    const data = { theme: theme._id, sidebar: { panels: [panel._id] } };
    const page = await newPage({}, data);
    const before = await configure(page._id);
    const { name, type, mode, colors, button, typography, logo } = theme;
    expect(before.theme).toEqual({ name, type, mode, colors, button, typography, logo });
    await site.call("updatePage", { params: { id: page._id }, body: { slug: page.slug, data: { ...data, name: "Extra time" } } });
    await site.call("patchPanel", { params: { id: panel._id }, body: { renderer: { panel_name: "Terrace chat" } } });
    await site.call("updateCustomTheme", { params: { id: theme._id }, body: { name: "Dusk", colors: {} } });
    expect(await configure(page._id)).toMatchObject({
      page: { name: "Extra time" },
      panels: [{ panel_name: "Terrace chat" }],
      theme: { name: "Dusk", colors: {} },
      insights: { version: 2 },
    });
  });

  test("is found by an exact match of any external field, on its own site only", async () => {
    for (const field of [1, 2, 3, 4, 5]) {
      const metadata = `fixture-${field}-${randomHex(4)}`;
      const first = await newPage({}, { [`external_field_${field}`]: metadata });
      await newPage({}, { [`external_field_${field}`]: metadata });
      const found = await site.call("getConfigurationByMetadata", { query: { metadata } });
      expect(found.as(Configuration).page._id).toBe(first._id);
      for (const call of [
        await site.call("getConfigurationByMetadata", { query: { metadata: metadata.slice(0, -1) } }),
        await (await newSite()).call("getConfigurationByMetadata", { query: { metadata } }),
      ])
        expect(call.problem).toMatchObject({ status: 404, message: "Page not found for the given metadata value" });
    }
  });

  test("is rejected with the messages that integrators rely on", async () => {
    const malformed = await site.call("getConfiguration", { params: { pageId: "main-stage" } });
    expect(malformed.problem).toMatchObject({ status: 400, issues: [{ path: "pageId", message: "Invalid page ID format" }] });
    expect(malformed.problem?.message).toContain("Invalid page ID format");
    expect((await site.call("getConfiguration", { params: { pageId: newId(1) } })).problem).toMatchObject({
      status: 404,
      message: "Page not found",
    });
    const none: Record<string, string> = {};
    for (const query of [none, { metadata: "" }]) {
      const { problem } = await site.call("getConfigurationByMetadata", { query });
      expect(problem?.status).toBe(400);
      expect(problem?.message).toContain("metadata query parameter is required");
    }
  });
});
