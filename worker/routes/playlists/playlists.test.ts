import { env } from "cloudflare:workers";
import { z } from "@hono/zod-openapi";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { MEMBER_SCHEMAS } from "#db/enums.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { addResource } from "#test/resources.ts";
import { publishVideo, youtube } from "#test/video-platforms.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { fetchYoutubePlaylist } from "#worker/integrations/youtube.ts";
import { newId } from "#worker/lib/ids.ts";
import { Video } from "#worker/services/videos/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Playlist, ProjectedPlaylist, Reference } from "#worker/services/playlists/schemas.ts";

const PlaylistList = listOf(ProjectedPlaylist);
const Created = z.looseObject({ _id: z.string() });

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
  for (const { id, schema } of members) await addResource(site, schema, id);
});

const members = [{ id: newId(1), schema: "video" as const }];
const create = (fields: Record<string, unknown> = {}, on = site) =>
  on.call("createPlaylist", { body: { title: "Derby day", members: on === site ? members : [], ...fields } });
const newPlaylist = async (fields: Record<string, unknown> = {}, on = site) => (await create(fields, on)).as(Playlist);
const update = (id: string, body: Record<string, unknown>, headers = {}) => site.call("updatePlaylist", { params: { id }, body, headers });
const list = async (query: Record<string, string | number>, on = site) => (await on.call("listPlaylists", { query })).as(PlaylistList);
const listById = async (query: Record<string, string | number>) => (await site.call("listPlaylistsById", { query })).as(PlaylistList);
const video = { title: "Highlights", durationSeconds: 312, player: "youtube", type: "vod" };

describe("a playlist", () => {
  test("is returned as created, and can be read by its id", async () => {
    const all = [];
    for (const schema of MEMBER_SCHEMAS) all.push({ id: await addResource(site, schema), schema });
    const fields = { description: "Every goal", tags: ["derby"], members: all };
    const response = await create(fields);
    expect(response.as(Playlist)).toMatchObject({ title: "Derby day", siteId: site.id, ...fields });
    const read = await site.call("getPlaylist", { params: { id: response.as(Playlist)._id } });
    expect(read.body).toEqual(response.body);
    expect(read.headers.get("ETag")).toBe(response.headers.get("ETag"));
  });

  test("requires a title, and members with id and schema", async () => {
    expect((await site.call("createPlaylist", { body: {} })).fields.sort()).toEqual(["members", "title"]);
    expect((await create({ members: [{ id: newId(1) }] })).fields).toEqual(["members.0.schema"]);
    expect((await create({ members: [{ id: "one", schema: "video" }] })).fields).toEqual(["members.0.id"]);
    expect((await create({ members: [{ id: newId(1), schema: "sofa" }] })).fields).toEqual(["members.0.schema"]);
  });

  test("keeps the fields that an update omits", async () => {
    const playlist = await newPlaylist({ description: "Every goal", tags: ["derby"] });
    const change = { members: [{ id: await addResource(site, "page"), schema: "page" }] };
    const changed = (await update(playlist._id, change)).as(Playlist);
    expect(changed).toEqual({ ...playlist, ...change, modified: changed.modified });
  });

  test("accepts only one of two updates of the same version", async () => {
    const response = await create();
    const headers = { "If-Match": response.headers.get("ETag") ?? "" };
    const both = await Promise.all(["One", "Two"].map((title) => update(response.as(Playlist)._id, { title }, headers)));
    expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(both.filter(({ status }) => status === 409 || status === 412)).toHaveLength(1);
  });

  test("is logged with each change, and returns 404 once deleted", async () => {
    const { _id: id } = await newPlaylist();
    await update(id, { title: "Derby night" });
    expect((await site.call("deletePlaylist", { params: { id } })).body).toEqual({ success: true, _id: id });
    const { results } = (await site.call("listEvents", { query: { limit: 200 } })).as(EventList);
    const own = results.filter(({ resource }) => resource === `playlist/${id}`);
    expect(own.map(({ type }) => type)).toEqual(["playlist.created", "playlist.updated", "playlist.deleted"]);
    const calls = [
      site.call("getPlaylist", { params: { id } }),
      update(id, { title: "Gone" }),
      site.call("deletePlaylist", { params: { id } }),
    ];
    for (const response of await Promise.all(calls)) {
      expect(response.status).toBe(404);
      expect(response.problem?.message).toBe("Playlist Not Found");
    }
  });
});

