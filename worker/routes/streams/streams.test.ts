import { eq } from "drizzle-orm";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDb } from "#db/client.ts";
import { streams } from "#db/schema/streams/streams.ts";
import { uploadForm } from "#test/uploads.ts";
import { type ApiResponse, type CallOptions, newSite, openSocket, type TestSite } from "#test/harness.ts";
import { registerProvider, providerCalls } from "#test/streams.ts";
import { listOf } from "#worker/services/core/list-schemas.ts";
import { newId } from "#worker/lib/ids.ts";
import { Media } from "#worker/services/media/schemas.ts";
import { EventList } from "#worker/services/webhooks/schemas.ts";
import { Stream } from "#worker/services/streams/schemas.ts";
import { siteStore } from "#test/site-store.ts";

const StreamList = listOf(Stream);

let site: TestSite;
let authorization: string;

beforeAll(async () => {
  site = await newSite();
  ({ authorization } = await registerProvider(site));
});

const create = (body: Record<string, unknown> = {}, options: CallOptions = {}, on = site): Promise<ApiResponse> =>
  on.call("createStream", { body: { title: "Derby", ...body }, ...options });

async function newStream(body: Record<string, unknown> = {}): Promise<string> {
  return (await create(body)).as(Stream)._id;
}

const get = (id: string, options: CallOptions = {}): Promise<ApiResponse> => site.call("getStream", { params: { id }, ...options });
const start = (id: string, options: CallOptions = {}): Promise<ApiResponse> => site.call("startStream", { params: { id }, ...options });
const stop = (id: string, options: CallOptions = {}): Promise<ApiResponse> => site.call("stopStream", { params: { id }, ...options });
const remove = (id: string, options: CallOptions = {}): Promise<ApiResponse> => site.call("deleteStream", { params: { id }, ...options });

/** The calls that the provider received about a stream. */
async function heardOf(id: string): Promise<string[]> {
  return (await providerCalls(site)).filter(({ streamId }) => streamId === id).map(({ call }) => call);
}

async function eventsOf(id: string) {
  const { results } = (await site.call("listEvents", { query: { limit: 200 } })).as(EventList);
  return results.filter(({ resource }) => resource === `stream/${id}`);
}

