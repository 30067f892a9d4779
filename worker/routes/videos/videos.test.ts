import { z } from "@hono/zod-openapi";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { eq } from "drizzle-orm";
import { createDb } from "#db/client.ts";
import { VIDEO_PLAYERS } from "#db/enums.ts";
import { playlists } from "#db/schema/playlists.ts";
import { videos } from "#db/schema/videos.ts";
import { newSite, type TestSite } from "#test/harness.ts";
import { addSkus } from "#test/files-and-skus.ts";
import { workingProvider } from "#test/streams.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { newId } from "#worker/lib/ids.ts";
import { Playlist } from "#worker/services/playlists/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Video } from "#worker/services/videos/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const VideoList = listOf(Video);

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
  await addSkus(site, "season-pass");
});

const highlights = {
  title: "Highlights",
  durationSeconds: 312,
  player: "file",
  type: "vod",
  url: "https://vod.demo.example/highlights.m3u8",
};
const highlightsRow = {
  ...highlights,
  player: "file" as const,
  type: "vod" as const,
  description: "",
  thumbnail: null,
  uploadStatus: "complete" as const,
  subscriptions: [],
  tags: [],
  streamId: null,
  liveBroadcastId: null,
};
const live = { title: "Derby, live", durationSeconds: 0, player: "tifo", type: "livestream", url: "https://live.demo.example/derby.m3u8" };

const create = (fields: Record<string, unknown> = {}, on = site) => on.call("createVideo", { body: { ...highlights, ...fields } });
const newVideo = async (fields: Record<string, unknown> = {}, on = site) => (await create(fields, on)).as(Video);
const update = (id: string, body: Record<string, unknown>, headers = {}) => site.call("updateVideo", { params: { id }, body, headers });

async function list(query: Record<string, string | number>, on = site) {
  return (await on.call("listVideos", { as: "developer", query })).as(VideoList);
}

/** The types of a video's events, in order. */
async function eventsOf(id: string, on = site): Promise<string[]> {
  const { results } = (await on.call("listEvents", { query: { limit: 200 } })).as(EventList);
  return results.filter(({ resource }) => resource === `video/${id}`).map(({ type }) => type);
}

describe("a video", () => {
  test("is returned as added, and readable by its id", async () => {
    const fields = { description: "All goals", thumbnail: "https://demo.example/a.jpg", subscriptions: ["season-pass"], tags: ["derby"] };
    const response = await create({ ...fields, siteId: site.id });
    const expected = { ...highlights, ...fields, siteId: site.id, uploadStatus: "complete", streamId: null, liveBroadcastId: null };
    expect(response.as(Video)).toMatchObject(expected);
    const read = await site.call("getVideo", { as: "developer", params: { id: response.as(Video)._id } });
    expect(read.body).toEqual(response.body);
    expect(read.headers.get("ETag")).toBe(response.headers.get("ETag"));
  });

  test("requires a title, duration, player, type and URL", async () => {
    const rejected = await site.call("createVideo", { body: {} });
    expect(rejected.fields.sort()).toEqual(["durationSeconds", "player", "title", "type", "url"]);
  });

  test("accepts only known players", async () => {
    const players = await Promise.all(VIDEO_PLAYERS.map(async (player) => (await newVideo({ player })).player));
    expect(players).toEqual([...VIDEO_PLAYERS]);
    expect((await create({ player: "betamax" })).fields).toEqual(["player"]);
  });

  test.each([
    ["type", "highlight"],
    ["uploadStatus", "halfway"],
    ["durationSeconds", -1],
    ["url", "javascript:alert(1)"],
    ["thumbnail", "http://demo.example/a.jpg"],
    ["subscriptions", [""]],
  ])("rejects an invalid %s", async (field, value) => {
    expect((await create({ [field]: value })).fields[0]).toMatch(new RegExp(`^${field}`));
  });

  test("keeps the fields that a change omits", async () => {
    const video = await newVideo({ description: "All goals", tags: ["derby"] });
    const changed = (await update(video._id, { title: "All four goals", tags: [] })).as(Video);
    expect(changed).toEqual({ ...video, title: "All four goals", tags: [], modified: changed.modified });
  });

  test("is changed by only one of two concurrent changes of the same version", async () => {
    const response = await create();
    const headers = { "If-Match": response.headers.get("ETag") ?? "" };
    const both = await Promise.all(["One", "Two"].map((title) => update(response.as(Video)._id, { title }, headers)));
    expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(both.filter(({ status }) => status === 409 || status === 412)).toHaveLength(1);
  });

  test("is a 404 once it is deleted", async () => {
    const { _id: id } = await newVideo();
    expect((await site.call("deleteVideo", { params: { id } })).body).toEqual({ success: true, _id: id });
    for (const operation of ["getVideo", "getTotalViews", "deleteVideo"])
      expect((await site.call(operation, { params: { id } })).status).toBe(404);
  });
});

