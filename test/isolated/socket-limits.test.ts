import { env } from "cloudflare:workers";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Relay } from "#worker/durable-objects/relay/relay.ts";
import { CLOSE } from "#worker/durable-objects/relay/relay.protocol.ts";
import { newId } from "#worker/lib/ids.ts";
import { connect, type Connection, issueTicket, type LoadGate } from "#worker/services/realtime/realtime.ts";
import { evict, join, newBroadcast, newChannel, type TestChannel, type TestViewer, watch } from "./relay-viewer.ts";

const open: LoadGate = async () => ({ version: 1, type: "none", digest: "" });
const PER_DEVICE = Number(env.TIFO_SOCKETS_PER_DEVICE);
const PER_ACCOUNT = Number(env.TIFO_SOCKETS_PER_ACCOUNT);
const PER_ADDRESS = Number(env.TIFO_SOCKETS_PER_ADDRESS);

afterEach(() => {
  vi.restoreAllMocks();
});

async function enter(channel: TestChannel, change: Partial<Connection> = {}): Promise<TestViewer> {
  const { siteId, channelId } = channel;
  const { webSocket } = await connect(
    env,
    { siteId, channelId, deviceId: null, network: null, ticket: null, resume: null, ...change },
    open,
  );
  if (!webSocket) throw new Error("No socket");
  return watch(webSocket);
}

const range = (count: number) => Array.from({ length: count }, (_, i) => i);
const welcomed = async (viewers: TestViewer[]) =>
  (await Promise.all(viewers.map((viewer) => viewer.when(() => true)))).filter(({ type }) => type === "welcome").length;
const concurrents = async (channel: TestChannel) => await channel.presence.concurrents();

async function expectCrowded(viewer: TestViewer): Promise<void> {
  expect(await viewer.first("error")).toMatchObject({ code: "too_many_sockets", close: CLOSE.tooMany });
  expect((await viewer.closed).code).toBe(CLOSE.tooMany);
}

describe("the sockets of one device", () => {
  test("are limited, however they come at once, and those that are refused are not counted", async () => {
    const channel = newChannel();
    const viewers = await Promise.all(range(PER_DEVICE + 30).map(() => enter(channel, { deviceId: "one" })));
    expect(await welcomed(viewers)).toBe(PER_DEVICE);
    await vi.waitUntil(async () => (await concurrents(channel)).concurrents === PER_DEVICE, { timeout: 20_000 });
    expect((await concurrents(channel)).totalViews).toBe(1);
    await expectCrowded(await enter(channel, { deviceId: "one" }));
    await (await enter(channel, { deviceId: "another" })).first("welcome");
  });

  test("are counted through evictions, and make room when they close", async () => {
    const channel = newChannel();
    const viewers = await Promise.all(range(PER_DEVICE).map(() => enter(channel, { deviceId: "one" })));
    expect(await welcomed(viewers)).toBe(PER_DEVICE);
    await evict(channel.relay());
    await expectCrowded(await enter(channel, { deviceId: "one" }));
    viewers[0]?.close();
    await vi.waitUntil(async () => (await (await enter(channel, { deviceId: "one" })).when(() => true)).type === "welcome", {
      timeout: 20_000,
    });
    await expectCrowded(await enter(channel, { deviceId: "one" }));
  });

  test("come to one relay, of however many", async () => {
    const channel = newChannel();
    for (let relays = 1; relays < 8; relays++) await channel.stub.grow(relays);
    const viewers = await Promise.all(range(PER_DEVICE + 10).map(() => enter(channel, { deviceId: "one" })));
    expect(await welcomed(viewers)).toBe(PER_DEVICE);
  });
});

describe("the sockets of one network", () => {
  test("are limited for anonymous viewers, whatever devices they make up", async () => {
    const channel = newChannel();
    for (let relays = 1; relays < 4; relays++) await channel.stub.grow(relays);
    const connection = (i: number) => ({ deviceId: `made up ${i}`, network: "203.0.113.7" });
    const viewers = await Promise.all(range(PER_ADDRESS + 20).map((i) => enter(channel, connection(i))));
    expect(await welcomed(viewers)).toBe(PER_ADDRESS);
    await (await enter(channel, { deviceId: "elsewhere", network: "198.51.100.1" })).first("welcome");
    const { ticket } = await issueTicket(env, { ...channel, accountId: newId(1), sessionId: null, tags: [] }, Date.now());
    await (await enter(channel, { ticket, network: "203.0.113.7" })).first("welcome");
  });
});

test("the sockets of one account are limited", async () => {
  const channel = newChannel();
  const accountId = newId(1);
  const viewers = await Promise.all(
    range(PER_ACCOUNT + 5).map(async () => {
      const { ticket } = await issueTicket(env, { ...channel, accountId, sessionId: null, tags: [] }, Date.now());
      return enter(channel, { ticket });
    }),
  );
  expect(await welcomed(viewers)).toBe(PER_ACCOUNT);
});

