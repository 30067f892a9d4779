import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, expect, test, vi } from "vitest";
import { ChannelLog } from "#worker/durable-objects/channel/log.ts";
import { FanOut } from "#worker/durable-objects/channel/fan-out.ts";
import { Relay } from "#worker/durable-objects/relay/relay.ts";
import { CLOSE } from "#worker/durable-objects/relay/relay.protocol.ts";
import { newId } from "#worker/lib/ids.ts";
import { atTime, evict, join, newBroadcast, newChannel, runAlarmAt, type TestChannel } from "./relay-viewer.ts";

/** The time of the channel's next alarm. */
function alarmOf(channel: TestChannel): Promise<number | null> {
  return runInDurableObject(channel.stub, (_, { storage }) => storage.getAlarm());
}

/** Counts the calls from now on that push this channel's frames to any relay. */
async function countPushes(channel: TestChannel): Promise<() => number> {
  const epoch = await runInDurableObject(channel.stub, (_, state) => state.storage.kv.get<string>("epoch"));
  const deliver = vi.spyOn(Relay.prototype, "deliver");
  return () => deliver.mock.calls.filter(([push]) => push.epoch === epoch).length;
}

describe("publish", () => {
  test("reaches a viewer with its position in the log", async () => {
    const channel = newChannel();
    const viewer = await join(channel);
    const broadcast = newBroadcast();
    const { seq, sockets, startsAt, endsAt } = await channel.stub.publish(broadcast);
    expect({ seq, sockets, startsAt, endsAt }).toEqual({ seq: 1, sockets: 1, startsAt: broadcast.startsAt, endsAt: broadcast.endsAt });
    expect(await viewer.first("overlay.show")).toEqual({ type: "overlay.show", seq: 1, upTo: 1, ...broadcast });
  });

  test("shows a broadcast once, however often it is repeated, and returns the first result again", async () => {
    const channel = newChannel();
    const viewer = await join(channel);
    const broadcast = newBroadcast();
    const first = await channel.stub.publish(broadcast);
    const repeats = await Promise.all([1, 2, 3].map((i) => channel.stub.publish({ ...broadcast, endsAt: broadcast.endsAt + i })));
    for (const repeat of repeats) expect(repeat).toEqual(first);
    const { seq } = await channel.stub.emit({ id: newId(0), type: "page.updated", data: {} });
    await viewer.waitForSeq(seq);
    expect(viewer.log).toEqual([1, 2]);
  });

  test("shows a broadcast that was delayed past its end once it is repeated with a later end", async () => {
    const channel = newChannel();
    const viewer = await join(channel);
    const broadcast = newBroadcast();
    await channel.stub.publish({ ...broadcast, endsAt: Date.now() - 1 });
    await channel.stub.publish(broadcast);
    expect(await viewer.first("overlay.show")).toMatchObject({ seq: 1, broadcastId: broadcast.broadcastId });
  });

  test("sends nothing of a broadcast that has ended", async () => {
    const channel = newChannel();
    const viewer = await join(channel);
    const { seq: none } = await channel.stub.publish(newBroadcast({ endsAt: Date.now() - 1 }));
    expect(none).toBe(0);
    expect(await channel.stub.active()).toEqual([]);
    const { seq } = await channel.stub.emit({ id: newId(0), type: "page.updated", data: {} });
    await viewer.waitForSeq(seq);
    expect(viewer.log).toEqual([1]);
  });

  test("costs one call per relay that has viewers and one message per socket", async () => {
    const channel = newChannel();
    await channel.stub.grow(1);
    const viewers = [await join(channel), await join(channel), await join(channel, { relay: 1 })];
    const pushes = await countPushes(channel);
    const before = viewers.map((viewer) => viewer.messages.length);
    const { sockets, seq } = await channel.stub.publish(newBroadcast());
    await Promise.all(viewers.map((viewer) => viewer.waitForSeq(seq)));
    expect(sockets).toBe(3);
    expect(pushes()).toBe(2);
    const shows = viewers.map((viewer, i) =>
      viewer.messages.slice(before[i]).filter((message) => message.some((frame) => frame.type === "overlay.show")),
    );
    expect(shows.map((messages) => messages.length)).toEqual([1, 1, 1]);
  });

  test("calls a relay without viewers once and then no more", async () => {
    const channel = newChannel();
    await channel.stub.publish(newBroadcast());
    const pushes = await countPushes(channel);
    await channel.stub.publish(newBroadcast());
    expect(pushes()).toBe(0);
    const viewer = await join(channel);
    await channel.stub.publish(newBroadcast());
    await viewer.waitForSeq(3);
    expect(pushes()).toBe(1);
  });

  test("sends the first frame at once and a burst in one message, in order", async () => {
    const channel = newChannel();
    const viewer = await join(channel);
    const burst = Array.from({ length: 20 }, () => channel.stub.publish(newBroadcast()));
    await Promise.all(burst);
    await viewer.waitForSeq(20);
    expect(viewer.log).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    const messages = viewer.messages.filter((message) => message.some((frame) => frame.type === "overlay.show"));
    expect(messages[0]).toHaveLength(1);
    expect(messages.length).toBeLessThan(10);
  });

  test("succeeds if a relay fails, and the alarm delivers the frame later", async () => {
    const channel = newChannel();
    const viewer = await join(channel);
    vi.spyOn(Relay.prototype, "deliver").mockImplementationOnce(() => {
      throw new Error("relay down");
    });
    const { seq } = await channel.stub.publish(newBroadcast());
    expect(viewer.log).toEqual([]);
    expect(await runDurableObjectAlarm(channel.stub)).toBe(true);
    await viewer.waitForSeq(seq);
    expect(viewer.log).toEqual([1]);
  });

  test("delivers a frame that was written before a crash of the channel by alarm, without a retry by the caller", async () => {
    const channel = newChannel();
    const viewer = await join(channel);
    await runInDurableObject(channel.stub, async (instance, state) => {
      // The crash happens between the write and the push.
      void instance.publish(newBroadcast());
      await state.storage.sync();
    });
    await evict(channel.stub);
    await runDurableObjectAlarm(channel.stub);
    await viewer.waitForSeq(1);
    expect(viewer.log).toEqual([1]);
  });
});

