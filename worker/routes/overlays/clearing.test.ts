import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { broadcasts as broadcastTable } from "#db/schema/index.ts";
import { countsViewers, newSite, openSocket, type TestSite } from "#test/harness.ts";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import type { Broadcast } from "#worker/durable-objects/channel/channel.protocol.ts";
import { SitePresence } from "#worker/durable-objects/site-presence/site-presence.ts";
import type { ServerFrame } from "#worker/durable-objects/relay/relay.protocol.ts";
import { newId } from "#worker/lib/ids.ts";
import { runEffects } from "#worker/services/event-catalogue/effects.ts";
import { channelOf, presenceOf } from "#worker/services/realtime/realtime.ts";
import { ClearAnswer } from "#worker/services/overlays/schemas.ts";
import { broadcastCalls } from "#test/broadcasts.ts";

let site: TestSite;
let channel: string;
let other: string;

beforeAll(async () => {
  site = await newSite();
  [channel, other] = site.channels;
});

const { newOverlay, send, active, clear } = broadcastCalls(() => site);

describe("what is on", () => {
  test("is listed until it ends or is cleared", async () => {
    const own = await newSite();
    const id = await newOverlay({}, own);
    const [ended] = await send(id, { channelId: own.channels[0] }, own);
    const [cleared] = await send(id, { channelId: own.channels[0] }, own);
    const [lasting] = await send(id, { channelId: own.channels[0] }, own);
    await createDb(env.DB)
      .update(broadcastTable)
      .set({ endsAt: Date.now() - 1 })
      .where(eq(broadcastTable.id, ended?.broadcastId ?? ""));
    await clear({ broadcastId: cleared?.broadcastId }, {}, own);
    expect(await active({}, own)).toMatchObject([
      { broadcastId: lasting?.broadcastId, channelId: own.channels[0], overlayId: id, timecode: null },
    ]);
    expect(await active({ channelId: own.channels[1] }, own)).toEqual([]);
    expect(await active({ channelId: own.channels[0] }, await newSite())).toEqual([]);
  });
});

