import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { describe, expect, test, vi } from "vitest";
import { quantile } from "#worker/lib/histogram.ts";
import { Relay } from "#worker/durable-objects/relay/relay.ts";
import { newId, randomHex } from "#worker/lib/ids.ts";
import { evict, join, newBroadcast, newChannel, type TestChannel, PLACES } from "./relay-viewer.ts";

type Viewer = Awaited<ReturnType<typeof join>>;

/** Acknowledges, and waits for the response to a second frame: the relay reads a viewer's frames in order. */
async function acknowledge(viewer: Viewer, seq: number): Promise<void> {
  const vote = { type: "vote", pollId: newId(1), answerId: "none", id: randomHex(8) };
  viewer.send(JSON.stringify({ type: "ack", seq }));
  viewer.send(JSON.stringify(vote));
  await viewer.when((frame) => frame.type === "vote.result" && frame.id === vote.id);
}

async function publish(channel: TestChannel, change: Parameters<typeof newBroadcast>[0] = {}) {
  const broadcast = newBroadcast(change);
  const { seq } = await channel.stub.publish(broadcast);
  return { broadcastId: broadcast.broadcastId, seq };
}

/** Makes the relay store its counts. */
async function storeCounts(channel: TestChannel): Promise<void> {
  await runInDurableObject(channel.relay(), (relay: Relay) => relay.settle());
}

async function receiptOf(channel: TestChannel, broadcastId: string) {
  const [receipt] = await channel.stub.receipts([broadcastId]);
  if (!receipt) throw new Error("No receipt");
  const { seq, sockets, sent, acknowledged, late, delays } = receipt;
  return { seq, sockets, sent, acknowledged, late, delays: delays.reduce((sum, [, count = 0]) => sum + count, 0) };
}

describe.each(PLACES)("a receipt, on relays $place", ({ firstRelay }) => {
  test("counts the sockets addressed and those that acknowledged, each once", async () => {
    const channel = newChannel(undefined, firstRelay);
    const viewers = [await join(channel), await join(channel), await join(channel)];
    const { broadcastId, seq } = await publish(channel);
    await Promise.all(viewers.map((viewer) => viewer.waitForSeq(seq)));
    expect(await receiptOf(channel, broadcastId)).toEqual({ seq, sockets: 3, sent: 3, acknowledged: 0, late: 0, delays: 0 });
    for (const viewer of viewers.slice(1)) await acknowledge(viewer, seq);
    for (const viewer of viewers.slice(1)) await acknowledge(viewer, seq);
    expect(await receiptOf(channel, broadcastId)).toEqual({ seq, sockets: 3, sent: 3, acknowledged: 2, late: 0, delays: 2 });
  });

  test("counts one acknowledgement for all earlier broadcasts", async () => {
    const channel = newChannel(undefined, firstRelay);
    const viewer = await join(channel);
    const broadcasts = [await publish(channel), await publish(channel), await publish(channel)];
    await viewer.waitForSeq(3);
    await acknowledge(viewer, 2);
    const receipts = await Promise.all(broadcasts.map(({ broadcastId }) => receiptOf(channel, broadcastId)));
    expect(receipts.map(({ acknowledged }) => acknowledged)).toEqual([1, 1, 0]);
  });

  test("is read with those of others in one call to each relay, in the order asked for", async () => {
    const channel = newChannel(undefined, firstRelay);
    const viewer = await join(channel);
    const broadcasts = [await publish(channel), await publish(channel), await publish(channel)];
    await viewer.waitForSeq(3);
    await acknowledge(viewer, 3);
    const calls = vi.spyOn(Relay.prototype, "receipts");
    const asked = [...broadcasts.map(({ broadcastId }) => broadcastId).toReversed(), newId(1)];
    const receipts = await channel.stub.receipts(asked);
    expect(receipts.map((receipt) => receipt && [receipt.seq, receipt.sockets, receipt.acknowledged])).toEqual([
      [3, 1, 1],
      [2, 1, 1],
      [1, 1, 1],
      null,
    ]);
    expect(calls.mock.calls.length).toBe(await channel.stub.relays());
  });

  test("sums the counts of all relays", async () => {
    const channel = newChannel(undefined, firstRelay);
    await channel.stub.grow(1);
    const viewers = [await join(channel), await join(channel, { relay: 1 })];
    const { broadcastId, seq } = await publish(channel);
    await Promise.all(viewers.map((viewer) => viewer.waitForSeq(seq)));
    for (const viewer of viewers) await acknowledge(viewer, seq);
    expect(await receiptOf(channel, broadcastId)).toMatchObject({ sockets: 2, sent: 2, acknowledged: 2 });
  });

  test("of a segment counts only viewers in it, and no other acknowledgements", async () => {
    const channel = newChannel(undefined, firstRelay);
    const [fan, other] = [await join(channel, { tags: ["team:home"] }), await join(channel)];
    const { broadcastId } = await publish(channel, { segment: { tags: ["team:home"] } });
    const { seq } = await publish(channel);
    await Promise.all([fan.waitForSeq(seq), other.waitForSeq(seq)]);
    await acknowledge(other, seq);
    expect(await receiptOf(channel, broadcastId)).toMatchObject({ sockets: 1, sent: 1, acknowledged: 0 });
    await acknowledge(fan, seq);
    expect(await receiptOf(channel, broadcastId)).toMatchObject({ sockets: 1, sent: 1, acknowledged: 1 });
  });

  test("ignores acknowledgements of frames that haven't been sent yet", async () => {
    const channel = newChannel(undefined, firstRelay);
    const viewer = await join(channel);
    await acknowledge(viewer, 1_000_000);
    const { broadcastId, seq } = await publish(channel);
    await viewer.waitForSeq(seq);
    expect(await receiptOf(channel, broadcastId)).toMatchObject({ acknowledged: 0 });
    await acknowledge(viewer, seq);
    expect(await receiptOf(channel, broadcastId)).toMatchObject({ acknowledged: 1 });
  });

  test("counts late viewers separately, neither as addressed nor as acknowledging", async () => {
    const channel = newChannel(undefined, firstRelay);
    const early = await join(channel);
    const { broadcastId, seq } = await publish(channel);
    await early.waitForSeq(seq);
    const late = await join(channel);
    await acknowledge(late, seq);
    expect(await receiptOf(channel, broadcastId)).toEqual({ seq, sockets: 1, sent: 1, acknowledged: 0, late: 1, delays: 0 });
  });

  test("of a broadcast without viewers counts those who join later", async () => {
    const channel = newChannel(undefined, firstRelay);
    const { broadcastId, seq } = await publish(channel);
    expect(await receiptOf(channel, broadcastId)).toMatchObject({ seq, sockets: 0, late: 0 });
    await join(channel);
    expect(await receiptOf(channel, broadcastId)).toMatchObject({ sockets: 0, late: 1 });
  });

  test("counts what a resuming viewer missed as late, and what it already has only once", async () => {
    const channel = newChannel(undefined, firstRelay);
    const viewer = await join(channel);
    const { epoch } = await viewer.first("welcome");
    const held = await publish(channel);
    await viewer.waitForSeq(held.seq);
    await acknowledge(viewer, held.seq);
    viewer.close();
    await vi.waitUntil(async () => (await channel.relay().count()) === 0, { interval: 2 });
    const missed = await publish(channel);
    const again = await join(channel, { resume: { epoch, seq: held.seq } });
    await again.waitForSeq(missed.seq);
    await acknowledge(again, missed.seq);
    expect(await receiptOf(channel, held.broadcastId)).toMatchObject({ sockets: 1, acknowledged: 1, late: 0 });
    expect(await receiptOf(channel, missed.broadcastId)).toMatchObject({ sockets: 0, acknowledged: 0, late: 1 });
  });

  test("is null for a broadcast that was never published", async () => {
    expect(await newChannel(undefined, firstRelay).stub.receipts([newId(1)])).toEqual([null]);
  });

  test("measures from the channel's commit to the acknowledgement", async () => {
    const channel = newChannel(undefined, firstRelay);
    const viewer = await join(channel);
    const before = Date.now();
    const { broadcastId, seq } = await publish(channel);
    await viewer.waitForSeq(seq);
    await acknowledge(viewer, seq);
    const passed = Date.now() - before;
    const [receipt] = await channel.stub.receipts([broadcastId]);
    const delays = new Map(receipt?.delays.map(([bucket = 0, count = 0]) => [bucket, count]));
    expect(quantile(delays, 1)).toBeLessThanOrEqual((passed + 1) * (17 / 16));
  });
});