describe("creating a stream", () => {
  test("creates it at the provider and returns its ingest and playback URLs", async () => {
    const input = {
      title: "Harbour City v Old Dock",
      channelId: site.channels[0],
      provider: "wowza",
      fallbackImageUrl: "https://demo.example/soon.png",
      tags: ["derby"],
    };
    const response = await create({ ...input, siteId: site.id });
    expect(response.status).toBe(201);
    expect(response.log.d1.roundTrips).toBeLessThanOrEqual(3);
    const stream = response.as(Stream);
    expect(stream).toMatchObject({
      ...input,
      siteId: site.id,
      providerStreamId: `ps-${stream._id}`,
      ingestUrl: "rtmps://ingest.demo.example/live",
      playbackUrl: `https://play.demo.example/${stream._id}.m3u8`,
      streamKey: `key-${stream._id}`,
      isLive: false,
      liveSince: null,
    });
    expect((await get(stream._id)).body).toEqual(response.body);
  });

  test("sends the provider its bearer token, the stream's id in header and body, its title and the site", async () => {
    const id = await newStream({ title: "Cup final" });
    const calls = (await providerCalls(site)).filter(({ streamId }) => streamId === id);
    expect(calls).toEqual([
      {
        call: "create",
        authorization: `Bearer ${authorization}`,
        streamId: id,
        body: { streamId: id, title: "Cup final", siteId: site.id },
      },
    ]);
  });

  test("requires only a title, and uses the site's default provider", async () => {
    const several = await newSite();
    const { status, fields, problem } = await create({}, {}, several);
    expect([status, fields, problem?.message]).toEqual([400, ["provider"], "Register a stream provider first"]);
    await registerProvider(several, "mux");
    expect((await create({}, {}, several)).as(Stream)).toMatchObject({
      provider: "mux",
      channelId: null,
      tags: [],
      fallbackImageUrl: null,
    });
    await registerProvider(several, "wowza");
    const providerOf = async (change = {}) => (await create(change, {}, several)).as(Stream).provider;
    // The one registered first, until the site's settings name another.
    expect(await providerOf()).toBe("mux");
    expect(await providerOf({ provider: "wowza" })).toBe("wowza");
    const settle = (streamProvider: string) => several.call("updateSite", { body: { name: "Club", settings: { streamProvider } } });
    expect(await settle("unknown")).toMatchObject({ status: 400, fields: ["settings.streamProvider"] });
    expect((await settle("wowza")).status).toBe(200);
    expect(await providerOf()).toBe("wowza");
    expect(await providerOf({ provider: "mux" })).toBe("mux");
  });

  test("is at the first provider once the default one has been removed", async () => {
    const several = await newSite();
    await registerProvider(several, "mux");
    const { id } = await registerProvider(several, "wowza");
    await several.call("updateSite", { body: { name: "Club", settings: { streamProvider: "wowza" } } });
    expect((await several.call("removeStreamProvider", { params: { id } })).status).toBe(200);
    expect((await create({}, {}, several)).as(Stream).provider).toBe("mux");
    expect(await create({ provider: "wowza" }, {}, several)).toMatchObject({ status: 400, fields: ["provider"] });
  });

  test("rejects a provider, a channel or a site that isn't the site's own", async () => {
    const other = await newSite();
    await registerProvider(other, "theirs");
    for (const [field, value] of Object.entries({ provider: "theirs", channelId: other.channels[0], siteId: other.id })) {
      const response = await create({ [field]: value });
      expect([response.status, response.fields], field).toEqual([400, [field]]);
    }
  });

  test("with a repeated Idempotency-Key creates no second one", async () => {
    const own = await newSite();
    await registerProvider(own);
    const headers = { "Idempotency-Key": "derby" };
    expect((await create({}, { headers }, own)).status).toBe(201);
    const again = await create({}, { headers }, own);
    expect(again.problem?.code).toBe("idempotency_unanswered");
    expect((await providerCalls(own)).map(({ call }) => call)).toEqual(["create"]);
  });
});

test("the image of a stream can't be deleted", async () => {
  const { _id, url } = (await site.call("uploadMedia", { body: uploadForm() })).as(Media);
  const id = await newStream({ fallbackImageUrl: url });
  const rejected = await site.call("deleteMedia", { params: { id: _id } });
  expect(rejected.problem).toMatchObject({ status: 409, message: `Still in use by stream/${id}` });
});

describe("the stream key", () => {
  test("is sealed at rest, and isn't in any event, list, start or stop", async () => {
    const id = await newStream();
    const texts = [
      (await start(id)).text,
      (await stop(id)).text,
      (await site.call("listStreams")).text,
      JSON.stringify(await eventsOf(id)),
      JSON.stringify(await createDb(siteStore).select().from(streams).where(eq(streams.id, id))),
    ];
    for (const text of texts) {
      expect(text).toContain(id);
      expect(text).not.toContain(`"key-${id}`);
    }
  });

  test("is returned to callers who may change the stream, and null for those who may only read", async () => {
    const id = await newStream({ channelId: site.channels[0] });
    const keyFor = async (headers: Record<string, string>) => (await get(id, { as: "client", headers })).as(Stream).streamKey;
    const key = async (role: string) => keyFor({ "Tifo-Developer-Key": await site.addKey([role]) });
    const token = async (who: "admin" | "reader" | "creator") => keyFor(await site.headersOf(who));
    expect([await key("stream:write"), await token("admin"), await token("creator")]).toEqual(new Array(3).fill(`key-${id}`));
    expect([await key("stream:read"), await token("reader")]).toEqual([null, null]);
  });

  test("isn't treated as known to callers who read the stream without it", async () => {
    const id = await newStream();
    const readWith = async (role: string, headers: Record<string, string> = {}) =>
      get(id, { as: "client", headers: { "Tifo-Developer-Key": await site.addKey([role]), ...headers } });
    const known = { "If-None-Match": (await readWith("stream:read")).headers.get("ETag") ?? "" };
    expect((await readWith("stream:read", known)).status).toBe(304);
    expect((await readWith("stream:write", known)).as(Stream).streamKey).toBe(`key-${id}`);
  });
});

