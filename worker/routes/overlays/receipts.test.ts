import { beforeAll, describe, expect, test } from "vitest";
import { waitForViewerCount, newSite, openSocket, type TestSite } from "#test/harness.ts";
import { newId } from "#worker/lib/ids.ts";
import type { TestViewer } from "#test/isolated/relay-viewer.ts";
import { BroadcastAnswer, Overlay, Receipt } from "#worker/services/overlays/schemas.ts";

let site: TestSite;

beforeAll(async () => {
  site = await newSite();
});

async function broadcast(on: TestSite, body: Record<string, unknown>) {
  const contents = [{ kind: "html", html: "Goal", position: "center" }];
  const overlay = { name: "Goal", description: "", siteId: on.id, type: "template", duration: 60, contents };
  const { _id } = (await on.call("createOverlay", { body: overlay })).as(Overlay);
  return (await on.call("broadcastOverlay", { params: { id: _id }, body })).as(BroadcastAnswer);
}

async function receiptOf(broadcastId: string, on = site) {
  return (await on.call("getReceipt", { params: { broadcastId } })).as(Receipt);
}

/** Acknowledges everything and resolves once the relay has received it: the response to the vote comes afterwards. */
async function acknowledge(viewer: TestViewer, seq: number): Promise<void> {
  const vote = { type: "vote", pollId: newId(1), answerId: "none", id: newId(Date.now()) };
  viewer.send(JSON.stringify({ type: "ack", seq }));
  viewer.send(JSON.stringify(vote));
  await viewer.when((frame) => frame.type === "vote.result" && frame.id === vote.id);
}

const NOTHING = { p50: null, p95: null, p99: null };

describe("a receipt", () => {
  test("of one channel counts deliveries, delays, late viewers and missing acknowledgements", async () => {
    const channelId = await site.addChannel("receipts");
    const [prompt, silent] = [await openSocket(site, channelId), await openSocket(site, channelId)];
    const { broadcastId, broadcasts } = await broadcast(site, { channelId });
    const seq = broadcasts[0]?.seq ?? 0;
    await Promise.all([prompt.waitForSeq(seq), silent.waitForSeq(seq)]);
    const before = { broadcastId, channelId, seq, sockets: 2, sent: 2, acknowledged: 0, late: 0, missing: 2, delay: NOTHING };
    expect(await receiptOf(broadcastId)).toMatchObject(before);
    await acknowledge(prompt, seq);
    await openSocket(site, channelId).then((late) => late.first("welcome"));
    const receipt = await receiptOf(broadcastId);
    expect(receipt).toMatchObject({ sockets: 2, sent: 2, acknowledged: 1, late: 1, missing: 1 });
    expect(receipt.delay.p50).not.toBeNull();
    expect(receipt.delay).toEqual({ p50: receipt.delay.p99, p95: receipt.delay.p99, p99: receipt.delay.p99 });
    const { channels, ...total } = receipt;
    expect(channels.map((channel) => ({ broadcastId, seen: null, ...channel }))).toEqual([total]);
  });

  test("of several channels sums their counts and lists each", async () => {
    const channelIds = [await site.addChannel("sum-a"), await site.addChannel("sum-b")];
    const viewers = await Promise.all(channelIds.map((channelId) => openSocket(site, channelId)));
    await Promise.all(viewers.map((viewer) => viewer.first("welcome")));
    const { broadcastId } = await broadcast(site, { channelIds });
    await Promise.all(viewers.map((viewer) => viewer.waitForSeq(1)));
    for (const viewer of viewers) await acknowledge(viewer, 1);
    const receipt = await receiptOf(broadcastId);
    expect(receipt).toMatchObject({ channelId: null, seq: null, sockets: 2, sent: 2, acknowledged: 2, missing: 0 });
    expect(receipt.channels.map(({ channelId }) => channelId).sort()).toEqual(channelIds.toSorted());
    for (const channel of receipt.channels) expect(channel).toMatchObject({ seq: 1, sockets: 1, acknowledged: 1, missing: 0 });
  });

  test("of a site-wide broadcast covers channels that were open and those that opened later", async () => {
    const own = await newSite();
    const early = await openSocket(own, own.channels[0]);
    await waitForViewerCount(own, 1);
    const { broadcastId } = await broadcast(own, {});
    await early.first("overlay.show");
    await acknowledge(early, 1);
    expect((await receiptOf(broadcastId, own)).channels.map(({ channelId }) => channelId)).toEqual([own.channels[0]]);
    const late = await openSocket(own, own.channels[1]);
    await late.when((frame) => frame.type === "overlay.show" || (frame.type === "welcome" && frame.overlays.length > 0));
    const receipt = await receiptOf(broadcastId, own);
    expect(receipt).toMatchObject({ channelId: null, seq: null, acknowledged: 1, missing: receipt.sockets - 1 });
    expect(receipt.sockets + receipt.late).toBe(2);
    expect(receipt.channels.map(({ channelId }) => channelId).sort()).toEqual(own.channels.toSorted());
  });

  test("is still available after its broadcast is cleared", async () => {
    const channelId = await site.addChannel("cleared");
    const { broadcastId } = await broadcast(site, { channelId });
    await site.call("clearBroadcasts", { body: { broadcastId } });
    expect(await receiptOf(broadcastId)).toMatchObject({ broadcastId, channelId, seq: 1, sockets: 0, missing: 0, delay: NOTHING });
  });

  test("returns 404 for a broadcast of another site and for an unknown one", async () => {
    const foreign = await newSite();
    const { broadcastId } = await broadcast(foreign, { channelId: foreign.channels[0] });
    for (const id of [broadcastId, newId(1)]) {
      const response = await site.call("getReceipt", { params: { broadcastId: id } });
      expect(response.problem).toMatchObject({ status: 404, code: "not_found", message: "Broadcast not found" });
    }
    expect(await site.call("getReceipt", { params: { broadcastId: "latest" } })).toMatchObject({ status: 400, fields: ["broadcastId"] });
  });
});
