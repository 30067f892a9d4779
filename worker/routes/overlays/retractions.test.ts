import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { broadcastCalls } from "#test/broadcasts.ts";
import { type CallOptions, newSite, openSocket, type TestSite, waitForViewerCount } from "#test/harness.ts";
import { PLAYLIST_HOST, servePlaylist } from "#test/playlists.ts";
import { channelOf } from "#worker/durable-objects/stubs.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { sendRetraction } from "#worker/services/overlays/retractions.ts";

let site: TestSite;
let overlayId: string;
const { newOverlay, send, active } = broadcastCalls(() => site);

beforeAll(async () => {
  site = await newSite();
  overlayId = await newOverlay();
});

const retract = (channelId: string, broadcastId: string, options: CallOptions = {}) =>
  site.call("retractBroadcast", { params: { channelId, broadcastId }, ...options });

/** Shows an overlay, and returns its broadcast's id. */
async function show(channelId: string, fields: Record<string, unknown> = {}): Promise<string> {
  return (await send(overlayId, { channelId, ...fields }))[0]?.broadcastId ?? "";
}

const newChannel = () => site.addChannel(randomHex(6));

describe("a retracted broadcast", () => {
  test("leaves the screens and the list of active ones, and the others stay", async () => {
    const channelId = await newChannel();
    const viewer = await openSocket(site, channelId);
    const [mistake, other] = [await show(channelId), await show(channelId)];
    expect((await retract(channelId, mistake)).status).toBe(204);
    expect((await viewer.first("overlay.clear")).broadcastIds).toEqual([mistake]);
    expect((await active({ channelId })).map(({ broadcastId }) => broadcastId)).toEqual([other]);
    expect((await (await openSocket(site, channelId)).first("welcome")).overlays).toMatchObject([{ broadcastId: other }]);
  });

  test("is no longer in the channel's playlist, where viewers who go back would see it", async () => {
    const channelId = await newChannel();
    const [mistake, other] = [await show(channelId), await show(channelId)];
    await retract(channelId, mistake);
    const from = new Date(Date.now() - 60_000).toISOString();
    const body = ["#EXTM3U", "#EXT-X-TARGETDURATION:60", `#EXT-X-PROGRAM-DATE-TIME:${from}`, "#EXTINF:60.000,", "0.ts", ""].join("\n");
    const src = servePlaylist(`https://${PLAYLIST_HOST}/${randomHex(6)}.m3u8`, body);
    const { text } = await site.call("openManifest", { params: { channelId }, query: { src } });
    expect(text).toContain(`tifo-${other}`);
    expect(text).not.toContain(`tifo-${mistake}`);
  });

  test("leaves viewers of the channel's recording when it has long ended, and can't be retracted again", async () => {
    const channelId = await newChannel();
    const viewer = await openSocket(site, channelId);
    const id = await show(channelId, { duration: 1 });
    await viewer.when((frame) => frame.type === "overlay.clear" && frame.ended === true);
    expect((await retract(channelId, id)).status).toBe(204);
    await viewer.when((frame) => frame.type === "overlay.clear" && frame.ended === undefined && frame.broadcastIds.includes(id));
    expect((await retract(channelId, id)).problem).toMatchObject({ status: 404, message: "The channel has no broadcast with this id" });
  });

  test("stays on the other channels if it is site-wide", async () => {
    const own = await newSite();
    const [here, there] = [await openSocket(own, own.channels[0]), await openSocket(own, own.channels[1])];
    await waitForViewerCount(own, 2);
    await send(await newOverlay({}, own), {}, own);
    const { broadcastId } = await here.first("overlay.show");
    const retracted = await own.call("retractBroadcast", { params: { channelId: own.channels[0], broadcastId } });
    expect(retracted.status).toBe(204);
    expect((await here.first("overlay.clear")).broadcastIds).toEqual([broadcastId]);
    expect(there.frames.filter(({ type }) => type === "overlay.clear")).toEqual([]);
    expect(await active({ channelId: own.channels[1] }, own)).toMatchObject([{ broadcastId }]);
  });

  test("isn't shown when it reaches the channel only afterwards, and its retraction is sent once however often its effect runs", async () => {
    const channelId = await newChannel();
    const viewer = await openSocket(site, channelId);
    const now = Date.now();
    const shown = { overlayId, position: "center", cta: null, variables: {}, priority: 0 } as const;
    const late = { ...shown, contents: [], broadcastId: newId(now), startsAt: now, endsAt: now + 60_000 };
    const event = { retractionId: newId(now), channelId, broadcastId: late.broadcastId };
    for (let run = 0; run < 2; run++) await sendRetraction(env, site.id, event);
    await channelOf(env, site.id, channelId).publish(late);
    const id = await show(channelId);
    await viewer.when((frame) => frame.type === "overlay.show" && frame.broadcastId === id);
    expect(viewer.frames.flatMap((frame) => (frame.type === "overlay.show" ? [frame.broadcastId] : []))).toEqual([id]);
    expect(viewer.frames.filter(({ type }) => type === "overlay.clear")).toHaveLength(1);
  });
});

test("a broadcast that the channel hasn't, of another channel or of another site, is a 404 and stays", async () => {
  const foreign = await newSite();
  const [here, there] = [await newChannel(), await newChannel()];
  const elsewhere = await show(there);
  const [sent] = await send(await newOverlay({}, foreign), { channelId: foreign.channels[0] }, foreign);
  for (const [channelId, broadcastId] of [
    [here, newId(Date.now())],
    [here, elsewhere],
    [here, sent?.broadcastId ?? ""],
    [foreign.channels[0], sent?.broadcastId ?? ""],
  ] as const)
    expect((await retract(channelId, broadcastId)).status).toBe(404);
  expect(await active({ channelId: there })).toHaveLength(1);
  expect(await active({}, foreign)).toHaveLength(1);
});

test("viewers and accounts without a role can't retract a broadcast", async () => {
  const channelId = await newChannel();
  const id = await show(channelId);
  expect((await retract(channelId, id, { as: "viewer" })).status).toBe(403);
  expect((await retract(channelId, id, { as: "nobody" })).status).toBe(401);
  expect(await active({ channelId })).toHaveLength(1);
});