describe("starting and stopping", () => {
  test("call the provider, set isLive and publish events", async () => {
    const id = await newStream({ channelId: site.channels[0] });
    const live = await start(id);
    expect(live.log.d1.roundTrips).toBeLessThanOrEqual(3);
    expect(live.as(Stream)).toMatchObject({ isLive: true, streamKey: null });
    expect(live.as(Stream).liveSince).toBe(live.as(Stream).modified);
    expect((await get(id)).as(Stream).isLive).toBe(true);
    const off = (await stop(id)).as(Stream);
    expect(off).toMatchObject({ isLive: false, liveSince: null });
    expect(await heardOf(id)).toEqual(["create", "start", "stop"]);
    const [created, wentLive, wentOffline] = await eventsOf(id);
    expect([created?.type, wentLive?.type, wentOffline?.type]).toEqual(["stream.created", "admin.wentLive", "admin.wentOffline"]);
    expect(wentLive?.data).toMatchObject({ _id: id, isLive: true, channelId: site.channels[0] });
  });

  test("publish the input for a video of the recording when the stream ends", async () => {
    const id = await newStream();
    await start(id);
    await createDb(siteStore)
      .update(streams)
      .set({ liveSince: Date.now() - 5_400_000 })
      .where(eq(streams.id, id));
    await stop(id);
    const offered = (await eventsOf(id)).at(-1)?.data.vod;
    expect(offered).toMatchObject({ streamId: id });
    expect(offered).toHaveProperty("durationSeconds", expect.closeTo(5400, -2));
  });

  test("notify the viewers of the stream's channel, with only what a player needs", async () => {
    const viewer = await openSocket(site, site.channels[1]);
    await viewer.first("welcome");
    const id = await newStream({ channelId: site.channels[1], title: "Second half" });
    await start(id);
    const playbackUrl = `https://play.demo.example/${id}.m3u8`;
    const shown = { _id: id, title: "Second half", playbackUrl, gated: false, fallbackImageUrl: null, tags: [] };
    expect((await viewer.first("stream.live")).data).toEqual(shown);
    await stop(id);
    expect((await viewer.first("stream.offline")).data).toEqual(shown);
  });

  test("send viewers the stream that replaced another, and stream.offline only after the last one", async () => {
    const [, channelId] = site.channels;
    const viewer = await openSocket(site, channelId);
    await viewer.first("welcome");
    const [first, second] = [await newStream({ channelId, title: "Camera" }), await newStream({ channelId, title: "Spare" })];
    const liveFrames = () => viewer.frames.filter(({ type }) => type === "stream.live");
    for (const id of [first, second]) await start(id);
    await stop(first);
    await viewer.when(() => liveFrames().length === 3);
    expect(liveFrames()).toMatchObject([first, second, second].map((_id) => ({ data: { _id } })));
    await stop(second);
    expect((await viewer.first("stream.offline")).data).toMatchObject({ _id: second });
  });

  test("are exclusive: a second start is a 409, and only one of eight concurrent starts succeeds", async () => {
    const id = await newStream();
    const starts = await Promise.all(Array.from({ length: 8 }, () => start(id)));
    expect(starts.map(({ status }) => status).sort()).toEqual([200, ...new Array<number>(7).fill(409)]);
    expect((await start(id)).problem).toMatchObject({ status: 409, message: "The stream is already live" });
    const stops = await Promise.all(Array.from({ length: 8 }, () => stop(id)));
    expect(stops.some(({ status }) => status === 200)).toBe(true);
    const types = (await eventsOf(id)).map(({ type }) => type);
    expect(types).toEqual(["stream.created", "admin.wentLive", "admin.wentOffline"]);
    expect((await heardOf(id)).filter((call) => call === "start")).toEqual(["start"]);
  });

  test("stopping a stream that isn't live only calls the provider again", async () => {
    const id = await newStream();
    const before = (await get(id)).text;
    expect((await stop(id)).as(Stream).isLive).toBe(false);
    expect((await get(id)).text).toBe(before);
    expect(await heardOf(id)).toEqual(["create", "stop"]);
    expect((await eventsOf(id)).map(({ type }) => type)).toEqual(["stream.created"]);
    expect((await start(id)).status).toBe(200);
  });

  test("check If-Match before they call the provider", async () => {
    const id = await newStream();
    const headers = { "If-Match": '"v7"' };
    for (const call of [start, stop, remove]) expect((await call(id, { headers })).status).toBe(412);
    expect(await heardOf(id)).toEqual(["create"]);
    expect((await start(id, { headers: { "If-Match": '"v1"' } })).status).toBe(200);
  });
});