describe("a receipt survives", () => {
  test("an eviction of the relay, and viewers who acknowledge afterwards are counted once", async () => {
    const channel = newChannel();
    const [quick, slow] = [await join(channel), await join(channel)];
    const { broadcastId, seq } = await publish(channel);
    await Promise.all([quick.waitForSeq(seq), slow.waitForSeq(seq)]);
    await acknowledge(quick, seq);
    await storeCounts(channel);
    await evict(channel.relay());
    expect(await receiptOf(channel, broadcastId)).toMatchObject({ sockets: 2, sent: 2, acknowledged: 1 });
    for (const viewer of [quick, slow]) await acknowledge(viewer, seq);
    expect(await receiptOf(channel, broadcastId)).toMatchObject({ sockets: 2, sent: 2, acknowledged: 2, delays: 2 });
  });

  test("an eviction before its counts were stored, but lacks them until the viewer acknowledges again", async () => {
    const channel = newChannel();
    const viewer = await join(channel);
    const first = await publish(channel);
    await viewer.waitForSeq(first.seq);
    await acknowledge(viewer, first.seq);
    await evict(channel.relay());
    expect(await receiptOf(channel, first.broadcastId)).toMatchObject({ sockets: 1, sent: 1, acknowledged: 0 });
    const second = await publish(channel);
    await viewer.waitForSeq(second.seq);
    await acknowledge(viewer, second.seq);
    for (const { broadcastId } of [first, second]) {
      expect(await receiptOf(channel, broadcastId)).toMatchObject({ sockets: 1, acknowledged: 1, delays: 1 });
    }
  });

  test("a relay that doesn't respond, because the channel has its last report", async () => {
    const channel = newChannel();
    const viewer = await join(channel);
    const { broadcastId, seq } = await publish(channel);
    await viewer.waitForSeq(seq);
    await acknowledge(viewer, seq);
    await storeCounts(channel);
    vi.spyOn(Relay.prototype, "receipts").mockImplementation(() => {
      throw new Error("relay down");
    });
    expect(await receiptOf(channel, broadcastId)).toMatchObject({ sockets: 1, acknowledged: 1 });
  });

  test("a crash of all objects, which closes the sockets", async () => {
    const channel = newChannel();
    const viewer = await join(channel);
    const { broadcastId, seq } = await publish(channel);
    await viewer.waitForSeq(seq);
    await acknowledge(viewer, seq);
    await storeCounts(channel);
    await abortAllDurableObjects();
    expect(await receiptOf(channel, broadcastId)).toMatchObject({ seq, sockets: 1, acknowledged: 1 });
  });
});
