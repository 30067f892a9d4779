import { beforeAll, describe, expect, test } from "vitest";
import { newSite, ORIGIN, type TestSite } from "#test/harness.ts";
import { OEmbed } from "#worker/services/panels/embed-schemas.ts";
import { Panel } from "#worker/services/panels/schemas.ts";

const NAME = `Chat & "chips" <b>`;

let site: TestSite;
let panelId: string;
let channelId: string;

beforeAll(async () => {
  site = await newSite();
  panelId = await newPanel();
  channelId = await site.addChannel("embedded", { sidebar: { panels: [panelId] } });
});

async function newPanel(renderer: Record<string, unknown> = {}): Promise<string> {
  const body = { siteId: site.id, renderer: { panel_type: "chat", panel_name: NAME, ...renderer } };
  return (await site.call("createPanel", { body })).as(Panel)._id;
}

interface Address {
  siteId?: string;
  channel?: string;
  panel?: string;
}

const urlOf = ({ siteId = site.id, channel = channelId, panel = panelId }: Address = {}) =>
  `${ORIGIN}/panel/v3/embed/${siteId}/${channel}/${panel}`;

const oembed = (query: Record<string, string | number>) => site.call("getPanelOembed", { as: "nobody", query });

const embed = ({ siteId = site.id, channel = channelId, panel = panelId }: Address = {}) =>
  site.call("getPanelEmbed", { as: "nobody", params: { siteId, channelId: channel, panelId: panel } });

/** The status of the page and of the oEmbed response. */
async function statuses(address: Address): Promise<number[]> {
  return [(await embed(address)).status, (await oembed({ url: urlOf(address) })).status];
}

describe("the oEmbed response", () => {
  test("is a frame with the panel's embed page, with everything escaped", async () => {
    const response = (await oembed({ url: urlOf() })).as(OEmbed);
    expect(response).toMatchObject({ version: "1.0", type: "rich", title: NAME, provider_url: ORIGIN, width: 400, height: 480 });
    expect(response.html).toContain(`src="${urlOf()}"`);
    expect(response.html).toContain('title="Chat &amp; &quot;chips&quot; &lt;b&gt;"');
  });

  test.each([
    [
      { maxwidth: 300, maxheight: 200 },
      { width: 300, height: 200 },
    ],
    [{ maxwidth: 5000 }, { width: 400, height: 480 }],
    [{ maxheight: 1 }, { width: 400, height: 1 }],
  ])("for %j is %j", async (bounds, size) => {
    const response = (await oembed({ url: urlOf(), ...bounds })).as(OEmbed);
    expect(response).toMatchObject(size);
    expect(response.html).toContain(`width="${size.width}" height="${size.height}"`);
  });

  test.each<Record<string, string | number>>([{ maxwidth: 0 }, { maxwidth: "wide" }, { maxheight: -5 }])(
    "for %j is a 400",
    async (bounds) => {
      expect((await oembed({ url: urlOf(), ...bounds })).status).toBe(400);
    },
  );

  test("in another format than JSON is a 501, whatever the URL is", async () => {
    expect(await oembed({ url: urlOf(), format: "xml" })).toMatchObject({ status: 501, body: { code: "format_not_supported" } });
    expect((await oembed({ url: "https://other.example/", format: "xml" })).status).toBe(501);
    expect((await oembed({ url: urlOf(), format: "json" })).status).toBe(200);
  });

  test("ignores parameters that it doesn't know", async () => {
    expect((await oembed({ url: urlOf(), theme: "dark", lang: "de" })).status).toBe(200);
  });

  test.each([
    ["another host", () => urlOf().replace(ORIGIN, "https://other.example")],
    ["another scheme", () => urlOf().replace("https:", "javascript:")],
    ["another page", () => `${ORIGIN}/start`],
    ["a longer path", () => `${urlOf()}/x`],
    ["no URL", () => "panel"],
  ])("for %s is a 404", async (_, url) => {
    expect((await oembed({ url: url() })).status).toBe(404);
  });
});

describe("the embed page", () => {
  test("shows the panel, escapes its name, and links to its oEmbed response", async () => {
    const { text } = await embed();
    expect(text).toContain(`<tifo-panel site="${site.id}" channel="${channelId}" panel="${panelId}">`);
    expect(text).toContain("<title>Chat &amp; &quot;chips&quot; &lt;b&gt;</title>");
    const [, href = ""] = /type="application\/json\+oembed" href="([^"]+)"/.exec(text) ?? [];
    const discovered = new URL(href.replaceAll("&#61;", "="));
    expect((await oembed(Object.fromEntries(discovered.searchParams))).as(OEmbed).title).toBe(NAME);
  });

  test("may be framed by any page, but has no origin, and runs no script but the SDK's", async () => {
    const { headers } = await embed();
    const policy = headers.get("Content-Security-Policy") ?? "";
    const directives = new Map(policy.split("; ").map((each) => [each.split(" ")[0], each.split(" ").slice(1).join(" ")]));
    expect(directives.get("frame-ancestors")).toBe("*");
    expect(directives.get("default-src")).toBe("'none'");
    expect(directives.get("script-src")).toBe(`${ORIGIN}/sdk/`);
    expect(directives.get("sandbox")).not.toContain("allow-same-origin");
    expect(policy).not.toContain("unsafe");
    expect(headers.get("Content-Type")).toBe("text/html; charset=utf-8");
  });
});

describe("a panel that not everybody may see", () => {
  test.each<[string, Record<string, unknown>]>([
    ["a gate", { gate: { type: "login", skus: [] } }],
    ["a schedule", { schedule: { startTimestamp: 1, endTimestamp: 2 } }],
    ["regions", { regions: ["DE"] }],
  ])("because of its channel's %s is a 404", async (_, data) => {
    const channel = await site.addChannel(`closed-${Object.keys(data)[0]}`, { sidebar: { panels: [panelId] }, ...data });
    expect(await statuses({ channel })).toEqual([404, 404]);
  });

  test("because it is for a segment is a 404", async () => {
    const filter = { attribute: "tags", operator: "any_of", value: ["gold"] };
    const settings = { security: {}, userSegments: { "gold-members": { name: "Gold members", filter } } };
    await site.call("updateSite", { body: { name: "Harbour City", settings } });
    const panel = await newPanel({ segment: "gold-members" });
    const channel = await site.addChannel("segmented", { sidebar: { panels: [panel, panelId] } });
    expect(await statuses({ channel, panel })).toEqual([404, 404]);
    expect(await statuses({ channel })).toEqual([200, 200]);
  });

  test("because its channel doesn't show it is a 404", async () => {
    expect(await statuses({ panel: await newPanel() })).toEqual([404, 404]);
    expect(await statuses({ panel: "0".repeat(24) })).toEqual([404, 404]);
  });

  test("because it is another site's is a 404", async () => {
    const other = await newSite();
    expect(await statuses({ siteId: other.id })).toEqual([404, 404]);
    const channel = await other.addChannel("foreign", { sidebar: { panels: [panelId] } });
    expect(await statuses({ siteId: other.id, channel })).toEqual([404, 404]);
  });
});