describe("deleting a stream", () => {
  test("deletes it at the provider, then here", async () => {
    const id = await newStream();
    expect((await remove(id)).body).toEqual({ success: true, _id: id });
    expect((await get(id)).status).toBe(404);
    expect(await heardOf(id)).toEqual(["create", "delete"]);
    expect((await eventsOf(id)).at(-1)).toMatchObject({ type: "stream.deleted", data: { _id: id } });
  });

  test("is rejected while it is live", async () => {
    const id = await newStream();
    await start(id);
    expect((await remove(id)).problem).toMatchObject({ status: 409, message: "The stream is live; stop it first" });
    expect((await heardOf(id)).includes("delete")).toBe(false);
  });
});

describe("a channel admin", () => {
  let creator: CallOptions;
  let [ours, theirs, bare] = ["", "", ""];

  beforeEach(async () => {
    creator = { as: "creator" };
    [ours, theirs, bare] = [
      await newStream({ channelId: site.channels[0] }),
      await newStream({ channelId: site.channels[1] }),
      await newStream(),
    ];
  });

  test("manages the streams of their channel", async () => {
    const own = (await create({ channelId: site.channels[0] }, creator)).as(Stream)._id;
    for (const call of [start, stop, get, remove]) expect((await call(own, creator)).status).toBe(200);
    const list = await site.call("listStreams", { ...creator, query: { channelId: site.channels[0] } });
    expect(list.as(StreamList).results.map(({ _id }) => _id)).toContain(ours);
  });

  test("can't manage other streams", async () => {
    for (const id of [theirs, bare]) for (const call of [start, stop, get, remove]) expect((await call(id, creator)).status).toBe(403);
    for (const body of [{ channelId: site.channels[1] }, {}]) expect((await create(body, creator)).status).toBe(403);
    expect((await site.call("listStreams", { ...creator, query: { channelId: site.channels[1] } })).status).toBe(403);
    const all = (await site.call("listStreams", creator)).as(StreamList).results.map(({ _id }) => _id);
    expect([ours, theirs, bare].filter((id) => all.includes(id))).toEqual([ours]);
    for (const id of [theirs, bare]) expect(await heardOf(id)).toEqual(["create"]);
  });
});

describe("the list", () => {
  test("filters by channel and live state, and searches titles", async () => {
    const own = await newSite();
    await registerProvider(own);
    const add = async (title: string, channelId: string) => (await create({ title, channelId }, {}, own)).as(Stream)._id;
    const [one, two] = [await add("Warm-up", own.channels[0]), await add("Derby", own.channels[1])];
    await own.call("startStream", { params: { id: two } });
    const ids = async (query: Record<string, string | boolean>) =>
      (await own.call("listStreams", { query })).as(StreamList).results.map(({ _id }) => _id);
    expect(await ids({})).toEqual([two, one]);
    expect(await ids({ channelId: own.channels[0] })).toEqual([one]);
    expect(await ids({ isLive: true })).toEqual([two]);
    expect(await ids({ isLive: false })).toEqual([one]);
    expect(await ids({ search: "warm" })).toEqual([one]);
    expect(await ids({ sortBy: "title" })).toEqual([two, one]);
  });

  test("returns 404 for an unknown stream", async () => {
    for (const call of [start, stop, get, remove]) expect((await call(newId(Date.now()))).status).toBe(404);
  });
});
