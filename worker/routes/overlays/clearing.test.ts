import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createDb } from "#db/client.ts";
import { broadcasts as broadcastTable } from "#db/schema/overlays.ts";
import { waitForViewerCount, newSite, openSocket, type TestSite } from "#test/harness.ts";
import { channelOf, presenceOf } from "#worker/durable-objects/stubs.ts";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import type { Broadcast } from "#worker/durable-objects/channel/channel.protocol.ts";
import { SitePresence } from "#worker/durable-objects/site-presence/site-presence.ts";
import type { ServerFrame } from "#worker/durable-objects/relay/relay.protocol.ts";
import { newId } from "#worker/lib/ids.ts";
import { runEffects } from "#worker/services/event-catalogue/effects.ts";
import { ClearAnswer } from "#worker/services/overlays/schemas.ts";
import { broadcastCalls } from "#test/broadcasts.ts";
import { siteStore } from "#test/site-store.ts";

let site: TestSite;
let channel: string;
let other: string;

beforeAll(async () => {
  site = await newSite();
  [channel, other] = site.channels;
});

const { newOverlay, send, active, clear } = broadcastCalls(() => site);

describe("an active broadcast", () => {
  test("is listed until it ends or is cleared", async () => {
    const own = await newSite();
    const id = await newOverlay({}, own);
    const [ended] = await send(id, { channelId: own.channels[0] }, own);
    const [cleared] = await send(id, { channelId: own.channels[0] }, own);
    const [lasting] = await send(id, { channelId: own.channels[0] }, own);
    await createDb(siteStore)
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
  test("one broadcast removes it from screens and leaves the others", async () => {
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
    expect(again.problem).toMatchObject({ status: 404, message: "No active broadcast with this id" });
  });

  test("an ended broadcast with a timecode removes it for viewers whose playback is behind", async () => {
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

  test("one timecode instance requires its id", async () => {
    const own = await site.addChannel("timecodes");
    const [sent] = await send(await newOverlay(), { channelId: own, timecode: 90 });
    const id = sent?.broadcastId ?? "";
    const halves: Record<string, string | boolean>[] = [{ timecode: true }, { id }, { id, timecode: false }];
    for (const query of halves) {
      expect(await site.call("clearBroadcasts", { query })).toMatchObject({ status: 400, fields: ["id"] });
    }
    const other = { query: { timecode: true, id }, body: { broadcastId: newId(1) } };
    expect((await site.call("clearBroadcasts", other)).fields).toEqual(["broadcastId"]);
    const cleared = await clear(undefined, { timecode: "true", id });
    expect(cleared).toMatchObject([{ channelId: own, broadcastIds: [sent?.broadcastId] }]);
  });

  test("a channel doesn't affect other channels", async () => {
    const own = await newSite();
    const id = await newOverlay({}, own);
    const sent = await send(id, { channelIds: own.channels }, own);
    const cleared = (await own.call("clearChannelBroadcasts", { params: { targetId: own.channels[0] } })).as(ClearAnswer).cleared;
    expect(cleared).toMatchObject([{ channelId: own.channels[0], broadcastIds: [sent[0]?.broadcastId] }]);
    expect((await active({}, own)).map(({ channelId }) => channelId)).toEqual([own.channels[1]]);
  });

  test("a channel clears a site-wide broadcast on that channel only", async () => {
    const own = await newSite();
    const [here, there] = [await openSocket(own, own.channels[0]), await openSocket(own, own.channels[1])];
    await waitForViewerCount(own, 2);
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

  test("the whole site clears everything, including on channels that open later", async () => {
    const own = await newSite();
    const viewer = await openSocket(own, own.channels[0]);
    await waitForViewerCount(own, 1);
    const id = await newOverlay({}, own);
    await send(id, {}, own);
    await send(id, { channelId: own.channels[0] }, own);
    const cleared = await clear(undefined, {}, own);
    expect(cleared.flatMap(({ broadcastIds }) => broadcastIds)).toHaveLength(2);
    expect((await viewer.first("overlay.clear")).broadcastIds).toHaveLength(2);
    expect(await active({}, own)).toEqual([]);
    expect((await (await openSocket(own, own.channels[1])).first("welcome")).overlays).toEqual([]);
  });

  test("a channel or the whole site also cancels broadcasts that an unavailable channel has not received yet", async () => {
    const own = await newSite();
    const [first, second] = own.channels;
    const id = await newOverlay({}, own);
    const publish = vi.spyOn(Channel.prototype, "publish").mockRejectedValue(new Error("unavailable"));
    onTestFinished(() => publish.mockRestore());
    const late: { channelId: string; broadcast: Broadcast | undefined }[] = [];
    for (const channelId of [first, second]) {
      const previousCalls = publish.mock.calls.length;
      expect((await own.call("broadcastOverlay", { params: { id }, body: { channelId, variables: { scorer: channelId } } })).status).toBe(
        503,
      );
      const calls = publish.mock.calls.slice(previousCalls).map(([broadcast]) => broadcast);
      late.push({ channelId, broadcast: calls.find(({ variables }) => variables.scorer === channelId) });
    }
    await clear({ channelId: first }, {}, own);
    await clear(undefined, {}, own);
    publish.mockRestore();
    for (const { channelId, broadcast } of late) {
      if (!broadcast) throw new Error("The channel was not called");
      await channelOf(env, own.id, channelId).publish(broadcast);
      expect((await (await openSocket(own, channelId)).first("welcome")).overlays).toEqual([]);
    }
  });

  test("the whole site also cancels a site-wide broadcast that is not delivered yet", async () => {
    const own = await newSite();
    const publish = vi.spyOn(SitePresence.prototype, "publish").mockRejectedValue(new Error("unavailable"));
    onTestFinished(() => publish.mockRestore());
    const id = await newOverlay({}, own);
    expect((await own.call("broadcastOverlay", { params: { id }, body: {} })).status).toBe(503);
    const late = publish.mock.lastCall?.[0];
    if (!late) throw new Error("The site was not called");
    await clear(undefined, {}, own);
    publish.mockRestore();
    await presenceOf(env, own.id).publish(late);
    expect((await (await openSocket(own, own.channels[0])).first("welcome")).overlays).toEqual([]);
  });

  test("cancels what the log has yet to send, even before the channel has received the clear", async () => {
    const own = await newSite();
    const [channelId, elsewhere] = own.channels;
    const id = await newOverlay({}, own);
    const publish = vi.spyOn(Channel.prototype, "publish").mockRejectedValue(new Error("unavailable"));
    const clearing = vi.spyOn(Channel.prototype, "clear").mockRejectedValue(new Error("unavailable"));
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

  test("a broadcast of another site returns 404", async () => {
    const foreign = await newSite();
    const [sent] = await send(await newOverlay({}, foreign), { channelId: foreign.channels[0] }, foreign);
    expect((await site.call("clearBroadcasts", { body: { broadcastId: sent?.broadcastId } })).status).toBe(404);
    expect(
      (await site.call("clearChannelBroadcasts", { params: { targetId: channel }, body: { broadcastId: sent?.broadcastId } })).status,
    ).toBe(404);
    expect(await active({}, foreign)).toHaveLength(1);
  });

  test("a broadcast on a channel where it isn't active returns 404", async () => {
    const [sent] = await send(await newOverlay(), { channelId: other });
    const response = await site.call("clearChannelBroadcasts", { params: { targetId: channel }, body: { broadcastId: sent?.broadcastId } });
    expect(response.problem).toMatchObject({ status: 404, message: "No active broadcast with this id" });
  });

  test("rejects a body with another channel than the path", async () => {
    const response = await site.call("clearChannelBroadcasts", { params: { targetId: channel }, body: { channelId: other } });
    expect(response).toMatchObject({ status: 400, fields: ["channelId"] });
  });
});
