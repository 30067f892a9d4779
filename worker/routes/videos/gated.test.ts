import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { newSite, openSocket, type TestSite } from "#test/harness.ts";
import { addSkus } from "#test/files-and-skus.ts";
import { registerProvider } from "#test/streams.ts";
import { channelName } from "#worker/durable-objects/channel/channel.protocol.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { PageContent } from "#worker/services/pages/content-schemas.ts";
import { Panel } from "#worker/services/panels/schemas.ts";
import { Playlist } from "#worker/services/playlists/schemas.ts";
import { Stream } from "#worker/services/streams/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Video, type VideoInput } from "#worker/services/videos/schemas.ts";

const VideoList = listOf(Video);
const PAID = { type: "entitlement", skus: ["season-pass"] };
const LOGIN = { type: "login", skus: [] };

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
  await addSkus(site, "replays");
});

async function addVideo(change: Partial<VideoInput> = {}): Promise<Video> {
  const url = `https://vod.demo.example/${randomHex(8)}.m3u8`;
  const body = { title: "Derby", durationSeconds: 60, player: "file", type: "vod", url, ...change };
  return (await site.call("createVideo", { body })).as(Video);
}

type Video = ReturnType<(typeof Video)["parse"]>;
type As = "client" | "viewer" | "creator" | "reader" | "admin" | "developer";

async function read(id: string, as: As = "client"): Promise<Video> {
  return (await site.call("getVideo", { as, params: { id } })).as(Video);
}

const addPage = (data: Record<string, unknown>): Promise<string> => site.addChannel(`page-${randomHex(6)}`, data);
const showing = (id: string, programme: "live" | "offline" = "offline") => ({ content: { [programme]: { video_id: id } } });

async function replacePage(id: string, data: Record<string, unknown>): Promise<void> {
  const response = await site.call("updatePage", {
    params: { id },
    body: { slug: `page-${randomHex(6)}`, data: { name: "Match", ...data } },
  });
  expect(response.status, response.text).toBe(200);
}

async function addPlaylistPanel(...videoIds: string[]): Promise<{ playlistId: string; panelId: string }> {
  const members = videoIds.map((id) => ({ id, schema: "video" }));
  const playlist = (await site.call("createPlaylist", { body: { title: "Clips", members } })).as(Playlist);
  const renderer = { panel_type: "playlist", panel_name: "Clips", playlist_id: playlist._id };
  return { playlistId: playlist._id, panelId: (await site.call("createPanel", { body: { siteId: site.id, renderer } })).as(Panel)._id };
}

