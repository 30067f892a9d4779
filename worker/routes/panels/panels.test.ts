import { beforeAll, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import type { PANEL_TYPES } from "#db/enums.ts";
import { playlists } from "#db/schema/playlists.ts";
import { polls } from "#db/schema/engagement/polls.ts";
import { quests } from "#db/schema/engagement/quests.ts";
import { type ApiResponse, newSite, type TestSite } from "#test/harness.ts";
import { addResource } from "#test/resources.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { newId } from "#worker/lib/ids.ts";
import { iframeTag } from "#worker/lib/iframe.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Panel } from "#worker/services/panels/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const PanelList = listOf(Panel);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
  const db = createDb(siteStore);
  await db.insert(quests).values(questOf(site));
  await addResource(site, "channel", ID);
  const own = { id: ID, siteId: site.id, created: 1, modified: 1 };
  await db.insert(playlists).values({ ...own, title: "Replays", description: "", members: [], tags: [] });
  const rules = { open: true, responsesPerViewer: 1, hideResults: false };
  await db.insert(polls).values({ ...own, ...rules, type: "prediction", question: "Who scores?", name: "Scorer", answers: [] });
});

const ID = newId(1);
const chat = { panel_type: "chat", panel_name: "Match chat" };
const questOf = (on: TestSite, id = ID): typeof quests.$inferInsert => ({
  ...{
    id,
    siteId: on.id,
    title: "First half hero",
    description: "",
    rewardDescription: "A shirt",
    rewardType: "prize",
    claimedMessage: "",
  },
  ...{ regions: [], channelIds: [], actions: [], tags: [], created: 1, modified: 1 },
});
const quest = { array_id: "a1B2c3D4e", quest_id: ID };
const question = { array_id: "a1B2c3D4e", poll_id: ID };
const iframe = iframeTag("https://stats.example/live");
const link = { link_text: "Profile", link_url: "https://demo.example/ada", link_icon_name: "user" };

const create = (renderer: Record<string, unknown>, on = site) => on.call("createPanel", { body: { siteId: on.id, renderer } });
const patch = (id: string, renderer: Record<string, unknown>, headers = {}) =>
  site.call("patchPanel", { params: { id }, body: { renderer }, headers });

async function newPanel(renderer: Record<string, unknown> = chat) {
  return (await create(renderer)).as(Panel);
}

