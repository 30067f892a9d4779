import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import { Relay } from "#worker/durable-objects/relay/relay.ts";
import { CLOSE } from "#worker/durable-objects/relay/relay.protocol.ts";
import { newId } from "#worker/lib/ids.ts";
import { connect, type Connection, issueTicket, type LoadChannel } from "#worker/services/realtime/realtime.ts";
import { evict, join, newBroadcast, newChannel, type TestChannel, type TestViewer, watch } from "./relay-viewer.ts";

const open: LoadChannel = async () => ({ gate: { version: 1, type: "none", digest: "" }, site: { version: 0, segments: [] } });
const PER_DEVICE = Number(env.TIFO_SOCKETS_PER_DEVICE);
const PER_ACCOUNT = Number(env.TIFO_SOCKETS_PER_ACCOUNT);
const PER_ADDRESS = Number(env.TIFO_SOCKETS_PER_ADDRESS);

async function connectViewer(channel: TestChannel, change: Partial<Connection> = {}): Promise<TestViewer> {
  const { siteId, channelId } = channel;
  const { webSocket } = await connect(
    env,
    { siteId, channelId, deviceId: null, network: null, ticket: null, language: null, resume: null, ...change },
    open,
  );
  if (!webSocket) throw new Error("No socket");
  return watch(webSocket);
}

const range = (count: number) => Array.from({ length: count }, (_, i) => i);
const countWelcomed = async (viewers: TestViewer[]) =>
  (await Promise.all(viewers.map((viewer) => viewer.when(() => true)))).filter(({ type }) => type === "welcome").length;
const concurrents = async (channel: TestChannel) => await channel.presence.concurrents();

async function expectTooManySockets(viewer: TestViewer): Promise<void> {
  expect(await viewer.first("error")).toMatchObject({ code: "too_many_sockets", close: CLOSE.tooMany });
  expect((await viewer.closed).code).toBe(CLOSE.tooMany);
}

describe("the sockets of one device", () => {
  test("are limited under concurrency, and rejected ones aren't counted", async () => {
    const channel = newChannel();
    const viewers = await Promise.all(range(PER_DEVICE + 30).map(() => connectViewer(channel, { deviceId: "one" })));
    expect(await countWelcomed(viewers)).toBe(PER_DEVICE);
    await vi.waitUntil(async () => (await concurrents(channel)).concurrents === PER_DEVICE, { timeout: 20_000 });
    expect((await concurrents(channel)).totalViews).toBe(1);
    await expectTooManySockets(await connectViewer(channel, { deviceId: "one" }));
    await (await connectViewer(channel, { deviceId: "another" })).first("welcome");
  });

  test("are counted across evictions, and free their place when they close", async () => {
    const channel = newChannel();
    const viewers = await Promise.all(range(PER_DEVICE).map(() => connectViewer(channel, { deviceId: "one" })));
    expect(await countWelcomed(viewers)).toBe(PER_DEVICE);
    await evict(channel.relay());
    await expectTooManySockets(await connectViewer(channel, { deviceId: "one" }));
    viewers[0]?.close();
    await vi.waitUntil(async () => (await (await connectViewer(channel, { deviceId: "one" })).when(() => true)).type === "welcome", {
      timeout: 20_000,
    });
    await expectTooManySockets(await connectViewer(channel, { deviceId: "one" }));
  });

  test("all use the same relay, however many there are", async () => {
    const channel = newChannel();
    for (let relays = 1; relays < 8; relays++) await channel.stub.grow(relays);
    const viewers = await Promise.all(range(PER_DEVICE + 10).map(() => connectViewer(channel, { deviceId: "one" })));
    expect(await countWelcomed(viewers)).toBe(PER_DEVICE);
  });
});

describe("the sockets of one network", () => {
  test("are limited for anonymous viewers, whatever device ids they invent", async () => {
    const channel = newChannel();
    for (let relays = 1; relays < 4; relays++) await channel.stub.grow(relays);
    const connection = (i: number) => ({ deviceId: `invented ${i}`, network: "203.0.113.7" });
    const viewers = await Promise.all(range(PER_ADDRESS + 20).map((i) => connectViewer(channel, connection(i))));
    expect(await countWelcomed(viewers)).toBe(PER_ADDRESS);
    await (await connectViewer(channel, { deviceId: "elsewhere", network: "198.51.100.1" })).first("welcome");
    const { ticket } = await issueTicket(env, { ...channel, accountId: newId(1), sessionId: null, tags: [] }, Date.now());
    await (await connectViewer(channel, { ticket, network: "203.0.113.7" })).first("welcome");
  });
});

test("the sockets of one account are limited", async () => {
  const channel = newChannel();
  const accountId = newId(1);
  const viewers = await Promise.all(
    range(PER_ACCOUNT + 5).map(async () => {
      const { ticket } = await issueTicket(env, { ...channel, accountId, sessionId: null, tags: [] }, Date.now());
      return connectViewer(channel, { ticket });
    }),
  );
  expect(await countWelcomed(viewers)).toBe(PER_ACCOUNT);
});

test("invented devices of one network add only a limited number to the total views of a day", async () => {
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
  /** Viewers on this many relays, two on each. */
  async function fillRelays(relays: number) {
    const channel = newChannel();
    vi.spyOn(Relay.prototype, "capacity", "get").mockReturnValue(2);
    const viewers = await Promise.all(range(relays * 2).map((i) => connectViewer(channel, { deviceId: `device ${i}` })));
    await Promise.all(viewers.map((viewer) => viewer.first("welcome")));
    return { channel, viewers };
  }

  test("is moved to fewer relays, while viewers of the others neither lose nor repeat frames", async () => {
    const { channel, viewers } = await fillRelays(4);
    const relays = await channel.stub.relays();
    expect(relays).toBeGreaterThanOrEqual(4);
    const counts = await Promise.all(range(relays).map((k) => channel.relay(k).count()));
    expect(counts.reduce((sum, count) => sum + count)).toBe(8);
    const { seq } = await channel.stub.publish(newBroadcast());
    await Promise.all(viewers.map((viewer) => viewer.waitForSeq(seq)));
    await channel.stub.shrink();
    expect(await channel.stub.relays()).toBe(1);
    // They were asked to reconnect, but are still connected.
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

  test("adds a removed relay again if a viewer still connects to it", async () => {
    const { channel, viewers } = await fillRelays(3);
    const last = (await channel.stub.relays()) - 1;
    for (const viewer of viewers) viewer.close();
    await vi.waitUntil(
      async () => (await Promise.all(range(last + 1).map((k) => channel.relay(k).count()))).every((count) => count === 0),
      { timeout: 20_000 },
    );
    await channel.stub.shrink();
    expect(await channel.stub.relays()).toBe(1);
    // With an older ticket, or through a Worker that has cached the number of relays.
    const late = await join(channel, { relay: last });
    for (let seq = 1; seq <= 3; seq++) await channel.stub.publish(newBroadcast());
    await late.waitForSeq(3);
    expect(late.log).toEqual([1, 2, 3]);
    expect(await channel.stub.relays()).toBe(1);
    await evict(channel.stub);
    await channel.stub.publish(newBroadcast());
    await late.waitForSeq(4);
  });

  test("still includes the receipts of removed relays", async () => {
    const { channel, viewers } = await fillRelays(3);
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
    expect(await channel.stub.receipts([broadcast.broadcastId])).toMatchObject([{ sent: 6 }]);
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
