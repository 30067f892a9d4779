import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { BRANCH_SIZE, DIRECT_RELAYS, MAX_RELAYS } from "#worker/durable-objects/branch/branch.protocol.ts";
import { Branch } from "#worker/durable-objects/branch/branch.ts";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import { Relay } from "#worker/durable-objects/relay/relay.ts";
import { SitePresence } from "#worker/durable-objects/site-presence/site-presence.ts";
import { relayOf } from "#worker/durable-objects/stubs.ts";
import { newId } from "#worker/lib/ids.ts";
import { Chatter, newChatSite, roomOf } from "./chatters.ts";
import { evict, join, newBroadcast, newChannel, type TestViewer } from "./relay-viewer.ts";

const FIRST = DIRECT_RELAYS;

beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => undefined));

/** A channel with viewers on relays that are called directly and by two branches. */
async function newTree() {
  const channel = newChannel();
  const relays = [0, 1, FIRST, FIRST + 1, FIRST + BRANCH_SIZE];
  const viewers = await Promise.all(relays.map((relay) => join(channel, { relay })));
  return { channel, relays, viewers };
}

async function expectLog(viewers: TestViewer[], seq: number): Promise<void> {
  await Promise.all(viewers.map((viewer) => viewer.waitForSeq(seq)));
  for (const viewer of viewers) expect(viewer.log).toEqual(Array.from({ length: seq }, (_, i) => i + 1));
}

describe("a channel with branches", () => {
  test("calls each branch once for a broadcast, and no branch for the first relays", async () => {
    const { channel, viewers } = await newTree();
    // Calls relays that have no viewers for the last time.
    await channel.stub.publish(newBroadcast());
    const deliver = vi.spyOn(Branch.prototype, "deliver");
    const { sockets, seq } = await channel.stub.publish(newBroadcast());
    expect(sockets).toBe(viewers.length);
    // The calls leave together, and viewers join together: either order is anybody's.
    const called = deliver.mock.calls.map(([relays]) => relays.toSorted((a, b) => a - b)).sort(([a = 0], [b = 0]) => a - b);
    expect(called).toEqual([[FIRST, FIRST + 1], [FIRST + BRANCH_SIZE]]);
    await expectLog(viewers, seq);
  });

  test("delivers a broadcast that a branch fails to pass on, without a retry", async () => {
    const { channel, viewers } = await newTree();
    vi.spyOn(Branch.prototype, "deliver").mockRejectedValue(new Error("reset"));
    const { sockets, seq } = await channel.stub.publish(newBroadcast());
    expect(sockets).toBe(viewers.length);
    await expectLog(viewers, seq);
  });

  test("delivers to a relay that was late behind its branch, and to its siblings meanwhile, each frame once", async () => {
    const { channel, viewers } = await newTree();
    vi.spyOn(Branch.prototype, "deliver").mockImplementationOnce(async function (this: Branch, relays, push) {
      const outcomes = await this.deliver(
        relays.filter((relay) => relay !== FIRST),
        push,
      );
      return [{ ok: false, late: true, error: "late" }, ...outcomes];
    });
    await channel.stub.publish(newBroadcast());
    await Promise.all(viewers.filter((_, i) => i !== 2).map((viewer) => viewer.waitForSeq(1)));
    await channel.stub.publish(newBroadcast());
    await expectLog(viewers, 2);
  });

  test("loses and repeats no frame while its branches are evicted", async () => {
    const { channel, viewers } = await newTree();
    for (let round = 1; round <= 3; round++) {
      await evict(channel.branch(round % 2));
      await channel.stub.publish(newBroadcast());
      if (round === 2) await evict(channel.stub);
    }
    await expectLog(viewers, 3);
  });

  test("loads one snapshot for all relays of a branch that need one at once", async () => {
    const channel = newChannel();
    await channel.stub.publish(newBroadcast());
    const snapshots = vi.spyOn(Channel.prototype, "snapshotFor");
    const viewers = await Promise.all(Array.from({ length: 20 }, (_, i) => join(channel, { relay: FIRST + i })));
    expect(viewers.every(({ position }) => position === 1)).toBe(true);
    expect(snapshots.mock.calls.length).toBeLessThan(10);
    expect(snapshots.mock.calls.flatMap(([relays]) => relays).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, i) => FIRST + i),
    );
    await channel.stub.publish(newBroadcast());
    await Promise.all(viewers.map((viewer) => viewer.waitForSeq(2)));
  });

  test("counts and retires its relays", async () => {
    const { channel, viewers } = await newTree();
    expect((await channel.stub.publish(newBroadcast())).sockets).toBe(viewers.length);
    await channel.stub.shrink();
    for (const viewer of viewers) viewer.close();
    await vi.waitFor(async () => {
      await channel.stub.shrink();
      expect(await channel.stub.relays()).toBe(1);
    });
    const deliver = vi.spyOn(Branch.prototype, "deliver");
    await evict(channel.stub);
    await channel.stub.publish(newBroadcast());
    expect(deliver).not.toHaveBeenCalled();
    // With an older ticket, or through a Worker that has cached the number of relays.
    const late = await join(channel, { relay: FIRST + 1 });
    const { seq } = await channel.stub.publish(newBroadcast());
    await late.waitForSeq(seq);
  });

  test("grows by more relays the more it has, up to a million viewers' worth", async () => {
    const { stub } = newChannel();
    let [relays, calls] = [await stub.relays(), 0];
    for (let grown = await stub.grow(relays); grown > relays; grown = await stub.grow(relays)) [relays, calls] = [grown, calls + 1];
    expect(relays).toBe(MAX_RELAYS);
    expect(calls).toBeLessThan(60);
  });

  test("disconnects all its viewers when it ends", async () => {
    const { channel, viewers } = await newTree();
    await channel.stub.end({ id: newId(1) });
    expect(await Promise.all(viewers.map(async (viewer) => (await viewer.closed).code))).toEqual(viewers.map(() => 4404));
  });
});

