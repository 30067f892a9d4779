import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import { newId } from "#worker/lib/ids.ts";
import {
  atTime,
  evict,
  join,
  newBroadcast,
  newChannel,
  newHugeBroadcast,
  runAlarmAt,
  type TestChannel,
  type TestViewer,
} from "./relay-viewer.ts";

const HEARTBEAT_MS = 3600 * 1000;
/** Longer than the two heartbeats after which a count is old. */
const LONG_MS = 3 * HEARTBEAT_MS;

afterEach(() => {
  vi.restoreAllMocks();
});

/** Resolves once the site counts this many, which takes half a second where nothing holds it up. */
async function counted(channel: TestChannel, concurrents: number): Promise<void> {
  await expect.poll(async () => (await channel.presence.concurrents()).concurrents, { interval: 20 }).toBe(concurrents);
}

/** Resolves once the viewer has been told this count. */
function told(viewer: TestViewer, count: number) {
  return viewer.when((frame) => frame.type === "concurrents" && frame.count === count);
}

describe("concurrents", () => {
  test("follow joins and leaves over the relays and channels of a site, and no other site's", async () => {
    const [one, elsewhere] = [newChannel(), newChannel()];
    const two = newChannel(one.siteId);
    await one.stub.grow(1);
    const viewers = [await join(one), await join(one, { relay: 1 }), await join(two), await join(elsewhere)];
    await counted(one, 3);
    const { channels } = await one.presence.concurrents();
    const byId = (a: { channelId: string }, b: { channelId: string }) => a.channelId.localeCompare(b.channelId);
    expect(channels.sort(byId)).toEqual(
      [
        { channelId: one.channelId, concurrents: 2 },
        { channelId: two.channelId, concurrents: 1 },
      ].sort(byId),
    );
    viewers[1]?.close();
    await counted(one, 2);
    viewers[0]?.close();
    viewers[2]?.close();
    await counted(one, 0);
    expect((await one.presence.concurrents()).channels).toEqual([]);
    await counted(elsewhere, 1);
  });

  test("are told to the viewers of all relays of the channel", async () => {
    const channel = newChannel();
    await channel.stub.grow(1);
    const [here, there] = [await join(channel), await join(channel, { relay: 1 })];
    await Promise.all([told(here, 2), told(there, 2)]);
    const third = await join(channel);
    await Promise.all([told(here, 3), told(there, 3)]);
    third.close();
    await vi.waitFor(() => expect(here.frames.at(-1)).toMatchObject({ type: "concurrents", count: 2 }));
  });

  test("are told at most once a second, however many come", async () => {
    const channel = newChannel();
    const viewer = await join(channel);
    await told(viewer, 1);
    const start = Date.now();
    for (let i = 0; i < 10; i++) await join(channel);
    await told(viewer, 11);
    const changes = viewer.frames.filter((frame) => frame.type === "concurrents");
    expect(changes.length).toBeLessThanOrEqual(2 + (Date.now() - start) / 1000);
  });

  test("are right after an eviction of the relay, of the site's object or of all", async () => {
    const channel = newChannel();
    const viewers = [await join(channel), await join(channel), await join(channel)];
    await counted(channel, 3);
    for (const stubs of [[channel.relay()], [channel.presence], [channel.relay(), channel.presence, channel.stub]]) {
      for (const stub of stubs) await evict(stub);
      expect((await channel.presence.concurrents()).concurrents).toBe(3);
    }
    await evict(channel.presence);
    viewers[0]?.close();
    await evict(channel.relay());
    await counted(channel, 2);
  });

  test("leave nothing over after a crash of all objects", async () => {
    const channel = newChannel();
    await join(channel);
    await join(channel);
    await counted(channel, 2);
    await abortAllDurableObjects();
    expect((await channel.presence.concurrents()).concurrents).toBe(0);
    await join(channel);
    await counted(channel, 1);
  });

  /** Two viewers who have joined, and the moment a heartbeat after it, by which each must have been heard again. */
  async function joinTwo(channel: TestChannel): Promise<[TestViewer, TestViewer, number]> {
    const viewers = [await join(channel), await join(channel)] as const;
    await counted(channel, 2);
    const joined = Date.now();
    await vi.waitUntil(() => Date.now() > joined, { interval: 1 });
    return [...viewers, joined + 1 + HEARTBEAT_MS];
  }

  test("drop a viewer who fell silent, and keep one who pings", async () => {
    const channel = newChannel();
    const [silent, lively, due] = await joinTwo(channel);
    await lively.ping();
    await runAlarmAt(channel.relay(), due);
    await silent.closed;
    await counted(channel, 1);
    expect(lively.open).toBe(true);
  });

  test("keep a viewer who talks without pinging, also through hibernation", async () => {
    const channel = newChannel();
    const [silent, talker, due] = await joinTwo(channel);
    await atTime(due - HEARTBEAT_MS / 2, async () => {
      talker.send(JSON.stringify({ type: "ping" }));
      await talker.first("pong");
    });
    await runAlarmAt(channel.relay(), due);
    await silent.closed;
    await evict(channel.relay());
    await runAlarmAt(channel.relay(), due);
    expect(await channel.relay().count()).toBe(1);
    expect(talker.open).toBe(true);
  });

  test("of a relay that does not renew its count are asked for again and corrected", async () => {
    const channel = newChannel();
    await join(channel);
    await counted(channel, 1);
    await atTime(Date.now() - LONG_MS, async () => {
      await channel.presence.report({ channelId: newId(0), relay: 7, count: 40, devices: [] });
      expect((await channel.presence.concurrents()).concurrents).toBe(41);
    });
    // By now the count is old: the relay itself is asked, and has nobody.
    expect((await channel.presence.concurrents()).concurrents).toBe(1);
  });

  test("through joins, leaves and evictions at random end up exact", async () => {
    const channel = newChannel();
    await channel.stub.grow(1);
    const present = new Set<TestViewer>();
    for (let i = 0; i < 40; i++) {
      if (i % 3 !== 2) present.add(await join(channel, { relay: i % 2 }));
      else for (const viewer of [...present].slice(0, 1)) if (present.delete(viewer)) viewer.close();
      if (i % 7 === 0) await evict(channel.relay(i % 2));
      if (i % 11 === 0) await evict(channel.presence);
    }
    await counted(channel, present.size);
  });
});