describe("clearing", () => {
  test("of one broadcast takes it off the screens and leaves the others", async () => {
    const own = await newSite();
    const [channelId] = own.channels;
    const viewer = await openSocket(own, channelId);
    const id = await newOverlay({}, own);
    const [first] = await send(id, { channelId }, own);
    const [second] = await send(id, { channelId }, own);
    const [cleared] = await clear({ broadcastId: first?.broadcastId }, {}, own);
    expect(cleared).toEqual({ channelId, seq: 3, broadcastIds: [first?.broadcastId] });
    expect(await viewer.first("overlay.clear")).toMatchObject({ seq: 3, broadcastIds: [first?.broadcastId] });
    expect((await active({}, own)).map(({ broadcastId }) => broadcastId)).toEqual([second?.broadcastId]);
    const again = await own.call("clearBroadcasts", { body: { broadcastId: first?.broadcastId } });
    expect(again.problem).toMatchObject({ status: 404, message: "No such broadcast is on" });
  });

  test("of one that has ended takes it from viewers whose picture is behind, if it has a timecode", async () => {
    const own = await newSite();
    const [channelId] = own.channels;
    const viewer = await openSocket(own, channelId);
    const id = await newOverlay({}, own);
    const [held] = await send(id, { channelId, duration: 1, timecode: 90 }, own);
    const [plain] = await send(id, { channelId, duration: 1 }, own);
    const ended = (sent: typeof held) => (frame: ServerFrame) =>
      frame.type === "overlay.clear" && frame.ended === true && frame.broadcastIds.includes(sent?.broadcastId ?? "");
    await Promise.all([viewer.when(ended(held)), viewer.when(ended(plain))]);
    expect(await active({}, own)).toEqual([]);
    expect(await clear({ broadcastId: held?.broadcastId }, {}, own)).toMatchObject([{ channelId, broadcastIds: [held?.broadcastId] }]);
    await viewer.when((frame) => frame.type === "overlay.clear" && frame.ended === undefined);
    expect(await own.call("clearBroadcasts", { body: { broadcastId: plain?.broadcastId } })).toMatchObject({ status: 404 });
  });

  test("of one timecode instance needs its id", async () => {
    const own = await site.addChannel("timecodes");
    const [sent] = await send(await newOverlay(), { channelId: own, timecode: 90 });
    const id = sent?.broadcastId ?? "";
    const halves: Record<string, string | boolean>[] = [{ timecode: true }, { id }, { id, timecode: false }];
    for (const query of halves) {
      expect(await site.call("clearBroadcasts", { query })).toMatchObject({ status: 400, fields: ["id"] });
    }
    const cleared = await clear(undefined, { timecode: "true", id });
    expect(cleared).toMatchObject([{ channelId: own, broadcastIds: [sent?.broadcastId] }]);
  });

  test("of a channel leaves the other channels alone", async () => {
    const own = await newSite();
    const id = await newOverlay({}, own);
    const sent = await send(id, { channelIds: own.channels }, own);
    const cleared = (await own.call("clearChannelBroadcasts", { params: { targetId: own.channels[0] } })).as(ClearAnswer).cleared;
    expect(cleared).toMatchObject([{ channelId: own.channels[0], broadcastIds: [sent[0]?.broadcastId] }]);
    expect((await active({}, own)).map(({ channelId }) => channelId)).toEqual([own.channels[1]]);
  });

  test("of a channel takes a site-wide broadcast off there alone", async () => {
    const own = await newSite();
    const [here, there] = [await openSocket(own, own.channels[0]), await openSocket(own, own.channels[1])];
    await countsViewers(own, 2);
    await send(await newOverlay({}, own), {}, own);
    const { broadcastId } = await here.first("overlay.show");
    expect(await clear({ channelId: own.channels[0] }, {}, own)).toMatchObject([
      { channelId: own.channels[0], broadcastIds: [broadcastId] },
    ]);
    expect((await here.first("overlay.clear")).broadcastIds).toEqual([broadcastId]);
    expect(there.frames.filter((frame) => frame.type === "overlay.clear")).toEqual([]);
    expect(await active({}, own)).toMatchObject([{ broadcastId, channelId: null, except: [own.channels[0]] }]);
    expect(await active({ channelId: own.channels[0] }, own)).toEqual([]);
    expect(await active({ channelId: own.channels[1] }, own)).toMatchObject([{ broadcastId }]);
    const late = await openSocket(own, own.channels[0]);
    expect((await late.first("welcome")).overlays).toEqual([]);
  });

  test("of the whole site takes everything off, also where a channel opens later", async () => {
    const own = await newSite();
    const viewer = await openSocket(own, own.channels[0]);
    await countsViewers(own, 1);
    const id = await newOverlay({}, own);
    await send(id, {}, own);
    await send(id, { channelId: own.channels[0] }, own);
    const cleared = await clear(undefined, {}, own);
    expect(cleared.flatMap(({ broadcastIds }) => broadcastIds)).toHaveLength(2);
    expect((await viewer.first("overlay.clear")).broadcastIds).toHaveLength(2);
    expect(await active({}, own)).toEqual([]);
    expect((await (await openSocket(own, own.channels[1])).first("welcome")).overlays).toEqual([]);
  });

  test("of a channel and of everything takes back what a channel that was out of reach has yet to be sent", async () => {
    const own = await newSite();
    const [first, second] = own.channels;
    const id = await newOverlay({}, own);
    const publish = vi.spyOn(Channel.prototype, "publish").mockRejectedValue(new Error("out of reach"));
    onTestFinished(() => publish.mockRestore());
    const late: { channelId: string; broadcast: Broadcast | undefined }[] = [];
    for (const channelId of [first, second]) {
      const asked = publish.mock.calls.length;
      expect((await own.call("broadcastOverlay", { params: { id }, body: { channelId, variables: { scorer: channelId } } })).status).toBe(
        503,
      );
      const calls = publish.mock.calls.slice(asked).map(([broadcast]) => broadcast);
      late.push({ channelId, broadcast: calls.find(({ variables }) => variables.scorer === channelId) });
    }
    await clear({ channelId: first }, {}, own);
    await clear(undefined, {}, own);
    publish.mockRestore();
    for (const { channelId, broadcast } of late) {
      if (!broadcast) throw new Error("The channel was not asked");
      await channelOf(env, own.id, channelId).publish(broadcast);
      expect((await (await openSocket(own, channelId)).first("welcome")).overlays).toEqual([]);
    }
  });

  test("of everything takes back what the site has yet to be sent", async () => {
    const own = await newSite();
    const publish = vi.spyOn(SitePresence.prototype, "publish").mockRejectedValue(new Error("out of reach"));
    onTestFinished(() => publish.mockRestore());
    const id = await newOverlay({}, own);
    expect((await own.call("broadcastOverlay", { params: { id }, body: {} })).status).toBe(503);
    const late = publish.mock.lastCall?.[0];
    if (!late) throw new Error("The site was not asked");
    await clear(undefined, {}, own);
    publish.mockRestore();
    await presenceOf(env, own.id).publish(late);
    expect((await (await openSocket(own, own.channels[0])).first("welcome")).overlays).toEqual([]);
  });

  test("holds for what the log has yet to send, before the channel has heard of it", async () => {
    const own = await newSite();
    const [channelId, elsewhere] = own.channels;
    const id = await newOverlay({}, own);
    const publish = vi.spyOn(Channel.prototype, "publish").mockRejectedValue(new Error("out of reach"));
    const clearing = vi.spyOn(Channel.prototype, "clear").mockRejectedValue(new Error("out of reach"));
    onTestFinished(() => {
      vi.restoreAllMocks();
    });
    expect((await own.call("broadcastOverlay", { params: { id }, body: { channelIds: own.channels } })).status).toBe(503);
    const broadcast = publish.mock.calls.map(([sent]) => sent).find(({ overlayId }) => overlayId === id);
    expect((await own.call("clearChannelBroadcasts", { params: { targetId: channelId }, body: {} })).status).toBe(503);
    expect(clearing).toHaveBeenCalled();
    publish.mockRestore();
    const event = { type: "overlay.broadcast", resource: `overlay/${id}`, data: JSON.stringify({ channelIds: own.channels, broadcast }) };
    const entry = { id: newId(1), sequence: 1, previousSequence: null, actor: "system", requestId: "test", origin: null, created: 1 };
    await runEffects(env, own.id, { ...entry, ...event });
    expect(await channelOf(env, own.id, channelId).active()).toEqual([]);
    expect(await channelOf(env, own.id, elsewhere).active()).toHaveLength(1);
  });

  test("by a body that names a broadcast of another site finds none", async () => {
    const foreign = await newSite();
    const [sent] = await send(await newOverlay({}, foreign), { channelId: foreign.channels[0] }, foreign);
    expect((await site.call("clearBroadcasts", { body: { broadcastId: sent?.broadcastId } })).status).toBe(404);
    expect(
      (await site.call("clearChannelBroadcasts", { params: { targetId: channel }, body: { broadcastId: sent?.broadcastId } })).status,
    ).toBe(404);
    expect(await active({}, foreign)).toHaveLength(1);
  });

  test("on a channel of a broadcast that is on another channel alone finds none", async () => {
    const [sent] = await send(await newOverlay(), { channelId: other });
    const response = await site.call("clearChannelBroadcasts", { params: { targetId: channel }, body: { broadcastId: sent?.broadcastId } });
    expect(response.problem).toMatchObject({ status: 404, message: "No such broadcast is on" });
  });

  test("refuses a body that names another channel than the path", async () => {
    const response = await site.call("clearChannelBroadcasts", { params: { targetId: channel }, body: { channelId: other } });
    expect(response).toMatchObject({ status: 400, fields: ["channelId"] });
  });
});