describe("the URL of a video", () => {
  test.for<[what: string, data: Record<string, unknown>]>([
    ["a login gate", { gate: LOGIN }],
    ["an entitlement gate", { gate: PAID }],
    ["regions", { regions: ["GB"] }],
    ["a schedule", { schedule: { startTimestamp: 1, endTimestamp: 2 } }],
  ])("is null while a page with %s shows it, except for managers", async ([, data]) => {
    for (const programme of ["live", "offline"] as const) {
      const { _id, url } = await addVideo();
      expect(await read(_id)).toMatchObject({ url, gated: false });
      await addPage({ ...data, ...showing(_id, programme) });
      for (const as of ["client", "viewer", "creator"] as const) expect(await read(_id, as)).toMatchObject({ url: null, gated: true });
      for (const as of ["reader", "admin", "developer"] as const) expect(await read(_id, as)).toMatchObject({ url, gated: true });
    }
  });

  test("stays public on unrestricted pages", async () => {
    const { _id, url } = await addVideo();
    await addPage(showing(_id));
    await addPage({ regions: [], ...showing(_id) });
    expect(await read(_id)).toMatchObject({ url, gated: false });
  });

  test("is null if the page of another site doesn't restrict it, but its own does", async () => {
    const other = await newSite();
    const { _id, url } = await addVideo();
    await other.addChannel("gated", { gate: PAID, ...showing(_id) });
    expect(await read(_id)).toMatchObject({ url, gated: false });
    await addPage({ gate: PAID, ...showing(_id) });
    expect(await read(_id)).toMatchObject({ url: null });
  });

  test("is null if the video has skus, or is set to gated", async () => {
    const changes: Partial<VideoInput>[] = [{ subscriptions: ["replays"] }, { access: "gated" }];
    for (const change of changes) {
      const video = await addVideo(change);
      expect(video.gated && video.url).toMatch(/^https:/);
      expect(await read(video._id)).toMatchObject({ url: null, gated: true });
    }
  });

  test("is null in lists, also for livestreams", async () => {
    const change = { type: "livestream", liveBroadcastId: "derby-live", title: randomHex(8) } as const;
    const { _id, url, title } = await addVideo({ ...change, access: "gated" });
    for (const [operation, query] of [
      ["listVideos", { _id }],
      ["listLivestreams", { search: title }],
    ] as const) {
      const list = async (as: As) => (await site.call(operation, { as, query })).as(VideoList).results;
      expect(await list("client")).toMatchObject([{ url: null, liveBroadcastId: null, gated: true }]);
      expect(await list("developer")).toMatchObject([{ url, liveBroadcastId: "derby-live" }]);
    }
  });

  test("can't be guessed by a filter", async () => {
    const fields = { url: "https://vod.demo.example/secret.m3u8", thumbnail: "https://demo.example/secret.jpg" };
    const { _id } = await addVideo({ ...fields, type: "livestream", liveBroadcastId: "secret-live", access: "gated" });
    for (const [field, value] of Object.entries({ ...fields, liveBroadcastId: "secret-live" })) {
      const query = { [field]: value };
      const found = async (as: As) => (await site.call("listVideos", { as, query })).as(VideoList);
      expect(await found("client")).toMatchObject({ results: [], pagination: { totalCount: 0 } });
      expect(await found("viewer")).toMatchObject({ results: [] });
      expect((await found("developer")).results.map((video) => video._id)).toEqual([_id]);
      expect((await found("reader")).results.map((video) => video._id)).toEqual([_id]);
    }
    await site.call("updateVideo", { params: { id: _id }, body: { access: "inherit" } });
    expect((await site.call("listVideos", { as: "client", query: { url: fields.url } })).as(VideoList).results).toHaveLength(1);
  });

  test("isn't revealed by its thumbnail or its broadcast id", async () => {
    const youtube = { player: "youtube", type: "livestream", url: "https://www.youtube.com/watch?v=dQw4w9WgXcQ", access: "gated" } as const;
    const { _id } = await addVideo({ ...youtube, thumbnail: "https://i.ytimg.com/vi/dQw4w9WgXcQ/hqdefault.jpg" });
    const response = await site.call("getVideo", { as: "client", params: { id: _id } });
    expect(response.text).not.toContain("dQw4w9WgXcQ");
    const poster = await addVideo({ access: "gated", thumbnail: "https://demo.example/poster.jpg" });
    expect(await read(poster._id)).toMatchObject({ thumbnail: "https://demo.example/poster.jpg" });
  });

  test("isn't confirmed by an ETag from before the gate", async () => {
    const { _id } = await addVideo();
    const get = (as: As, tag = "") => site.call("getVideo", { as, params: { id: _id }, headers: { "If-None-Match": tag } });
    const tag = (await get("client")).headers.get("ETag") ?? "";
    expect((await get("client", tag)).status).toBe(304);
    await addPage({ gate: PAID, ...showing(_id) });
    const after = await get("client", tag);
    expect(after.status).toBe(200);
    expect(after.as(Video).url).toBeNull();
    const hidden = after.headers.get("ETag") ?? "";
    expect((await get("client", hidden)).status).toBe(304);
    expect((await get("developer", hidden)).status).toBe(200);
  });
});