describe("totalViews", () => {
  test("count each device once a day, across channels, reconnects and evictions", async () => {
    const channel = newChannel();
    const other = newChannel(channel.siteId);
    const first = await join(channel, { device: "a" });
    await join(channel, { device: "b" });
    await join(other, { device: "a" });
    await join(channel);
    first.close();
    await evict(channel.relay());
    await join(channel, { device: "a" });
    await evict(channel.presence);
    await expect.poll(async () => (await channel.presence.concurrents()).totalViews).toBe(2);
  });
});

test("client rules that are too large for one stored value reach a channel that opens, in their order", async () => {
  const channel = newChannel();
  const rules = Array.from({ length: 100 }, (_, i) => {
    const body = JSON.stringify({ _id: `rule-${i}`, broadcastPayload: { text: "x".repeat(60_000) } });
    return { id: `rule-${i}`, channelId: null, body };
  });
  await channel.presence.setRules({ version: 1, rules });
  await channel.presence.setRules({ version: 1, rules: [] });
  const viewer = await join(channel);
  const { rules: told } = await viewer.first("welcome");
  expect(told.map(({ data }) => data._id)).toEqual(rules.map(({ id }) => id));
});

describe("a site-wide broadcast", () => {
  test("reaches every open channel with its position, once, and no other site", async () => {
    const [one, elsewhere] = [newChannel(), newChannel()];
    const two = newChannel(one.siteId);
    const viewers = [await join(one), await join(two), await join(elsewhere)];
    await two.stub.emit({ id: newId(0), type: "rule", data: {} });
    await Promise.all([counted(one, 2), counted(elsewhere, 1)]);
    const broadcast = newBroadcast();
    const sent = await one.presence.publish(broadcast);
    expect(new Map(sent.map(({ channelId, seq }) => [channelId, seq]))).toEqual(
      new Map([
        [one.channelId, 1],
        [two.channelId, 2],
      ]),
    );
    expect(await one.presence.publish(broadcast)).toEqual(sent);
    await Promise.all([viewers[0]?.waitForSeq(1), viewers[1]?.waitForSeq(2)]);
    expect(viewers.map((viewer) => viewer.log)).toEqual([[1], [1, 2], []]);
  });

  test("reaches a channel that opens before it ends, also after evictions, and not one that opens later", async () => {
    const channel = newChannel();
    const endsAt = Date.now() + LONG_MS;
    const [short, long] = [newBroadcast({ endsAt }), newBroadcast({ endsAt: 2 * endsAt })];
    await channel.presence.publish(short);
    await channel.presence.publish(long);
    await evict(channel.presence);
    const viewer = await join(channel);
    expect((await viewer.first("welcome")).overlays.map((overlay) => overlay.broadcastId)).toEqual([short.broadcastId, long.broadcastId]);
    await runAlarmAt(channel.stub, endsAt);
    expect((await viewer.first("overlay.clear")).broadcastIds).toEqual([short.broadcastId]);
    const late = await atTime(endsAt, () => join(newChannel(channel.siteId)));
    expect((await late.first("welcome")).overlays.map((overlay) => overlay.broadcastId)).toEqual([long.broadcastId]);
  });

  test("reaches a channel that could not ask on opening, with its first report", async () => {
    const channel = newChannel();
    const broadcast = newBroadcast();
    await channel.presence.publish(broadcast);
    vi.spyOn(Channel.prototype, "snapshot").mockImplementationOnce(async function (this: Channel) {
      return {
        epoch: await epochOf(channel),
        head: 0,
        active: { frames: [], more: false },
        rules: [],
        states: [],
        gate: null,
        tail: [],
        concurrents: 0,
      };
    });
    const viewer = await join(channel);
    expect((await viewer.first("welcome")).overlays).toEqual([]);
    expect((await viewer.first("overlay.show")).broadcastId).toBe(broadcast.broadcastId);
  });

  test("reaches a channel that opens, with more others than one call between objects carries", async () => {
    const channel = newChannel();
    const broadcasts = Array.from({ length: 170 }, () => newHugeBroadcast());
    await runInDurableObject(channel.presence, async (instance) => {
      for (const broadcast of broadcasts) await instance.publish(broadcast);
    });
    const viewer = await join(channel);
    const { overlays } = await viewer.first("welcome");
    expect(overlays.map(({ broadcastId }) => broadcastId)).toEqual(broadcasts.map(({ broadcastId }) => broadcastId));
    // The first report repeats them; only then the channel counts as open.
    await counted(channel, 1);
    await viewer.waitForSeq(170);
    expect(viewer.log).toEqual([]);
  });

  test("that one channel does not take reaches it by alarm", async () => {
    const channel = newChannel();
    const viewer = await join(channel);
    await counted(channel, 1);
    vi.spyOn(Channel.prototype, "publish").mockImplementationOnce(() => {
      throw new Error("channel down");
    });
    expect(await channel.presence.publish(newBroadcast())).toEqual([]);
    await runDurableObjectAlarm(channel.presence);
    await viewer.waitForSeq(1);
    expect(viewer.log).toEqual([1]);
  });

  test("is cleared on open channels and on those that open later, and no repeat brings it back", async () => {
    const channel = newChannel();
    const later = newChannel(channel.siteId);
    const viewer = await join(channel);
    await counted(channel, 1);
    const own = newBroadcast();
    await later.stub.publish(own);
    const broadcast = newBroadcast();
    await channel.presence.publish(broadcast);
    const clear = { id: newId(1), target: { all: true as const } };
    const cleared = await channel.presence.clear(clear);
    expect(cleared).toEqual([{ channelId: channel.channelId, seq: 2, broadcastIds: [broadcast.broadcastId] }]);
    expect(await channel.presence.clear(clear)).toEqual(cleared);
    expect(await channel.presence.publish(broadcast)).toEqual([]);
    await viewer.first("overlay.clear");
    const opened = await join(later);
    expect((await opened.first("welcome")).overlays).toEqual([]);
    expect(await later.stub.active()).toEqual([]);
  });

  test("cleared by name leaves the others on", async () => {
    const channel = newChannel();
    const [gone, kept] = [newBroadcast(), newBroadcast()];
    await channel.presence.publish(gone);
    await channel.presence.publish(kept);
    await channel.presence.clear({ id: newId(1), target: { broadcastIds: [gone.broadcastId] } });
    const viewer = await join(channel);
    expect((await viewer.first("welcome")).overlays.map((overlay) => overlay.broadcastId)).toEqual([kept.broadcastId]);
  });
});

async function epochOf(channel: TestChannel): Promise<string> {
  return (await runInDurableObject(channel.stub, (_, state) => state.storage.kv.get<string>("epoch"))) ?? "";
}

test("a viewer who leaves shortly before the relay has something else to do is counted out all the same", async () => {
  const channel = newChannel();
  const viewer = await join(channel, { accountId: newId(Date.now()) });
  await counted(channel, 1);
  viewer.close();
  await vi.waitUntil(async () => (await channel.relay().count()) === 0, { timeout: 4_000, interval: 2 });
  // The alarm of its books, which comes before the report is due.
  await runInDurableObject(channel.relay(), (relay) => relay.alarm());
  await counted(channel, 0);
});