test("devices that a network makes up add no more than so many to the total views of a day", async () => {
  const channel = newChannel();
  const limit = Number(env.TIFO_DEVICES_PER_ADDRESS);
  const reported = (from: number, count: number, network: string | null) =>
    channel.presence.report({
      channelId: channel.channelId,
      relay: 0,
      count: 1,
      devices: range(count).map((i) => ({ device: `${network} ${from + i}`, network })),
    });
  await reported(0, limit - 10, "one");
  await reported(0, limit - 10, "one");
  expect((await concurrents(channel)).totalViews).toBe(limit - 10);
  await reported(limit - 20, 500, "one");
  expect((await concurrents(channel)).totalViews).toBe(limit);
  await evict(channel.presence);
  await reported(5_000, 10, "one");
  await reported(0, 7, "another");
  await reported(0, 3, null);
  expect((await concurrents(channel)).totalViews).toBe(limit + 10);
});

describe("a channel whose viewers have left", () => {
  /** Viewers on so many relays, two on each. */
  async function crowd(relays: number) {
    const channel = newChannel();
    vi.spyOn(Relay.prototype, "capacity", "get").mockReturnValue(2);
    const viewers = await Promise.all(range(relays * 2).map((i) => enter(channel, { deviceId: `device ${i}` })));
    await Promise.all(viewers.map((viewer) => viewer.first("welcome")));
    return { channel, viewers };
  }

  test("is spread over fewer relays, while those that still have viewers lose and repeat nothing", async () => {
    const { channel, viewers } = await crowd(4);
    const relays = await channel.stub.relays();
    expect(relays).toBeGreaterThanOrEqual(4);
    const counts = await Promise.all(range(relays).map((k) => channel.relay(k).count()));
    expect(counts.reduce((sum, count) => sum + count)).toBe(8);
    const { seq } = await channel.stub.publish(newBroadcast());
    await Promise.all(viewers.map((viewer) => viewer.waitForSeq(seq)));
    await channel.stub.shrink();
    expect(await channel.stub.relays()).toBe(1);
    // Asked to come back, but still here.
    const drained = viewers.filter((viewer) => viewer.frames.some(({ type }) => type === "drain"));
    expect(drained.length).toBe(8 - (await channel.relay(0).count()));
    await evict(channel.stub);
    const next = await channel.stub.publish(newBroadcast());
    await Promise.all(viewers.map((viewer) => viewer.waitForSeq(next.seq)));
    expect(viewers.map(({ log }) => log)).toEqual(viewers.map(() => [1, 2]));
    vi.restoreAllMocks();
    for (const viewer of drained) viewer.close();
    await vi.waitUntil(
      async () => (await Promise.all(range(relays).map((k) => channel.relay(k).count()))).slice(1).every((count) => count === 0),
      { timeout: 20_000 },
    );
    await channel.stub.shrink();
    expect((await channel.stub.publish(newBroadcast())).sockets).toBe(8 - drained.length);
  });

  test("takes in again a relay that was let go, for whoever still comes to it", async () => {
    const { channel, viewers } = await crowd(3);
    const last = (await channel.stub.relays()) - 1;
    for (const viewer of viewers) viewer.close();
    await vi.waitUntil(
      async () => (await Promise.all(range(last + 1).map((k) => channel.relay(k).count()))).every((count) => count === 0),
      { timeout: 20_000 },
    );
    await channel.stub.shrink();
    expect(await channel.stub.relays()).toBe(1);
    // By a ticket of before, or a Worker that remembers the number.
    const late = await join(channel, { relay: last });
    for (let seq = 1; seq <= 3; seq++) await channel.stub.publish(newBroadcast());
    await late.waitForSeq(3);
    expect(late.log).toEqual([1, 2, 3]);
    expect(await channel.stub.relays()).toBe(1);
    await evict(channel.stub);
    await channel.stub.publish(newBroadcast());
    await late.waitForSeq(4);
  });

  test("still sums up the receipts of relays that were let go", async () => {
    const { channel, viewers } = await crowd(3);
    const broadcast = newBroadcast();
    const { seq } = await channel.stub.publish(broadcast);
    await Promise.all(viewers.map((viewer) => viewer.waitForSeq(seq)));
    for (const viewer of viewers) viewer.close();
    const relays = await channel.stub.relays();
    await vi.waitUntil(async () => (await Promise.all(range(relays).map((k) => channel.relay(k).count()))).every((count) => count === 0), {
      timeout: 20_000,
    });
    await Promise.all(range(relays).map((k) => channel.relay(k).settle()));
    await channel.stub.shrink();
    expect((await channel.stub.receipt(broadcast.broadcastId))?.sent).toBe(6);
  });

  test("can grow again", async () => {
    const channel = newChannel();
    await channel.stub.grow(1);
    const viewers = await Promise.all([join(channel), join(channel, { relay: 1 })]);
    await channel.stub.shrink();
    expect(await channel.stub.relays()).toBe(1);
    expect(await channel.stub.grow(1)).toBe(2);
    const { sockets } = await channel.stub.publish(newBroadcast());
    expect(sockets).toBe(viewers.length);
  });
});