describe("the events of a recording", () => {
  test("include admin.vodReady once it is complete", async () => {
    const complete = await newVideo();
    expect(await eventsOf(complete._id)).toEqual(["video.created", "admin.vodReady"]);
    const pending = await newVideo({ uploadStatus: "pending" });
    expect(await eventsOf(pending._id)).toEqual(["video.created"]);
    await update(pending._id, { uploadStatus: "complete" });
    await update(pending._id, { title: "Still complete" });
    expect(await eventsOf(pending._id)).toEqual(["video.created", "video.updated", "admin.vodReady", "video.updated"]);
  });

  test("include admin.vodDeleted", async () => {
    const { _id: id } = await newVideo();
    await site.call("deleteVideo", { params: { id } });
    expect((await eventsOf(id)).slice(2)).toEqual(["video.deleted", "admin.vodDeleted"]);
  });

  test("include neither for a livestream", async () => {
    const { _id: id } = await newVideo(live);
    await site.call("deleteVideo", { params: { id } });
    expect(await eventsOf(id)).toEqual(["video.created", "video.deleted"]);
  });
});

describe("the list", () => {
  test.each([
    ["title", "Only this"],
    ["description", "Of this one"],
    ["durationSeconds", 77.5],
    ["player", "mixcloud"],
    ["type", "livestream"],
    ["url", "https://vod.demo.example/only.m3u8"],
    ["thumbnail", "https://demo.example/only.jpg"],
    ["uploadStatus", "pending"],
    ["subscriptions", "gold"],
    ["tags", "only"],
  ])("is filtered by %s", async (field, value) => {
    const own = await newSite();
    await addSkus(own, "other", "gold");
    const isList = field === "subscriptions" || field === "tags";
    const video = await newVideo({ [field]: isList ? ["other", value] : value }, own);
    await newVideo({}, own);
    const { results } = await list({ [field]: value }, own);
    expect(results).toEqual([video]);
  });

  test("is filtered by id, times and broadcast, and rejects unknown filters", async () => {
    const video = await newVideo({ ...live, liveBroadcastId: "derby-1" });
    const { _id, created, modified } = video;
    expect((await list({ _id, created, modified, liveBroadcastId: "derby-1", siteId: site.id })).results).toEqual([video]);
    expect((await site.call("listVideos", { query: { colour: "red" } })).fields).toEqual(["colour"]);
    expect((await site.call("listVideos", { query: { siteId: newId(1) } })).fields).toEqual(["siteId"]);
  });

  test("is filtered by playlist, but not by one of another site", async () => {
    const own = await newSite();
    const ids = [(await newVideo({ title: "Second" }, own))._id, (await newVideo({ title: "First" }, own))._id];
    await newVideo({}, own);
    const playlistOf = async (members: object[], on: TestSite) =>
      (await on.call("createPlaylist", { body: { title: "Clips", members } })).as(Playlist)._id;
    const members = ids.map((id) => ({ id, schema: "video" }));
    const playlistId = await playlistOf([...members, ...members, { id: await playlistOf([], own), schema: "playlist" }], own);
    const { results, pagination } = await list({ playlistId, sortBy: "title" }, own);
    expect(results.map(({ _id }) => _id)).toEqual(ids.toReversed());
    expect(pagination.totalCount).toBe(2);
    const rest = await list({ playlistId, sortBy: "title", limit: 1, offset: 1 }, own);
    expect(rest.results.map(({ _id }) => _id)).toEqual(ids.slice(0, 1));
    expect((await list({ playlistId: newId(1) }, own)).results).toEqual([]);
    expect((await list({ playlistId })).results).toEqual([]);
    await createDb(siteStore).update(playlists).set({ siteId: site.id }).where(eq(playlists.id, playlistId));
    expect((await list({ playlistId }, own)).results).toEqual([]);
  });

  test("returns 50, last changed first, and searches text", async () => {
    const own = await newSite();
    const first = await newVideo({ title: "First half" }, own);
    const second = await newVideo({ description: "The SECOND half" }, own);
    const { results, pagination } = await list({}, own);
    expect(results).toHaveLength(2);
    expect(pagination).toMatchObject({ limit: 50, sortBy: "modified", sortDirection: -1, totalCount: 2, pageResults: 2 });
    expect((await list({ search: "second" }, own)).results).toEqual([second]);
    expect((await list({ sortBy: "title", sortDirection: 1 }, own)).results[0]).toEqual(first);
  });

  test("of livestreams has no recordings, and is filtered by player", async () => {
    const own = await newSite();
    await newVideo({}, own);
    const tifo = await newVideo(live, own);
    const twitch = await newVideo({ ...live, player: "twitch" }, own);
    const ids = async (query: Record<string, string>) =>
      (await own.call("listLivestreams", { query }))
        .as(VideoList)
        .results.map(({ _id }) => _id)
        .sort();
    expect(await ids({})).toEqual([tifo._id, twitch._id].sort());
    expect(await ids({ player: "twitch" })).toEqual([twitch._id]);
  });
});