describe("a playlist panel on a gated page", () => {
  test("gates its videos, and the page's content returns them to viewers who may play", async () => {
    const [clip, other] = [await addVideo(), await addVideo({ access: "gated" })];
    const { panelId } = await addPlaylistPanel(clip._id);
    const page = await addPage({ gate: LOGIN, sidebar: { panels: [panelId] } });
    expect(await read(clip._id)).toMatchObject({ url: null, gated: true });
    const play = async (as: "client" | "viewer", pageId: string, videoId: string) =>
      site.call("getContentById", { as, params: { pageId }, query: { videoId }, headers: { "Tifo-Device-Id": "tv" } });
    const signedOut = (await play("client", page, clip._id)).as(PageContent).canIPlayResponse;
    expect(signedOut).toMatchObject({ contentCheck: { video: null }, error: { type: "sign_in_required" } });
    const signedIn = (await play("viewer", page, clip._id)).as(PageContent).canIPlayResponse;
    expect(signedIn).toMatchObject({ contentCheck: { video: { _id: clip._id, url: clip.url } }, error: null });
    const open = await addPage({});
    for (const [pageId, videoId] of [
      [open, clip._id],
      [page, other._id],
      [page, newId(1)],
    ] as const)
      expect((await play("viewer", pageId, videoId)).problem).toMatchObject({ status: 404, message: "The page doesn't show this video" });
    const free = await addVideo();
    expect((await play("client", open, free._id)).as(PageContent).canIPlayResponse.contentCheck.video).toMatchObject({ url: free.url });
  });

  test("also requires the skus of the video itself", async () => {
    const clip = await addVideo({ subscriptions: ["replays"] });
    const page = await addPage({});
    const headers = { "Tifo-Device-Id": "tv" };
    const response = await site.call("getContentById", { as: "viewer", params: { pageId: page }, query: { videoId: clip._id }, headers });
    expect(response.as(PageContent).canIPlayResponse).toMatchObject({ contentCheck: { video: null }, error: { type: "no_entitlement" } });
  });
});

describe("a video that leaves a gated page", () => {
  const leaves: [how: string, leave: (videoId: string) => Promise<void>][] = [
    [
      "because another replaces it",
      async (id) => replacePage(await addPage({ gate: PAID, ...showing(id) }), { gate: PAID, ...showing((await addVideo())._id) }),
    ],
    ["because the page is deleted", async (id) => remove("deletePage", await addPage({ gate: PAID, ...showing(id) }))],
    [
      "with its playlist panel",
      async (id) => {
        const { panelId } = await addPlaylistPanel(id);
        await replacePage(await addPage({ gate: PAID, sidebar: { panels: [panelId] } }), { gate: PAID });
      },
    ],
    [
      "because the playlist changes",
      async (id) => {
        const { panelId, playlistId } = await addPlaylistPanel(id);
        await addPage({ gate: PAID, sidebar: { panels: [panelId] } });
        await site.call("updatePlaylist", { params: { id: playlistId }, body: { members: [] } });
      },
    ],
    [
      "because the playlist is deleted",
      async (id) => {
        const { panelId, playlistId } = await addPlaylistPanel(id);
        await addPage({ gate: PAID, sidebar: { panels: [panelId] } });
        await remove("deletePlaylist", playlistId);
      },
    ],
    [
      "because the panel is deleted",
      async (id) => {
        const { panelId } = await addPlaylistPanel(id);
        await addPage({ gate: PAID, sidebar: { panels: [panelId] } });
        await remove("deletePanel", panelId);
      },
    ],
  ];

  async function remove(operation: string, id: string): Promise<void> {
    const response = await site.call(operation, { params: { id } });
    expect(response.status, response.text).toBe(200);
  }

  test.for(leaves)("%s stays gated until it is opened explicitly", async ([, leave]) => {
    const { _id, url } = await addVideo();
    await leave(_id);
    expect(await read(_id)).toMatchObject({ url: null, gated: true, access: "gated" });
    await site.call("updateVideo", { params: { id: _id }, body: { access: "inherit" } });
    expect(await read(_id)).toMatchObject({ url, gated: false });
  });

  test("is open again if the page is opened instead", async () => {
    const { _id, url } = await addVideo();
    const page = await addPage({ gate: PAID, ...showing(_id) });
    await replacePage(page, showing(_id));
    expect(await read(_id)).toMatchObject({ url, gated: false, access: "inherit" });
  });

  test("publishes video.updated", async () => {
    const { _id } = await addVideo();
    await remove("deletePage", await addPage({ gate: PAID, ...showing(_id) }));
    const { results } = (await site.call("listEvents", { query: { limit: 200, types: "video.updated" } })).as(EventList);
    const data = results.find(({ resource }) => resource === `video/${_id}`)?.data;
    expect(data).toEqual(await read(_id, "developer"));
  });
});