describe("a site whose channel has branches", () => {
  test("counts all viewers from grouped reports, and sends them the total", async () => {
    const channel = newChannel();
    const reports = vi.spyOn(SitePresence.prototype, "report");
    const groups = vi.spyOn(SitePresence.prototype, "reportAll");
    const viewers = await Promise.all(Array.from({ length: 12 }, (_, i) => join(channel, { relay: FIRST + i })));
    await expect.poll(async () => (await channel.presence.concurrents()).concurrents).toBe(12);
    await Promise.all(viewers.map((viewer) => viewer.when((frame) => frame.type === "concurrents" && frame.count === 12)));
    expect(groups.mock.calls.length).toBeLessThan(reports.mock.calls.length);
    viewers[3]?.close();
    await expect.poll(async () => (await channel.presence.concurrents()).concurrents).toBe(11);
    await evict(channel.presence);
    expect((await channel.presence.concurrents()).concurrents).toBe(11);
  });

  test("changes the tags of accounts, and tells accounts of hidden changes, wherever they are connected", async () => {
    const channel = newChannel();
    const accountId = newId(1);
    const viewers = await Promise.all([0, FIRST, FIRST + BRANCH_SIZE].map((relay) => join(channel, { relay, accountId })));
    await expect.poll(async () => (await channel.presence.concurrents()).concurrents).toBe(3);
    await channel.presence.retag([{ accountId, tags: ["team:home"] }]);
    await Promise.all(viewers.map((viewer) => viewer.first("account.changed")));
    const { seq } = await channel.stub.publish(newBroadcast({ segment: { tags: ["team:home"] } }));
    await expectLog(viewers, seq);
    await channel.stub.notifyAccounts([accountId], { type: "questions.changed" });
    await Promise.all(viewers.map((viewer) => viewer.first("questions.changed")));
  });

  test("has exactly the relays recheck an account that may have it", async () => {
    const channel = newChannel();
    const accountId = newId(1);
    const check = vi.spyOn(Relay.prototype, "checkRights").mockResolvedValue();
    await Promise.all([
      join(channel, { relay: FIRST, accountId }),
      join(channel, { relay: FIRST + 1 }),
      join(channel, { relay: 0, accountId }),
    ]);
    await expect.poll(async () => (await channel.presence.concurrents()).concurrents).toBe(3);
    await channel.presence.recheck([accountId]);
    await vi.waitFor(() => expect(check.mock.calls).toEqual([[[accountId]], [[accountId]]]));
  });
});

test("the chat of a channel with branches reaches each relay, and relays of one branch in one call", async () => {
  const { site, newRoom } = await newChatSite();
  const channelId = await newRoom();
  const channel = { ...newChannel(site.id), channelId, relay: (k = 0) => relayOf(env, site.id, channelId, k) };
  const viewers = await Promise.all([0, FIRST, FIRST + 1, FIRST + BRANCH_SIZE].map((relay) => join(channel, { relay })));
  const chatters = viewers.map((viewer) => new Chatter(viewer));
  for (const viewer of viewers) viewer.send(JSON.stringify({ type: "chat.join" }));
  await Promise.all(viewers.map((viewer) => viewer.first("chat.history")));
  const batches = vi.spyOn(Branch.prototype, "deliverChat");
  for (let i = 1; i <= 3; i++) {
    const said = { accountId: null, requestId: `${i}`, text: `Message ${i}`, replyTo: null, language: null };
    await roomOf(site, channelId).announce(said);
    await Promise.all(viewers.map((viewer) => viewer.when((frame) => frame.type === "chat.messages" && frame.chatSeq >= i)));
  }
  for (const chatter of chatters) expect([...chatter.screen.values()].map(({ chatSeq }) => chatSeq)).toEqual([1, 2, 3]);
  expect(batches.mock.calls.some(([relays]) => relays.length === 2)).toBe(true);
});