const Statements = z.array(z.object({ results: z.array(z.unknown()), meta: z.object({ rows_read: z.number() }) }));

/** When the many videos were created. */
const MASS = 17;
// Seven per timestamp, so that the id has to break ties.
const INSERT_MASS = `
  with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ?1)
  insert into videos (id, site_id, title, description, duration_seconds, player, type, url, upload_status, subscriptions, tags, created, modified)
  select printf('%024x', n), ?2, 'Video ' || n, '', 10, 'file', 'vod', 'https://vod.demo.example/' || n, 'complete', '[]', '[]', ?3, n / 7
  from numbers`;

/** A page of 200 videos, and the rows that the database read for it, without the count. */
async function readPage(on: TestSite, link: string): Promise<{ ids: string[]; next: string | null; rowsRead: number }> {
  const batch = vi.spyOn(siteStore, "batch");
  const query = Object.fromEntries(new URL(link, "https://tifo.test").searchParams);
  const { results, pagination } = (await on.call("listVideos", { query })).as(VideoList);
  const responses: unknown[] = await Promise.all(batch.mock.results.map((result): unknown => result.value));
  batch.mockRestore();
  const statements = responses.flatMap((response) => Statements.parse(response));
  const rowsRead = statements.find((statement) => statement.results.length >= 200)?.meta.rows_read ?? Infinity;
  return { ids: results.map(({ _id }) => _id), next: pagination.next, rowsRead };
}

describe("a list of 100,000", () => {
  const TOTAL = 100_000;
  /** Where the walk to the end starts. */
  const LATE = TOTAL - 1_000;
  const idOf = (index: number): string => index.toString(16).padStart(24, "0");

  afterEach(async () => {
    await createDb(siteStore).delete(videos).where(eq(videos.created, MASS));
  });

  test("contains each video once, and a late page reads no more rows than the first", async () => {
    const own = await newSite();
    await siteStore.prepare(INSERT_MASS).bind(TOTAL, own.id, MASS).run();
    const first = await readPage(own, "/?limit=200");
    expect(first.ids).toEqual(Array.from({ length: 200 }, (_, index) => idOf(TOTAL - index)));
    const seen: string[] = [];
    let { next } = await readPage(own, `/?limit=200&offset=${LATE - 200}`);
    while (next !== null) {
      const page = await readPage(own, next);
      expect(page.rowsRead).toBeLessThan(2 * first.rowsRead);
      seen.push(...page.ids);
      next = page.next;
    }
    expect(seen).toEqual(Array.from({ length: TOTAL - LATE }, (_, index) => idOf(TOTAL - LATE - index)));
  });
});