describe("a stream of a gated channel", () => {
  test("plays only through the content response, and its recording is gated too", async () => {
    await registerProvider(site);
    const schedule = { startTimestamp: Date.now() - 3_600_000, endTimestamp: Date.now() + 3_600_000 };
    const [gated, open] = [await addPage({ schedule }), await addPage({})];
    const start = async (channelId: string) => {
      const created = await site.call("createStream", { as: "admin", body: { title: "Derby", channelId, provider: "wowza" } });
      const stream = created.as(Stream);
      await site.call("startStream", { params: { id: stream._id } });
      return stream;
    };
    const sockets = [await openSocket(site, gated), await openSocket(site, open)];
    const [hidden, shown] = [await start(gated), await start(open)];
    const frames = await Promise.all(sockets.map((socket) => socket.first("stream.live")));
    expect(frames.map((frame) => frame.data)).toMatchObject([
      { _id: hidden._id, gated: true, playbackUrl: null },
      { _id: shown._id, gated: false, playbackUrl: shown.playbackUrl },
    ]);
    const url = "https://vod.demo.example/recording.m3u8";
    const record = async ({ _id: streamId }: { _id: string }) =>
      (await site.call("createVod", { as: "developer", body: { streamId, url, durationSeconds: 60 } })).as(Video);
    const [vod, free] = [await record(hidden), await record(shown)];
    expect([vod.gated, free.gated]).toEqual([true, false]);
    expect(await read(vod._id)).toMatchObject({ url: null, gated: true });
    expect(await read(free._id)).toMatchObject({ url, gated: false });
    await site.call("stopStream", { params: { id: hidden._id } });
    await site.call("deleteStream", { as: "admin", params: { id: hidden._id } });
    expect(await read(vod._id)).toMatchObject({ url: null, gated: true, access: "gated" });
  });

  test("appears without its URL in what a viewer missed, where the page became restricted after it went live", async () => {
    const channelId = await addPage({});
    const early = await openSocket(site, channelId);
    const { epoch } = await early.first("welcome");
    const created = await site.call("createStream", { as: "admin", body: { title: "Derby", channelId, provider: "wowza" } });
    await site.call("startStream", { params: { id: created.as(Stream)._id } });
    const { data, seq } = await early.first("stream.live");
    expect(data.playbackUrl).toBe(created.as(Stream).playbackUrl);
    await replacePage(channelId, { regions: ["GB"] });
    await early.first("page.updated");
    const later = await openSocket(site, channelId, { epoch, seq: seq - 1 });
    expect((await later.first("stream.live")).data).toEqual({ ...data, gated: true, playbackUrl: null });
    const stub = env.CHANNEL.getByName(channelName(site.id, channelId));
    await stub.emit({ id: "late", type: "stream.offline", data });
    expect((await later.first("stream.offline")).data).toMatchObject({ gated: true, playbackUrl: null });
  });

  test("leaves its recordings gated when the channel is deleted", async () => {
    const channelId = await addPage({ gate: LOGIN });
    const created = await site.call("createStream", { as: "admin", body: { title: "Derby", channelId, provider: "wowza" } });
    const body = { streamId: created.as(Stream)._id, url: "https://vod.demo.example/kept.m3u8", durationSeconds: 60 };
    const vod = (await site.call("createVod", { as: "developer", body })).as(Video);
    await site.call("deletePage", { params: { id: channelId } });
    expect(await read(vod._id)).toMatchObject({ url: null, access: "gated" });
  });
});