describe("segments", () => {
  test("reach only viewers with the tag, whether live, joining or resuming", async () => {
    const channel = newChannel();
    const member = await join(channel, { tags: ["season-ticket"] });
    const other = await join(channel);
    const [targeted, open] = [newBroadcast({ segment: { tags: ["season-ticket"] } }), newBroadcast()];
    await channel.stub.publish(targeted);
    await channel.stub.publish(open);
    await Promise.all([member.waitForSeq(2), other.waitForSeq(2)]);
    expect(member.log).toEqual([1, 2]);
    expect(other.log).toEqual([2]);
    const { epoch } = await member.first("welcome");
    const late = await Promise.all([
      join(channel, { tags: ["season-ticket"] }),
      join(channel),
      join(channel, { tags: ["season-ticket"], resume: { epoch, seq: 0 } }),
      join(channel, { resume: { epoch, seq: 0 } }),
    ]);
    const overlays = await Promise.all(late.map(async (viewer) => (await viewer.first("welcome")).overlays.map((overlay) => overlay.seq)));
    expect(overlays).toEqual([[1, 2], [2], [], []]);
    await Promise.all(late.slice(2).map((viewer) => viewer.waitForSeq(2)));
    expect(late.map((viewer) => viewer.log)).toEqual([[], [], [1, 2], [2]]);
  });

  test("get one message each with their own frames in a burst", async () => {
    const channel = newChannel();
    const viewers = {
      red: await join(channel, { tags: ["red"] }),
      blue: await join(channel, { tags: ["blue"] }),
      none: await join(channel),
    };
    await Promise.all(
      ["", "red", "blue", "red", ""].map((tag) => channel.stub.publish(newBroadcast(tag ? { segment: { tags: [tag] } } : {}))),
    );
    await Promise.all(Object.values(viewers).map((viewer) => viewer.waitForSeq(5)));
    expect([viewers.red.log, viewers.blue.log, viewers.none.log]).toEqual([
      [1, 2, 4, 5],
      [1, 3, 5],
      [1, 5],
    ]);
  });
});