describe("a stream's recording", () => {
  const stream = async (channelId?: string) => {
    const body = { title: "Derby", provider: await workingProvider(site), fallbackImageUrl: "https://demo.example/soon.png", channelId };
    return String((await site.call("createStream", { body })).as(z.looseObject({ _id: z.string() }))._id);
  };
  const vod = { durationSeconds: 5580, url: "https://vod.demo.example/derby.m3u8" };

  test("is a complete video of the stream, with its title and image", async () => {
    const streamId = await stream();
    const video = (await site.call("createVod", { body: { ...vod, streamId } })).as(Video);
    const expected = { ...vod, streamId, title: "Derby", thumbnail: "https://demo.example/soon.png", type: "vod", player: "tifo" };
    expect(video).toMatchObject({ ...expected, uploadStatus: "complete" });
    expect(await eventsOf(video._id)).toEqual(["video.created", "admin.vodReady"]);
    expect((await list({ streamId })).results).toEqual([video]);
  });

  test("may have its own title and image", async () => {
    const fields = { title: "The whole derby", thumbnail: null, streamId: await stream() };
    expect((await site.call("createVod", { body: { ...vod, ...fields } })).as(Video)).toMatchObject(fields);
  });

  test("requires a stream of the site", async () => {
    const foreign = await newSite();
    const streamId = await stream();
    expect((await foreign.call("createVod", { body: { ...vod, streamId } })).fields).toEqual(["streamId"]);
    expect((await site.call("createVod", { body: {} })).fields.sort()).toEqual(["durationSeconds", "streamId", "url"]);
  });

  test("can be added by a creator only for streams of their own channel", async () => {
    const [mine, another] = [await stream(site.channels[0]), await stream(site.channels[1])];
    const add = (streamId: string) => site.call("createVod", { as: "creator", body: { ...vod, streamId } });
    expect((await add(mine)).status).toBe(201);
    expect((await add(another)).status).toBe(403);
    expect((await add(await stream())).status).toBe(403);
  });
});

describe("a livestream's metadata", () => {
  const change = (liveBroadcastId: string, body: Record<string, unknown>, on = site) =>
    on.call("updateLiveMetadata", { params: { liveBroadcastId }, body });

  test("is changed by broadcast id", async () => {
    const video = await newVideo({ ...live, liveBroadcastId: "derby-2" });
    const body = { title: "Second half", thumbnail: "https://demo.example/second.jpg" };
    const changed = (await change("derby-2", body)).as(Video);
    expect(changed).toEqual({ ...video, ...body, modified: changed.modified });
    expect((await site.call("getVideo", { as: "developer", params: { id: video._id } })).body).toEqual(changed);
    expect((await update(video._id, { title: "Full time" })).as(Video).liveBroadcastId).toBe("derby-2");
  });

  test("is found by the YouTube video's id", async () => {
    const video = await newVideo({ ...live, player: "youtube", url: "https://www.youtube.com/watch?v=abcdefghijk" });
    expect(video.liveBroadcastId).toBe("abcdefghijk");
    expect((await change("abcdefghijk", { title: "Kick-off" })).as(Video).title).toBe("Kick-off");
    const moved = (await update(video._id, { url: "https://youtu.be/lmnopqrstuv" })).as(Video);
    expect(moved.liveBroadcastId).toBe("lmnopqrstuv");
    expect((await update(video._id, { type: "vod" })).as(Video).liveBroadcastId).toBeNull();
  });

  test("is changed for the newest if several share a broadcast", async () => {
    const older = await newVideo({ ...live, liveBroadcastId: "derby-3" });
    const newer = newId(Date.now() + 1_000);
    const row = { ...highlightsRow, id: newer, siteId: site.id, type: "livestream" as const, liveBroadcastId: "derby-3" };
    await createDb(siteStore)
      .insert(videos)
      .values({ ...row, created: 1, modified: 1 });
    expect((await change("derby-3", { title: "Extra time" })).as(Video)._id).toBe(newer);
    expect((await site.call("getVideo", { params: { id: older._id } })).as(Video).title).toBe(older.title);
  });

  test("isn't found for recordings or other sites, and can't be empty", async () => {
    expect((await newVideo({ liveBroadcastId: "derby-4" })).liveBroadcastId).toBeNull();
    expect((await change("derby-4", { title: "Kick-off" })).status).toBe(404);
    await newVideo({ ...live, liveBroadcastId: "derby-5" });
    expect((await change("derby-5", { title: "Kick-off" }, await newSite())).status).toBe(404);
    expect((await change("derby-5", {})).status).toBe(400);
  });
});
