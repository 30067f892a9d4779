import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, expect, test, vi } from "vitest";
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
/** Longer than the two heartbeats after which a count is stale. */
const LONG_MS = 3 * HEARTBEAT_MS;

/** Waits until the site counts this many viewers, which normally takes half a second. */
async function waitForCount(channel: TestChannel, concurrents: number): Promise<void> {
  await expect.poll(async () => (await channel.presence.concurrents()).concurrents, { interval: 20 }).toBe(concurrents);
}

/** Waits until the viewer has received this count. */
function receivesCount(viewer: TestViewer, count: number) {
  return viewer.when((frame) => frame.type === "concurrents" && frame.count === count);
}

describe("concurrents", () => {
  test("follow joins and leaves on all relays and channels of a site, separately for each site", async () => {
    const [one, elsewhere] = [newChannel(), newChannel()];
    const two = newChannel(one.siteId);
    await one.stub.grow(1);
    const viewers = [await join(one), await join(one, { relay: 1 }), await join(two), await join(elsewhere)];
    await waitForCount(one, 3);
    const { channels } = await one.presence.concurrents();
    const byId = (a: { channelId: string }, b: { channelId: string }) => a.channelId.localeCompare(b.channelId);
    expect(channels.sort(byId)).toEqual(
      [
        { channelId: one.channelId, concurrents: 2 },
        { channelId: two.channelId, concurrents: 1 },
      ].sort(byId),
    );
    viewers[1]?.close();
    await waitForCount(one, 2);
    viewers[0]?.close();
    viewers[2]?.close();
    await waitForCount(one, 0);
    expect((await one.presence.concurrents()).channels).toEqual([]);
    await waitForCount(elsewhere, 1);
  });

  test("are sent to the viewers of all relays of the channel", async () => {
    const channel = newChannel();
    await channel.stub.grow(1);
    const [here, there] = [await join(channel), await join(channel, { relay: 1 })];
    await Promise.all([receivesCount(here, 2), receivesCount(there, 2)]);
    const third = await join(channel);
    await Promise.all([receivesCount(here, 3), receivesCount(there, 3)]);
    third.close();
    await vi.waitFor(() => expect(here.frames.at(-1)).toMatchObject({ type: "concurrents", count: 2 }));
  });

  test("are sent at most once a second, however many viewers join", async () => {
    const channel = newChannel();
    const viewer = await join(channel);
    await receivesCount(viewer, 1);
    const start = Date.now();
    for (let i = 0; i < 10; i++) await join(channel);
    await receivesCount(viewer, 11);
    const changes = viewer.frames.filter((frame) => frame.type === "concurrents");
    expect(changes.length).toBeLessThanOrEqual(2 + (Date.now() - start) / 1000);
  });

  test("are correct after an eviction of the relay, of the site's object or of all", async () => {
    const channel = newChannel();
    const viewers = [await join(channel), await join(channel), await join(channel)];
    await waitForCount(channel, 3);
    for (const stubs of [[channel.relay()], [channel.presence], [channel.relay(), channel.presence, channel.stub]]) {
      for (const stub of stubs) await evict(stub);
      expect((await channel.presence.concurrents()).concurrents).toBe(3);
    }
    await evict(channel.presence);
    viewers[0]?.close();
    await evict(channel.relay());
    await waitForCount(channel, 2);
  });

  test("start from zero after a crash of all objects", async () => {
    const channel = newChannel();
    await join(channel);
    await join(channel);
    await waitForCount(channel, 2);
    await abortAllDurableObjects();
    expect((await channel.presence.concurrents()).concurrents).toBe(0);
    await join(channel);
    await waitForCount(channel, 1);
  });

  /** Joins two viewers, and returns the time a heartbeat later, by which each must have sent something. */
  async function joinTwo(channel: TestChannel): Promise<[TestViewer, TestViewer, number]> {
    const viewers = [await join(channel), await join(channel)] as const;
    await waitForCount(channel, 2);
    const joined = Date.now();
    await vi.waitUntil(() => Date.now() > joined, { interval: 1 });
    return [...viewers, joined + 1 + HEARTBEAT_MS];
  }

  test("drop a silent viewer, and keep one who pings", async () => {
    const channel = newChannel();
    const [silent, active, due] = await joinTwo(channel);
    await active.ping();
    await runAlarmAt(channel.relay(), due);
    await silent.closed;
    await waitForCount(channel, 1);
    expect(active.open).toBe(true);
  });

  test("keep a viewer who sends other frames, even through hibernation", async () => {
    const channel = newChannel();
    const [silent, sender, due] = await joinTwo(channel);
    await atTime(due - HEARTBEAT_MS / 2, async () => {
      sender.send(JSON.stringify({ type: "ping" }));
      await sender.first("pong");
    });
    await runAlarmAt(channel.relay(), due);
    await silent.closed;
    await evict(channel.relay());
    await runAlarmAt(channel.relay(), due);
    expect(await channel.relay().count()).toBe(1);
    expect(sender.open).toBe(true);
  });

  test("of a relay that doesn't renew its count are queried and corrected", async () => {
    const channel = newChannel();
    await join(channel);
    await waitForCount(channel, 1);
    await atTime(Date.now() - LONG_MS, async () => {
      await channel.presence.report({ channelId: newId(0), relay: 7, count: 40, devices: [] });
      expect((await channel.presence.concurrents()).concurrents).toBe(41);
    });
    // The count is stale now, so the relay itself is queried, and has no viewers.
    expect((await channel.presence.concurrents()).concurrents).toBe(1);
  });

  test("are exact after random joins, leaves and evictions", async () => {
    const channel = newChannel();
    await channel.stub.grow(1);
    const present = new Set<TestViewer>();
    for (let i = 0; i < 40; i++) {
      if (i % 3 !== 2) present.add(await join(channel, { relay: i % 2 }));
      else for (const viewer of [...present].slice(0, 1)) if (present.delete(viewer)) viewer.close();
      if (i % 7 === 0) await evict(channel.relay(i % 2));
      if (i % 11 === 0) await evict(channel.presence);
    }
    await waitForCount(channel, present.size);
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

test("client rules that are too large for one stored value reach an opening channel in order", async () => {
  const channel = newChannel();
  const rules = Array.from({ length: 100 }, (_, i) => {
    const body = JSON.stringify({ _id: `rule-${i}`, broadcastPayload: { text: "x".repeat(60_000) } });
    return { id: `rule-${i}`, channelId: null, body };
  });
  await channel.presence.setRules({ version: 1, rules, paused: [] });
  await channel.presence.setRules({ version: 1, rules: [], paused: [] });
  const viewer = await join(channel);
  const { rules: received } = await viewer.first("welcome");
  expect(received.map(({ data }) => data._id)).toEqual(rules.map(({ id }) => id));
});

describe("a site-wide broadcast", () => {
  test("reaches every open channel of the site once, with its position", async () => {
    const [one, elsewhere] = [newChannel(), newChannel()];
    const two = newChannel(one.siteId);
    const viewers = [await join(one), await join(two), await join(elsewhere)];
    await two.stub.emit({ id: newId(0), type: "rule", data: {} });
    await Promise.all([waitForCount(one, 2), waitForCount(elsewhere, 1)]);
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

  test("reaches a channel that opens before it ends, even after evictions, and none that opens later", async () => {
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

  test("reaches a channel that couldn't ask for it when it opened, with the channel's first report", async () => {
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

  test("reaches an opening channel together with more broadcasts than one call between objects can hold", async () => {
    const channel = newChannel();
    const broadcasts = Array.from({ length: 170 }, () => newHugeBroadcast());
    await runInDurableObject(channel.presence, async (instance) => {
      for (const broadcast of broadcasts) await instance.publish(broadcast);
    });
    const viewer = await join(channel);
    const { overlays } = await viewer.first("welcome");
    expect(overlays.map(({ broadcastId }) => broadcastId)).toEqual(broadcasts.map(({ broadcastId }) => broadcastId));
    // The first report repeats them, and only then is the channel counted.
    await waitForCount(channel, 1);
    await viewer.waitForSeq(170);
    expect(viewer.log).toEqual([]);
  });

  test("that a channel fails to take reaches it by alarm", async () => {
    const channel = newChannel();
    const viewer = await join(channel);
    await waitForCount(channel, 1);
    vi.spyOn(Channel.prototype, "publish").mockImplementationOnce(() => {
      throw new Error("channel down");
    });
    expect(await channel.presence.publish(newBroadcast())).toEqual([]);
    await runDurableObjectAlarm(channel.presence);
    await viewer.waitForSeq(1);
    expect(viewer.log).toEqual([1]);
  });

  test("is cleared on open channels and on those that open later, and isn't restored by a retry", async () => {
    const channel = newChannel();
    const later = newChannel(channel.siteId);
    const viewer = await join(channel);
    await waitForCount(channel, 1);
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

  test("is cleared by id without affecting others", async () => {
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

test("a viewer who leaves shortly before the relay's next alarm is no longer counted", async () => {
  const channel = newChannel();
  const viewer = await join(channel, { accountId: newId(Date.now()) });
  await waitForCount(channel, 1);
  viewer.close();
  await vi.waitUntil(async () => (await channel.relay().count()) === 0, { timeout: 4_000, interval: 2 });
  // The alarm of its metrics, which runs before the report is due.
  await runInDurableObject(channel.relay(), (relay) => relay.alarm());
  await waitForCount(channel, 0);
});