describe("a panel", () => {
  test("is returned as created, and can be read by its id", async () => {
    const response = await create({ ...chat, icon_name: "chat" });
    const panel = response.as(Panel);
    expect(panel).toMatchObject({ collection: "panels", type: "panel", site_id: site.id, renderer: { ...chat, icon_name: "chat" } });
    expect(panel.slug).toBe(`match-chat-${panel._id.slice(-6)}`);
    expect(panel.last_modified).toBe(panel.modified);
    const read = await site.call("getPanel", { params: { id: panel._id } });
    expect(read.body).toEqual(response.body);
    expect(read.headers.get("ETag")).toBe(response.headers.get("ETag"));
  });

  test("has a slug whatever its name", async () => {
    const slugs = await Promise.all(["Überblick & Tore", "試合"].map(async (panel_name) => (await newPanel({ ...chat, panel_name })).slug));
    expect(slugs[0]).toMatch(/^u-berblick-tore-[0-9a-f]{6}$/);
    expect(slugs[1]).toMatch(/^panel-[0-9a-f]{6}$/);
  });

  // Each type with all of its own fields.
  const TYPES: Record<(typeof PANEL_TYPES)[number], Record<string, unknown>> = {
    chat: {
      allow_non_admin_links: true,
      filtered_words: "offside ref",
      system_name: "Announcer",
      system_image: "/media/v1/5eed0000000000000000f001",
      system_welcome_message: "Welcome",
      rules_link_url: "https://demo.example/rules",
      login_button_text: "Join in",
    },
    twitch_chat: { channel: "harbourcity", enable_dark_theme: true },
    iframe: { iframe_tag: iframe, enable_dark_theme: true, disable_on_mobile_embedded: true },
    schedule: { group_by_date: true, schedule_type_renderer: { schedule_type: "calendar", source_channels: [ID] } },
    quests: { quests: [quest], show_completed_count: true, rules_link_url: "https://demo.example/rules" },
    social: { sources: [{ array_id: "a1B2c3D4e", source: "@harbourcity" }], enable_dark_theme: true },
    channel_select: { behavior: { view: "grid", kind: "manual", pages: [ID] } },
    peopleGroups: {
      people: [
        {
          id: "ada",
          person_name: "Ada",
          person_title: "Keeper",
          person_bio: "Saves",
          person_image_url: "https://demo.example/ada.png",
          person_links: [link],
        },
      ],
      groups: [
        {
          id: "team",
          group_name: "First team",
          group_bio: "Eleven",
          group_banner_url: "https://demo.example/team.png",
          group_links: [{ generated_key: "k1", ...link }],
        },
      ],
    },
    leaderboard_achievement: { quests: [quest], show_completed_count: true },
    achievement_leaderboard: { quests: [quest], show_completed_count: true },
    playlist: { playlist_id: ID },
    shopify: { url: "https://shop.example/" },
    image: { image_url: "https://demo.example/kit.png", url: "https://shop.example/kit" },
    imagev2: { image_url: "/media/v1/5eed0000000000000000f001" },
    donations: { url: "https://give.example/", description: "For the lifeboats" },
    quick_pick: { questions: [question], rules_link_url: "https://demo.example/rules", help_link_url: "https://demo.example/help" },
    pubgMatch: { url: "https://match.example/7", id: "match-7" },
    multiple_choice: { questions: [question] },
    question_answer: {
      prompt: "Ask the coach",
      sort_by: "created",
      show_answered: false,
      rules_link_url: "https://demo.example/rules",
    },
  };

  test.for(Object.entries(TYPES))("of type %s keeps the fields of its type, and rejects unknown fields", async ([panel_type, fields]) => {
    const renderer = { panel_type, panel_name: "Panel", ...fields };
    expect((await newPanel(renderer)).renderer).toMatchObject(renderer);
    expect(await create({ ...renderer, surprise: 1 })).toMatchObject({ status: 400, fields: ["renderer.surprise"] });
  });

  test("rejects a field of another type", async () => {
    expect(await create({ ...chat, playlist_id: ID })).toMatchObject({ status: 400, fields: ["renderer.playlist_id"] });
  });

  test("with a manual schedule keeps its events", async () => {
    const event = {
      array_id: "a1B2c3D4e",
      name: "Kick-off",
      start_time: 1,
      end_time: 2,
      location: "Park",
      more_info: "Gates at 1",
      references: [{ collection: "pages", id: ID }],
    };
    const schedule = { schedule_type: "manual", manual_events: [event] };
    expect((await newPanel({ panel_type: "schedule", panel_name: "Today", schedule_type_renderer: schedule })).renderer).toMatchObject({
      schedule_type_renderer: schedule,
    });
  });

  test("of type channel_select defaults to an automatic list", async () => {
    expect((await newPanel({ panel_type: "channel_select", panel_name: "Channels" })).renderer).toMatchObject({
      behavior: { view: "list", kind: "automatic", pages: [] },
    });
  });

  test("separates filtered words by single spaces", async () => {
    expect((await newPanel({ ...chat, filtered_words: "  offside \n ref\t" })).renderer).toMatchObject({ filtered_words: "offside ref" });
  });

  test("of type iframe keeps only the https URL of its html", async () => {
    const html =
      '<div onclick="a()"><iframe onload="alert(1)" srcdoc="<b>" src="https://stats.example/?a=1&b=2"></iframe><script>alert(1)</script></div>';
    const { _id, renderer } = await newPanel({ panel_type: "iframe", panel_name: "Stats", iframe_tag: html });
    const tag = renderer.panel_type === "iframe" ? renderer.iframe_tag : "";
    expect(tag).toMatch(/^<iframe src="https:\/\/stats\.example\/\?a=1&amp;b=2" sandbox="[a-z -]+" [a-z "=-]+><\/iframe>$/);
    expect(tag).not.toContain("allow-top-navigation");
    // The response must be valid input.
    expect((await patch(_id, { iframe_tag: tag })).as(Panel).renderer).toMatchObject({ iframe_tag: tag });
  });

  test.for(["é", "&"])("of type iframe rejects a URL that is too long once escaped: %s", async (letter) => {
    const renderer = {
      panel_type: "iframe",
      panel_name: "Stats",
      iframe_tag: `<iframe src="https://stats.example/?${letter.repeat(1100)}">`,
    };
    expect(await create(renderer)).toMatchObject({ status: 400, fields: ["renderer.iframe_tag"] });
    const { _id } = await newPanel({ ...renderer, iframe_tag: `<iframe src="https://stats.example/?${letter.repeat(700)}">` });
    expect((await patch(_id, { panel_name: "Numbers" })).status).toBe(200);
  });

  test.for<[field: string, renderer: Record<string, unknown>]>([
    ["renderer.panel_type", { panel_type: "hologram", panel_name: "Panel" }],
    ["renderer.panel_name", { panel_type: "chat" }],
    ["renderer.panel_name", { ...chat, panel_name: " " }],
    ["renderer.filtered_words", { ...chat, filtered_words: ["offside"] }],
    ["renderer.system_image", { ...chat, system_image: "http://demo.example/a.png" }],
    ["renderer.help_link_url", { ...chat, help_link_url: "javascript:alert(1)" }],
    ["renderer.channel", { panel_type: "twitch_chat", panel_name: "Twitch" }],
    ["renderer.channel", { panel_type: "twitch_chat", panel_name: "Twitch", channel: "https://twitch.tv/harbourcity" }],
    ["renderer.iframe_tag", { panel_type: "iframe", panel_name: "Stats", iframe_tag: '<iframe src="http://stats.example/"></iframe>' }],
    ["renderer.iframe_tag", { panel_type: "iframe", panel_name: "Stats", iframe_tag: '<iframe src="javascript:alert(1)"></iframe>' }],
    ["renderer.iframe_tag", { panel_type: "iframe", panel_name: "Stats", iframe_tag: "<script>alert(1)</script>" }],
    ["renderer.quests.0.array_id", { panel_type: "quests", panel_name: "Quests", quests: [{ ...quest, array_id: "a1B2c3D4" }] }],
    ["renderer.quests.0.array_id", { panel_type: "quests", panel_name: "Quests", quests: [{ ...quest, array_id: "a1B2c3D4-" }] }],
    ["renderer.quests", { panel_type: "quests", panel_name: "Quests", quests: [quest, quest] }],
    ["renderer.questions.0.poll_id", { panel_type: "multiple_choice", panel_name: "Quiz", questions: [{ ...question, poll_id: "poll" }] }],
    [
      "renderer.sources.0.source",
      { panel_type: "social", panel_name: "Social", sources: [{ array_id: "a1B2c3D4e", source: "javascript:alert(1)" }] },
    ],
    ["renderer.behavior.view", { panel_type: "channel_select", panel_name: "Channels", behavior: { view: "carousel" } }],
    ["renderer.behavior.kind", { panel_type: "channel_select", panel_name: "Channels", behavior: { kind: "magic" } }],
    ["renderer.behavior.pages", { panel_type: "channel_select", panel_name: "Channels", behavior: { kind: "manual" } }],
    ["renderer.schedule_type_renderer", { panel_type: "schedule", panel_name: "Today" }],
    [
      "renderer.schedule_type_renderer.manual_events.0.end_time",
      {
        panel_type: "schedule",
        panel_name: "Today",
        schedule_type_renderer: {
          schedule_type: "manual",
          manual_events: [{ array_id: "a1B2c3D4e", name: "Kick-off", start_time: 2, end_time: 2 }],
        },
      },
    ],
    ["renderer.playlist_id", { panel_type: "playlist", panel_name: "Replays", playlist_id: "replays" }],
    ["renderer.image_url", { panel_type: "image", panel_name: "Kit" }],
    [
      "renderer.people.0.person_links.0.link_url",
      {
        panel_type: "peopleGroups",
        panel_name: "Team",
        people: [{ id: "ada", person_name: "Ada", person_links: [{ ...link, link_url: "javascript:alert(1)" }] }],
      },
    ],
  ])("rejects an invalid %s %#", async ([field, renderer]) => {
    expect(await create(renderer)).toMatchObject({ status: 400, fields: [field] });
  });

  test.for<[field: string, renderer: Record<string, unknown>]>([
    ["renderer.playlist_id", { panel_type: "playlist", panel_name: "Replays" }],
    ["renderer.questions.0.poll_id", { panel_type: "quick_pick", panel_name: "Quiz", questions: [question] }],
    ["renderer.quests.0.quest_id", { panel_type: "quests", panel_name: "Quests", quests: [quest] }],
  ])("rejects an id that doesn't exist or belongs to another site: %s", async ([field, renderer]) => {
    const other = await newSite();
    const own = renderer.panel_type === "playlist" ? { ...renderer, playlist_id: ID } : renderer;
    expect(await create(own, other)).toMatchObject({ status: 400, fields: [field] });
    expect((await create(own)).status).toBe(201);
  });

  test("can still be updated after its playlist is deleted", async () => {
    const { _id } = (
      await site.call("createPlaylist", { body: { siteId: site.id, title: "Goals", description: "", members: [], tags: [] } })
    ).as(Panel.pick({ _id: true }));
    const panel = await newPanel({ panel_type: "playlist", panel_name: "Replays", playlist_id: _id });
    await site.call("deletePlaylist", { params: { id: _id } });
    expect((await patch(panel._id, { panel_name: "Goals" })).status).toBe(200);
    expect(await patch(panel._id, { playlist_id: newId(1_000) })).toMatchObject({ status: 400, fields: ["renderer.playlist_id"] });
  });

  test("rejects a siteId that is not the client's", async () => {
    const response = await site.call("createPanel", { body: { siteId: newId(2), renderer: chat } });
    expect(response).toMatchObject({ status: 400, fields: ["siteId"] });
  });
});

describe("updating a panel", () => {
  test("by PUT replaces its renderer, including the type, but not the slug", async () => {
    const panel = await newPanel({ ...chat, system_name: "Announcer" });
    const renderer = { panel_type: "playlist", panel_name: "Replays", playlist_id: ID };
    const replaced = (await site.call("replacePanel", { params: { id: panel._id }, body: { siteId: site.id, renderer } })).as(Panel);
    expect(replaced.renderer).toEqual({ ...renderer, disable_on_mobile_embedded: false });
    expect(replaced.slug).toBe(panel.slug);
    expect((await site.call("getPanel", { params: { id: panel._id } })).body).toEqual(replaced);
  });

  test("by PATCH merges one level deep, and null removes a field", async () => {
    const panel = await newPanel({ ...chat, system_name: "Announcer", icon_name: "chat" });
    const { renderer } = (await patch(panel._id, { panel_name: "Terrace chat", system_name: null })).as(Panel);
    expect(renderer).toEqual({ ...panel.renderer, panel_name: "Terrace chat", system_name: undefined });
    const select = await newPanel({
      panel_type: "channel_select",
      panel_name: "Channels",
      behavior: { view: "grid", kind: "manual", pages: [ID] },
    });
    expect((await patch(select._id, { behavior: { view: "list" } })).as(Panel).renderer).toMatchObject({
      behavior: { view: "list", kind: "automatic", pages: [] },
    });
  });

  test("by PATCH rejects an invalid result and names the field", async () => {
    const { _id } = await newPanel();
    expect(await patch(_id, { playlist_id: ID })).toMatchObject({ status: 400, fields: ["renderer.playlist_id"] });
    expect(await patch(_id, { panel_name: null })).toMatchObject({ status: 400, fields: ["renderer.panel_name"] });
    expect((await patch(_id, { panel_type: "quests" })).fields).toContain("renderer.filtered_words");
  });

  test("succeeds for only one of several updates of the same version", async () => {
    const { _id } = await newPanel();
    const responses = await Promise.all(["a", "b", "c"].map((name) => patch(_id, { panel_name: name }, { "If-Match": '"v1"' })));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 409 || status === 412)).toHaveLength(2);
  });

  test("is logged from creation to deletion", async () => {
    const { _id } = await newPanel();
    await patch(_id, { panel_name: "Terrace chat" });
    await site.call("deletePanel", { params: { id: _id } });
    expect((await site.call("getPanel", { params: { id: _id } })).status).toBe(404);
    const { results } = (await site.call("listEvents", { query: { limit: 200 } })).as(EventList);
    expect(results.filter(({ resource }) => resource === `panel/${_id}`).map(({ type }) => type)).toEqual([
      "panel.created",
      "panel.updated",
      "panel.deleted",
    ]);
  });
});