describe("clear", () => {
  test("removes by overlay, by broadcast or everything, once per id, and a later viewer sees what is left", async () => {
    const channel = newChannel();
    const viewer = await join(channel);
    const broadcasts = Array.from({ length: 4 }, () => newBroadcast());
    for (const broadcast of broadcasts) await channel.stub.publish(broadcast);
    const [a, b, c, d] = broadcasts.map((broadcast) => broadcast.broadcastId);
    const id = newId(0);
    const byOverlay = await channel.stub.clear({ id, target: { overlayId: broadcasts[0]?.overlayId ?? "" } });
    expect(byOverlay).toEqual({ seq: 5, broadcastIds: [a] });
    expect(await channel.stub.clear({ id, target: { all: true } })).toEqual(byOverlay);
    expect((await channel.stub.clear({ id: newId(0), target: { broadcastIds: [b ?? ""] } })).broadcastIds).toEqual([b]);
    const late = await join(channel);
    expect((await late.first("welcome")).overlays.map((overlay) => overlay.broadcastId)).toEqual([c, d]);
    expect((await channel.stub.clear({ id: newId(0), target: { all: true } })).broadcastIds).toEqual([c, d]);
    await viewer.waitForSeq(7);
    const cleared = viewer.frames.flatMap((frame) => (frame.type === "overlay.clear" ? [frame.broadcastIds] : []));
    expect(cleared).toEqual([[a], [b], [c, d]]);
    expect(await channel.stub.active()).toEqual([]);
  });

  test("keeps a broadcast off that arrives after its own clear", async () => {
    const channel = newChannel();
    const viewer = await join(channel);
    const broadcast = newBroadcast();
    await channel.stub.clear({ id: newId(0), target: { broadcastIds: [broadcast.broadcastId] } });
    await channel.stub.publish(broadcast);
    expect(await channel.stub.active()).toEqual([]);
    await channel.stub.emit({ id: newId(0), type: "page.updated", data: {} });
    await viewer.waitForSeq(1);
    expect(viewer.log).toEqual([1]);
  });

  test("adds no frame if there is nothing to remove", async () => {
    const channel = newChannel();
    expect(await channel.stub.clear({ id: newId(0), target: { all: true } })).toEqual({ seq: 0, broadcastIds: [] });
  });
});

describe("expiry", () => {
  test("removes everything that is due in one frame, by alarm", async () => {
    const channel = newChannel();
    const viewer = await join(channel);
    const lasting = newBroadcast({ endsAt: Date.now() + 3_600_000 });
    const endsAt = lasting.endsAt - 60_000;
    const due = [newBroadcast({ endsAt }), newBroadcast({ endsAt: endsAt - 1 })];
    await Promise.all([...due, lasting].map((broadcast) => channel.stub.publish(broadcast)));
    await vi.waitFor(async () => expect(await alarmOf(channel)).toBe(endsAt - 1));
    await runAlarmAt(channel.stub, endsAt);
    const frame = await viewer.first("overlay.clear");
    expect(new Set(frame.broadcastIds)).toEqual(new Set(due.map((broadcast) => broadcast.broadcastId)));
    expect(await channel.stub.active()).toHaveLength(1);
  });

  test("clears once even if it runs twice", async () => {
    const channel = newChannel();
    const viewer = await join(channel);
    const broadcast = newBroadcast();
    await channel.stub.publish(broadcast);
    await runAlarmAt(channel.stub, broadcast.endsAt);
    await viewer.first("overlay.clear");
    for (let times = 0; times < 2; times++)
      await atTime(broadcast.endsAt, () => runInDurableObject(channel.stub, (instance) => instance.alarm()));
    await channel.stub.emit({ id: newId(0), type: "page.updated", data: {} });
    await viewer.waitForSeq(3);
    expect(viewer.log).toEqual([1, 2, 3]);
  });

  test("isn't delayed by relays that don't respond", async () => {
    await runInDurableObject(newChannel().stub, async (instance, { storage }) => {
      vi.spyOn(FanOut.prototype, "push").mockReturnValue(new Promise(() => undefined));
      void instance.publish(newBroadcast());
      await storage.deleteAlarm();
      await instance.alarm();
      expect(await storage.getAlarm()).not.toBeNull();
    });
  });

  test("marks its clear as an end, and late viewers still receive what delayed playback hasn't shown yet", async () => {
    const channel = newChannel();
    await channel.stub.grow(1);
    const viewer = await join(channel);
    const endsAt = Date.now() + 600_000;
    const [held, plain] = [newBroadcast({ endsAt, timecode: 90 }), newBroadcast({ endsAt })];
    await Promise.all([held, plain].map((broadcast) => channel.stub.publish(broadcast)));
    await runAlarmAt(channel.stub, endsAt);
    await viewer.when((frame) => frame.type === "overlay.clear" && frame.ended === true);
    await viewer.when((frame) => "upTo" in frame && frame.upTo >= 3);
    const late = await atTime(endsAt, async () => [await join(channel), await join(channel, { relay: 1 })]);
    for (const { frames } of late) {
      const [welcome] = frames;
      expect(welcome).toMatchObject({ type: "welcome", overlays: [{ broadcastId: held.broadcastId }] });
    }
    expect((await channel.stub.clear({ id: newId(0), target: { all: true } })).broadcastIds).toEqual([held.broadcastId]);
    const cleared = await late[0]?.first("overlay.clear");
    expect(cleared).toEqual({ type: "overlay.clear", seq: 4, upTo: 4, broadcastIds: [held.broadcastId] });
    expect((await (await join(channel)).first("welcome")).overlays).toEqual([]);
  });

  test("offers a broadcast with a timecode to late viewers for one more minute", async () => {
    await runInDurableObject(newChannel().stub, (_, { storage }) => {
      const log = new ChannelLog(storage);
      log.publish(newBroadcast({ startsAt: 0, endsAt: 1_000, timecode: 90 }), 0);
      log.expire(1_000);
      expect([log.head, log.nextEnd()]).toEqual([2, null]);
      expect([1_000, 60_999, 61_000].map((now) => log.offered(now, 0, log.head).frames.length)).toEqual([1, 1, 0]);
      expect(log.clear(newId(0), { all: true }, 61_000, 61_000).broadcastIds).toEqual([]);
    });
  });

  test("survives a crash of every object", async () => {
    const channel = newChannel();
    const broadcast = newBroadcast({ endsAt: Date.now() + 600_000 });
    await channel.stub.publish(broadcast);
    await abortAllDurableObjects();
    const viewer = await join(channel);
    expect((await viewer.first("welcome")).overlays).toHaveLength(1);
    await runAlarmAt(channel.stub, broadcast.endsAt);
    expect((await viewer.first("overlay.clear")).seq).toBe(2);
  });
});

