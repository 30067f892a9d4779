import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, expect, test, vi } from "vitest";
import type { Broadcast } from "#worker/durable-objects/channel/channel.protocol.ts";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import { Relay } from "#worker/durable-objects/relay/relay.ts";
import { RelaySockets } from "#worker/durable-objects/relay/sockets.ts";
import { CLOSE } from "#worker/durable-objects/relay/relay.protocol.ts";
import { newId } from "#worker/lib/ids.ts";
import {
  atTime,
  evict,
  join,
  newBroadcast,
  newChannel,
  newHugeBroadcast,
  requestToRelay,
  runAlarmAt,
  type TestChannel,
  PLACES,
} from "./relay-viewer.ts";

function emit(channel: TestChannel): Promise<{ seq: number }> {
  return channel.stub.emit({ id: newId(Date.now()), type: "page.updated", data: { _id: channel.channelId } });
}

async function emitMany(channel: TestChannel, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => emit(channel)));
}

/** Publishes in one call, so that the large bodies aren't sent individually. */
async function publishAll(channel: TestChannel, broadcasts: Broadcast[]): Promise<void> {
  await runInDurableObject(channel.stub, (instance) => Promise.all(broadcasts.map((broadcast) => instance.publish(broadcast))));
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

describe("welcome", () => {
  test("is the first frame and contains the active overlays for a late viewer", async () => {
    const channel = newChannel();
    const early = await join(channel);
    const [ended, lasting] = [newBroadcast(), newBroadcast({ endsAt: Date.now() + 3_600_000 })];
    await Promise.all([channel.stub.publish(ended), channel.stub.publish(lasting)]);
    await runAlarmAt(channel.stub, ended.endsAt);
    await early.first("overlay.clear");
    const viewer = await atTime(ended.endsAt, () => join(channel));
    const { epoch } = await early.first("welcome");
    expect(viewer.frames[0]).toEqual({
      type: "welcome",
      epoch,
      seq: 3,
      upTo: 3,
      now: (await viewer.first("welcome")).now,
      recovered: false,
      overlays: [{ type: "overlay.show", seq: 2, upTo: 2, ...lasting }],
      rules: [],
      concurrents: 2,
      heartbeat: 3600,
    });
  });

  test("of many viewers who join at once takes one snapshot of the channel", async () => {
    const channel = newChannel();
    await emit(channel);
    const snapshot = vi.spyOn(Channel.prototype, "snapshot");
    const viewers = await Promise.all(range(1, 20).map(() => join(channel)));
    expect(viewers.map((viewer) => viewer.position)).toEqual(viewers.map(() => 1));
    expect(snapshot).toHaveBeenCalledTimes(1);
  });
});

describe("more frames than one call between objects can hold", () => {
  test("are all received by a viewer who joins", async () => {
    const channel = newChannel();
    await publishAll(
      channel,
      Array.from({ length: 170 }, () => newHugeBroadcast()),
    );
    const viewer = await join(channel);
    expect((await viewer.first("welcome")).overlays.map(({ seq }) => seq)).toEqual(range(1, 170));
  });

  test("are all delivered to a relay that lags behind", async () => {
    const channel = newChannel();
    const viewer = await join(channel);
    const deliver = vi.spyOn(Relay.prototype, "deliver").mockImplementationOnce(() => {
      throw new Error("relay down");
    });
    await publishAll(
      channel,
      Array.from({ length: 170 }, () => newHugeBroadcast()),
    );
    await runDurableObjectAlarm(channel.stub);
    await viewer.waitForSeq(170);
    expect(viewer.log).toEqual(range(1, 170));
    const sizes = deliver.mock.calls.map(([push]) => push.frames.reduce((sum, { body }) => sum + body.length, 0));
    expect(Math.max(...sizes)).toBeLessThan(4_100_000);
  });
});

describe.each(PLACES)("a viewer who reconnects, on relays $place", ({ firstRelay }) => {
  test("receives exactly what it missed, in order and once, and continues live", async () => {
    const channel = newChannel(undefined, firstRelay);
    const viewer = await join(channel);
    await emitMany(channel, 3);
    await viewer.waitForSeq(3);
    viewer.close();
    await emitMany(channel, 5);
    const { epoch } = await viewer.first("welcome");
    const again = await join(channel, { resume: { epoch, seq: viewer.position } });
    await emit(channel);
    await again.waitForSeq(9);
    expect(await again.first("welcome")).toMatchObject({ recovered: true, upTo: 3, seq: 8, overlays: [] });
    expect(again.log).toEqual(range(4, 9));
  });

  test("receives what it missed even from before the relay's cache", async () => {
    const channel = newChannel(undefined, firstRelay);
    const first = await join(channel);
    const { epoch } = await first.first("welcome");
    await runInDurableObject(channel.stub, (instance) =>
      Promise.all(range(1, 1400).map((i) => instance.emit({ id: newId(i), type: "rule", data: {} }))),
    );
    await first.waitForSeq(1400);
    const again = await join(channel, { resume: { epoch, seq: 2 } });
    await again.waitForSeq(1400);
    expect(again.log).toEqual(range(3, 1400));
    expect((await again.first("welcome")).recovered).toBe(true);
  });

  test("after missing more than can be replayed receives the full state and is marked as not recovered", async () => {
    const channel = newChannel(undefined, firstRelay);
    const first = await join(channel);
    const { epoch } = await first.first("welcome");
    await publishAll(
      channel,
      Array.from({ length: 41 }, () => newHugeBroadcast()),
    );
    await channel.stub.clear({ id: newId(0), target: { all: true } });
    await first.waitForSeq(42);
    const lost = await join(channel, { resume: { epoch, seq: 0 } });
    expect(lost.frames[0]).toMatchObject({ recovered: false, upTo: 42, overlays: [] });
    const near = await join(channel, { resume: { epoch, seq: 3 } });
    await near.waitForSeq(42);
    expect(near.frames[0]).toMatchObject({ recovered: true, upTo: 3 });
    expect(near.log).toEqual(range(4, 42));
  });

  test("without having missed anything is marked as recovered", async () => {
    const channel = newChannel(undefined, firstRelay);
    const first = await join(channel);
    await channel.stub.publish(newBroadcast());
    const { epoch } = await first.first("welcome");
    const again = await join(channel, { resume: { epoch, seq: 1 } });
    expect(again.frames[0]).toMatchObject({ type: "welcome", recovered: true, upTo: 1, seq: 1, overlays: [] });
  });

  test("with a position that is too old, of another epoch or in the future receives the full state", async () => {
    const channel = newChannel(undefined, firstRelay);
    const first = await join(channel);
    await channel.stub.publish(newBroadcast());
    await emit(channel);
    const { epoch } = await first.first("welcome");
    const unknown = [
      { epoch: "another", seq: 1 },
      { epoch, seq: 99 },
    ];
    for (const resume of unknown) {
      const viewer = await join(channel, { resume });
      expect(viewer.frames[0]).toMatchObject({ recovered: false, upTo: 2, overlays: [{ seq: 1 }] });
      expect(viewer.log).toEqual([]);
    }
    await runInDurableObject(channel.stub, (_, state) => void state.storage.sql.exec("DELETE FROM frames WHERE seq = 1"));
    await evict(channel.relay());
    const viewer = await join(channel, { resume: { epoch, seq: 0 } });
    expect(viewer.frames[0]).toMatchObject({ recovered: false, upTo: 2, overlays: [{ seq: 1 }] });
  });

  test("from a relay that was ahead of this one receives no frame twice", async () => {
    const channel = newChannel(undefined, firstRelay);
    await channel.stub.grow(1);
    const slow = await join(channel);
    const ahead = await join(channel, { relay: 1 });
    const { epoch } = await ahead.first("welcome");
    vi.spyOn(Relay.prototype, "deliver").mockImplementationOnce(() => {
      throw new Error("relay down");
    });
    await emit(channel);
    await Promise.race([ahead.waitForSeq(1), slow.waitForSeq(1)]);
    const moved = await join(channel, { relay: ahead.position === 1 ? 0 : 1, resume: { epoch, seq: 1 } });
    expect(moved.frames[0]).toMatchObject({ type: "welcome", recovered: true, upTo: 1 });
    await emit(channel);
    await moved.waitForSeq(2);
    expect(moved.log).toEqual([2]);
    await slow.waitForSeq(2);
    expect(slow.log).toEqual([1, 2]);
  });
});

describe.each(PLACES)("eviction, on relays $place", ({ firstRelay }) => {
  test("of the relay, the channel or both between broadcasts neither loses nor repeats a frame", async () => {
    const channel = newChannel(undefined, firstRelay);
    const viewer = await join(channel);
    for (const stubs of [[], [channel.relay()], [channel.stub], [channel.relay(), channel.stub]]) {
      for (const stub of stubs) await evict(stub);
      await channel.stub.publish(newBroadcast());
    }
    await viewer.waitForSeq(4);
    expect(viewer.log).toEqual([1, 2, 3, 4]);
  });

  test("of a relay whose sockets missed a push is repaired when the next viewer joins", async () => {
    const channel = newChannel(undefined, firstRelay);
    const viewer = await join(channel);
    const lost = vi.spyOn(Relay.prototype, "deliver").mockReturnValue({ head: 1, sockets: 1, idle: false });
    await emit(channel);
    lost.mockRestore();
    expect(viewer.log).toEqual([]);
    await evict(channel.relay());
    await join(channel);
    await viewer.waitForSeq(1);
    expect(viewer.log).toEqual([1]);
  });

  test("by a crash of all objects closes the sockets, and a viewer who resumes has every frame once", async () => {
    const channel = newChannel(undefined, firstRelay);
    const viewer = await join(channel);
    await emitMany(channel, 3);
    await viewer.waitForSeq(3);
    const { epoch } = await viewer.first("welcome");
    await abortAllDurableObjects();
    await emitMany(channel, 2);
    const again = await join(channel, { resume: { epoch, seq: 3 } });
    await again.waitForSeq(5);
    expect(again.log).toEqual([4, 5]);
  });
});

describe("a viewer's frames", () => {
  test("close its connection if they are too frequent, without affecting other viewers", async () => {
    const channel = newChannel();
    const [noisy, quiet] = [await join(channel), await join(channel)];
    for (let i = 0; i < 1_000; i++) noisy.send('{"type":"ack","seq":0}');
    expect((await noisy.closed).code).toBe(CLOSE.tooMany);
    expect((await noisy.first("error")).code).toBe("too_many_frames");
    const { seq } = await channel.stub.publish(newBroadcast());
    await quiet.waitForSeq(seq);
    expect(await channel.relay().count()).toBe(1);
  });

  test.for([
    ["text that isn't JSON", "goal!"],
    ["an unknown type", '{"type":"shout"}'],
    ["an unknown field", '{"type":"ack","seq":1,"extra":true}'],
    ["a wrong type", '{"type":"ack","seq":"1"}'],
    ["more than 4 kB", JSON.stringify({ type: "watch", videoId: "v".repeat(5000), mediaTime: 1 })],
  ] as const)("are rejected if they are %s, and the third one closes the connection", async ([, text]) => {
    const channel = newChannel();
    const viewer = await join(channel);
    for (let i = 0; i < 3; i++) viewer.send(text);
    expect((await viewer.closed).code).toBe(CLOSE.badFrame);
    expect(viewer.frames.filter((frame) => frame.type === "error")).toHaveLength(3);
  });

  test("that acknowledge or report watching get no response", async () => {
    const channel = newChannel();
    const viewer = await join(channel);
    viewer.send('{"type":"ack","seq":0}');
    viewer.send('{"type":"watch","videoId":"5eed","mediaTime":12.5}');
    await emit(channel);
    await viewer.waitForSeq(1);
    expect(viewer.frames.filter((frame) => frame.type === "error")).toEqual([]);
  });
});

describe("a relay", () => {
  test("reports that it is full, and counts the ticket as used", async () => {
    const channel = newChannel();
    await join(channel);
    vi.spyOn(Relay.prototype, "capacity", "get").mockReturnValue(1);
    const nonce = { value: newId(0), expires: Date.now() + 60_000 };
    const full = await requestToRelay(channel, { nonce });
    expect([full.status, full.headers.get("tifo-relay")]).toEqual([503, "full"]);
    const used = await requestToRelay(channel, { nonce });
    expect([used.status, used.headers.get("tifo-relay")]).toEqual([401, "ticket_used"]);
  });

  test("that drains asks each viewer to reconnect after a different delay", async () => {
    const channel = newChannel();
    const viewers = await Promise.all(range(1, 5).map(() => join(channel)));
    expect(await channel.relay().drain(10_000)).toBe(5);
    const drains = await Promise.all(viewers.map((viewer) => viewer.first("drain")));
    expect(drains.every((drain) => drain.reconnectIn >= 0 && drain.reconnectIn < 10_000)).toBe(true);
    expect(new Set(drains.map((drain) => drain.reconnectIn)).size).toBeGreaterThan(1);
  });
});

test("a viewer of a segment who acknowledges everything it receives isn't too slow, however little of the log that is", () => {
  const channel = newChannel();
  return runInDurableObject(channel.relay(0), (_, state) => {
    const sockets = new RelaySockets(state, { device: 0, account: 0, network: 0 }, () => undefined);
    const { 1: server } = new WebSocketPair();
    sockets.accept(
      server,
      {
        accountId: null,
        sessionId: null,
        outputId: null,
        until: null,
        device: null,
        network: null,
        tags: ["red"],
        segments: [],
        counted: 0,
        watching: null,
        joinedAt: 0,
        lastActiveAt: 0,
        language: null,
        country: null,
        chat: null,
      },
      0,
    );
    const viewer = sockets.get(server);
    if (!viewer) throw new Error("Not admitted");
    for (const minute of [1, 2, 3]) {
      viewer.acked = viewer.sent;
      sockets.broadcast(() => ({ text: "[]", upTo: minute * 600 }), minute * 60_000);
    }
    expect(sockets.size).toBe(1);
    // A viewer who stops acknowledging is.
    for (const minute of [4, 5, 6]) sockets.broadcast(() => ({ text: "[]", upTo: minute * 600 }), minute * 60_000);
    expect(sockets.size).toBe(0);
  });
});