describe("the list of playlists", () => {
  test.each([
    ["title", "Only this"],
    ["description", "Of this one"],
    ["tags", "only"],
  ])("is filtered by %s", async (field, value) => {
    const playlist = await newPlaylist({ [field]: field === "tags" ? ["other", value] : value });
    await newPlaylist();
    const { _id, created, modified } = playlist;
    expect((await list({ [field]: value })).results).toEqual([playlist]);
    expect((await list({ _id, created, modified, siteId: site.id })).results).toEqual([playlist]);
  });

  test("returns 50, most recently modified first, with the requested fields", async () => {
    const own = await newSite();
    const first = await newPlaylist({ title: "First" }, own);
    const second = await newPlaylist({ title: "Second" }, own);
    const { results, pagination } = await list({ projection: "title,members" }, own);
    expect(results).toEqual([second, first].map(({ _id, title }) => ({ _id, title, members: [] })));
    expect(pagination).toMatchObject({ limit: 50, sortBy: "modified", sortDirection: -1, totalCount: 2 });
    expect((await list({ sortBy: "title", sortDirection: 1, projection: "_id" }, own)).results).toEqual([
      { _id: first._id },
      { _id: second._id },
    ]);
    expect((await own.call("listPlaylists", { query: { projection: "colour" } })).fields[0]).toMatch(/^projection/);
  });

  test("by ids returns the site's own, paginated", async () => {
    const [one, two, three] = [await newPlaylist(), await newPlaylist(), await newPlaylist()];
    const foreign = await newPlaylist({}, await newSite());
    const ids = [one, foreign, three, { _id: newId(3) }].map(({ _id }) => _id).join(",");
    const { results, pagination } = await listById({ ids, projection: "title" });
    expect(results).toEqual([three, one].map(({ _id, title }) => ({ _id, title })));
    expect(pagination.totalCount).toBe(2);
    expect((await listById({ ids, limit: 1, offset: 1 })).results).toEqual([one]);
    expect((await listById({ ids: two._id })).results).toEqual([two]);
  });

  test("by ids requires 1 to 200 ids", async () => {
    expect((await site.call("listPlaylistsById")).fields).toEqual(["ids"]);
    const ids = Array.from({ length: 201 }, (_, index) => newId(index)).join(",");
    expect((await site.call("listPlaylistsById", { query: { ids } })).fields).toEqual(["ids"]);
    expect((await site.call("listPlaylistsById", { query: { ids: "one" } })).fields[0]).toMatch(/^ids/);
  });
});

describe("the references of an item", () => {
  const references = (id: string, on = site) => on.call("listReferences", { params: { id } });

  test("are listed with collection and name", async () => {
    const url = "https://www.youtube.com/watch?v=aaaaaaaaaaa";
    const { _id: videoId } = (await site.call("createVideo", { body: { ...video, url } })).as(Video);
    const playlist = await newPlaylist({ title: "Goals", members: [{ id: videoId, schema: "video" }] });
    const parent = await newPlaylist({ title: "Season", members: [{ id: playlist._id, schema: "playlist" }] });
    const renderer = { panel_type: "playlist", panel_name: "Watch again", playlist_id: playlist._id };
    const panel = (await site.call("createPanel", { body: { siteId: site.id, renderer } })).as(Created);
    const page = await site.addChannel("replays", { content: { offline: { playlist: playlist._id } } });
    expect((await references(videoId)).as(z.array(Reference))).toEqual([{ _id: playlist._id, collection: "playlists", name: "Goals" }]);
    expect((await references(playlist._id)).as(z.array(Reference))).toEqual([
      { _id: parent._id, collection: "playlists", name: "Season" },
      { _id: panel._id, collection: "panels", name: "Watch again" },
      { _id: page, collection: "pages", name: "replays" },
    ]);
  });

  test("include a quest that requires watching it, and a template that shows it", async () => {
    const url = "https://www.youtube.com/watch?v=bbbbbbbbbbb";
    const { _id: videoId } = (await site.call("createVideo", { body: { ...video, url } })).as(Video);
    const action = { arrayId: "a1B2c3D4e", body: "Watch", kind: "watch:specific:video", callToAction: "Watch", validationValue: videoId };
    const texts = { title: "Watch it", description: "", rewardDescription: "", rewardType: "prize", claimedMessage: "" };
    const quest = (await site.call("createQuest", { body: { siteId: site.id, ...texts, actions: [action] } })).as(Created);
    expect((await references(videoId)).body).toEqual([{ _id: quest._id, collection: "quests", name: "Watch it" }]);
    const { _id: playlistId } = await newPlaylist();
    const who = { creator: "ada", owner: "ada" };
    const renderer = { panel_type: "playlist", panel_name: "Watch again", playlist_id: playlistId };
    const panel = { collection: "panels", type: "panel", site_id: site.id, slug: "again", renderer, ...who };
    const body = { title: "Match day", siteId: site.id, panels: [panel], rules: [], ...who };
    const template = (await site.call("createChannelTemplate", { body })).as(Created);
    expect((await references(playlistId)).body).toEqual([{ _id: template._id, collection: "templates", name: "Match day" }]);
  });

  test("are empty for an unused playlist, and a 404 for one of another site", async () => {
    const { _id: id } = await newPlaylist();
    expect((await references(id)).body).toEqual([]);
    const rejected = await references(id, await newSite());
    expect([rejected.status, rejected.problem?.message]).toEqual([404, "Playlist Not Found"]);
  });
});