describe("states", () => {
  test("with the same key replace each other in a burst, and take no position in the log", async () => {
    const channel = newChannel();
    const viewer = await join(channel);
    const poll = (pollId: string, total: number) => ({
      key: pollId,
      type: "poll.updated" as const,
      at: Date.now() + total,
      data: JSON.stringify({ pollId, total }),
    });
    await channel.stub.publish(newBroadcast());
    await Promise.all([poll("a", 1), poll("b", 1), poll("a", 2), poll("a", 3)].map((change) => channel.stub.state(change)));
    await viewer.first("poll.updated");
    const states = viewer.frames.flatMap((frame) => (frame.type === "poll.updated" ? [frame] : []));
    expect(new Map(states.map((frame) => [frame.data.pollId, frame.data.total]))).toEqual(
      new Map([
        ["a", 3],
        ["b", 1],
      ]),
    );
    expect(states.length).toBeLessThan(4);
    expect(states.every((frame) => frame.upTo === 1)).toBe(true);
  });
});

describe("the log", () => {
  test("keeps at most 10,000 frames, and returns null for older ones", async () => {
    const channel = newChannel();
    const epoch = await runInDurableObject(channel.stub, async (instance, state) => {
      for (let i = 0; i < 3; i++) await instance.emit({ id: newId(i), type: "page.updated", data: {} });
      state.storage.sql.exec("UPDATE frames SET seq = seq + 20000, at = 0 WHERE seq > 1");
      return state.storage.kv.get<string>("epoch") ?? "";
    });
    await evict(channel.stub);
    await runInDurableObject(channel.stub, (instance) => instance.alarm());
    expect(await channel.stub.framesAfter(epoch, 0, 10)).toBeNull();
    expect(await channel.stub.framesAfter(epoch, 20_001, 10)).toHaveLength(2);
    expect(await channel.stub.framesAfter("another", 20_001, 10)).toBeNull();
    expect(await channel.stub.framesAfter(epoch, 30_000, 10)).toBeNull();
  });

  test("grows by one relay for all callers that saw the same number", async () => {
    const { stub } = newChannel();
    expect(await Promise.all([stub.grow(1), stub.grow(1), stub.grow(1)])).toEqual([2, 2, 2]);
    expect(await stub.relays()).toBe(2);
  });
});

test("a channel that ends disconnects its viewers with the reason", async () => {
  const channel = newChannel();
  const viewer = await join(channel);
  await channel.stub.publish(newBroadcast());
  await channel.stub.end({ id: newId(0) });
  expect((await viewer.closed).code).toBe(CLOSE.notFound);
  expect((await viewer.first("error")).code).toBe("not_found");
  expect(await channel.stub.active()).toEqual([]);
});

test("a channel that has ended accepts no viewers", async () => {
  const channel = newChannel();
  await channel.stub.end({ id: newId(0) });
  await expect(join(channel)).rejects.toThrow("ended");
});