describe("listing panels", () => {
  test("returns the site's own, most recently modified first, filtered by property", async () => {
    const other = await newSite();
    const names = ["One", "Two", "Three"];
    const panels = [];
    for (const panel_name of names) panels.push((await create({ ...chat, panel_name }, other)).as(Panel));
    await create({ panel_type: "image", panel_name: "Kit", image_url: "https://demo.example/kit.png" }, other);
    await other.call("patchPanel", { params: { id: panels[0]?._id ?? "" }, body: { renderer: { icon_name: "star" } } });
    const list = (query: Record<string, string | number>) => other.call("listPanels", { query, as: "viewer" });
    const namesOf = (response: ApiResponse) => response.as(PanelList).results.map(({ renderer }) => renderer.panel_name);
    const all = await list({});
    expect(namesOf(all)).toHaveLength(4);
    expect(namesOf(all)[0]).toBe("One");
    expect(all.as(PanelList).pagination).toMatchObject({ limit: 50, offset: 0, totalCount: 4, sortBy: "modified", sortDirection: -1 });
    expect(all.log.d1).toMatchObject({ roundTrips: 1 });
    expect(namesOf(await list({ panel_type: "image" }))).toEqual(["Kit"]);
    expect(namesOf(await list({ panel_name: "Two" }))).toEqual(["Two"]);
    for (const property of ["created", "modified", "last_modified"] as const) {
      expect(namesOf(await list({ [property]: panels[2]?.[property] ?? 0 })), property).toContain("Three");
      expect(namesOf(await list({ [property]: 1 })), property).toEqual([]);
    }
    expect(namesOf(await list({ _id: panels[2]?._id ?? "" }))).toEqual(["Three"]);
    expect(namesOf(await list({ site_id: other.id, type: "panel", collection: "panels" }))).toHaveLength(4);
    expect(namesOf(await list({ site_id: site.id }))).toEqual([]);
    expect(namesOf(await list({ slug: panels[2]?.slug ?? "" }))).toEqual(["Three"]);
    expect(namesOf(await list({ search: "kIT" }))).toEqual(["Kit"]);
    expect(namesOf(await list({ sortBy: "panel_name", limit: 2, offset: 1 }))).toEqual(["One", "Three"]);
  });
});