describe("an import from YouTube", () => {
  const importFrom = (list: string, on = site) =>
    on.call("importYoutubePlaylist", { body: { url: `https://www.youtube.com/playlist?list=${list}` } });
  const publish = (id: string, videoIds: string[]) =>
    youtube.playlists.set(id, { snippet: { title: `List ${id}`, description: "From YouTube" }, videoIds });

  beforeEach(() => {
    youtube.errors = [];
    youtube.key = "youtube-key";
  });

  test("reads at most the maximum length of a YouTube playlist, even if little of it is public", async () => {
    publishVideo("within");
    publishVideo("beyond");
    const hidden = (count: number) => Array.from({ length: count }, () => "private");
    publish("PLlong", [...hidden(4999), "within", "beyond"]);
    const { videos } = await fetchYoutubePlaylist(env, "https://www.youtube.com/playlist?list=PLlong");
    expect(videos.map(({ title }) => title)).toEqual(["Video within"]);
  });

  test("creates a playlist and its videos, with an event for each", async () => {
    const own = await newSite();
    publishVideo("one", { description: "All goals", tags: ["derby"], thumbnails: { medium: { url: "https://i.demo.example/1.jpg" } } });
    publishVideo("two", { liveBroadcastContent: "live" }, "P0D");
    publish("PL1", ["one", "private", "two", "one"]);
    const playlist = (await importFrom("PL1", own)).as(Playlist);
    expect(playlist).toMatchObject({ title: "List PL1", description: "From YouTube" });
    const videos = await Promise.all(playlist.members.map(async ({ id }) => (await own.call("getVideo", { params: { id } })).as(Video)));
    expect(videos[0]).toMatchObject({
      title: "Video one",
      description: "All goals",
      tags: ["derby"],
      durationSeconds: 312,
      player: "youtube",
      type: "vod",
      url: "https://www.youtube.com/watch?v=one",
      thumbnail: "https://i.demo.example/1.jpg",
      uploadStatus: "complete",
    });
    expect(videos[1]).toMatchObject({ type: "livestream", liveBroadcastId: "two", durationSeconds: 0 });
    expect(videos[2]).toEqual(videos[0]);
    const { results } = (await own.call("listEvents", { query: { limit: 200 } })).as(EventList);
    const types = results.map(({ type }) => type).filter((type) => /^(video|playlist|admin\.vod)/.test(type));
    expect(types).toEqual(["playlist.created", "video.created", "admin.vodReady", "video.created"]);
  });

  test("reuses the site's existing videos", async () => {
    publishVideo("three");
    publish("PL2", ["three"]);
    const url = "https://www.youtube.com/watch?v=three";
    const { _id: id } = (await site.call("createVideo", { body: { ...video, url } })).as(Video);
    for (const playlist of [await importFrom("PL2"), await importFrom("PL2")])
      expect(playlist.as(Playlist).members).toEqual([{ id, schema: "video" }]);
    const foreign = (await importFrom("PL2", await newSite())).as(Playlist);
    expect(foreign.members).not.toEqual([{ id, schema: "video" }]);
  });

  test("imports the first 200 videos, page by page", async () => {
    const ids = Array.from({ length: 230 }, (_, index) => `v${index}`);
    for (const id of ids) publishVideo(id);
    publish("PL3", ids);
    const { members: imported } = (await importFrom("PL3")).as(Playlist);
    expect(imported).toHaveLength(200);
    const last = (await site.call("getVideo", { params: { id: imported[199]?.id ?? "" } })).as(Video);
    expect(last.title).toBe("Video v199");
  });

  test("requires the URL of a public playlist", async () => {
    const urls = [
      "https://www.youtube.com/watch?v=one",
      "https://demo.example/playlist?list=PL1",
      "https://www.youtube.com/playlist?list=none",
    ];
    for (const url of urls) expect((await site.call("importYoutubePlaylist", { body: { url } })).fields, url).toEqual(["url"]);
  });

  test("reports a missing key", async () => {
    const keyless = { ...env, ...{ TIFO_YOUTUBE_KEY: "" } };
    const request = fetchYoutubePlaylist(keyless, "https://www.youtube.com/playlist?list=PL1");
    await expect(request).rejects.toMatchObject({ code: "youtube_not_configured" });
  });

  test("leaves nothing behind if it fails midway", async () => {
    const own = await newSite();
    publishVideo("four");
    publish("PL4", ["four"]);
    youtube.key = "another key";
    expect((await importFrom("PL4", own)).problem?.code).toBe("unavailable");
    youtube.key = "youtube-key";
    youtube.errors = [500];
    expect((await importFrom("PL4", own)).problem?.code).toBe("unavailable");
    expect((await list({}, own)).results).toEqual([]);
    expect((await own.call("listVideos")).as(listOf(Video)).results).toEqual([]);
  });
});
