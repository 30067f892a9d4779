import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import { Limiter } from "#worker/durable-objects/limiter.ts";
import { Relay } from "#worker/durable-objects/relay/relay.ts";
import { SiteLog } from "#worker/durable-objects/site-log/site-log.ts";
import { SitePresence } from "#worker/durable-objects/site-presence/site-presence.ts";
import { newId } from "#worker/lib/ids.ts";
import { connect, issueTicket, type LoadChannel } from "#worker/services/realtime/realtime.ts";
import { RELAY_COUNT_MS } from "#worker/services/realtime/relay-counts.ts";
import { readTicket } from "#worker/services/realtime/tickets.ts";
import { atTime, newBroadcast, newChannel, type TestChannel, type TestViewer, watch } from "./relay-viewer.ts";

const OPEN: LoadChannel = async () => ({ gate: { version: 1, type: "none", digest: "" }, site: { version: 0, segments: [] } });
const CAPACITY = 30;

/** Counts the calls to every object of a class, whoever makes them. */
function countCalls(object: { name: string; prototype: object }): () => number {
  const methods = Object.entries(Object.getOwnPropertyDescriptors(object.prototype)).filter(
    ([name, { value }]) => typeof value === "function" && !["constructor", "alarm"].includes(name) && !name.startsWith("webSocket"),
  );
  let calls = 0;
  for (const [name, { value }] of methods) {
    const original: unknown = value;
    if (typeof original !== "function") continue;
    const counted = function (this: unknown, ...parameters: unknown[]): unknown {
      calls++;
      return Reflect.apply(original, this, parameters);
    };
    Object.defineProperty(object.prototype, name, { value: counted, configurable: true, writable: true });
  }
  return () => calls;
}

const calls = {
  channel: countCalls(Channel),
  relay: countCalls(Relay),
  sitePresence: countCalls(SitePresence),
  limiter: countCalls(Limiter),
  siteLog: countCalls(SiteLog),
};
const counted = () => Object.fromEntries(Object.entries(calls).map(([name, count]) => [name, count()]));

function newTicket({ siteId, channelId }: TestChannel, at = Date.now()): Promise<{ ticket: string }> {
  return issueTicket(env, { siteId, channelId, accountId: newId(at), sessionId: null, tags: [] }, at);
}

/** A viewer gets a ticket, then connects with it, as the SDK does. */
async function arrive(channel: TestChannel): Promise<TestViewer> {
  const { siteId, channelId } = channel;
  const { ticket } = await newTicket(channel);
  const connection = { siteId, channelId, deviceId: null, network: null, ticket, language: null, resume: null };
  const { webSocket } = await connect(env, connection, OPEN);
  if (!webSocket) throw new Error("No socket");
  return watch(webSocket);
}

test("a kick-off calls the objects of the channel and the site far less than once per viewer", async () => {
  vi.spyOn(Relay.prototype, "capacity", "get").mockReturnValue(CAPACITY);
  const channel = newChannel();
  const viewers: TestViewer[] = [];
  const before = counted();
  // In waves, as the channel grows: those who find a relay full ask for more.
  for (let wave = 0; wave < 12; wave++) viewers.push(...(await Promise.all(Array.from({ length: 20 }, () => arrive(channel)))));
  await Promise.all(viewers.map((viewer) => viewer.first("welcome")));
  const perViewer = Object.fromEntries(
    Object.entries(counted()).map(([name, count]) => [name, (count - (before[name] ?? 0)) / viewers.length]),
  );
  // Nearly all of them are because of the small relays: each is added by one call, and loads its snapshot.
  expect(perViewer.channel).toBeLessThan(0.3);
  expect(perViewer.sitePresence).toBeLessThan(0.5);
  expect([perViewer.limiter, perViewer.siteLog]).toEqual([0, 0]);
  const { seq } = await channel.stub.publish(newBroadcast());
  await Promise.all(viewers.map((viewer) => viewer.waitForSeq(seq)));
});

test("an isolate uses a channel's number of relays for a few seconds, then spreads viewers over those that it has gained", async () => {
  const channel = newChannel();
  const now = Date.now();
  const relaysAt = async (at: number) => {
    const tickets = Array.from({ length: 40 }, (_, i) => newTicket(channel, at + i));
    const read = (await Promise.all(tickets)).map(({ ticket }) => readTicket(env, ticket, channel, at));
    return new Set((await Promise.all(read)).map((ticket) => ticket?.relay));
  };
  expect(await atTime(now, () => relaysAt(now))).toEqual(new Set([0]));
  for (let relays = 1; relays < 4; relays++) await channel.stub.grow(relays);
  expect(await atTime(now + RELAY_COUNT_MS - 1, () => relaysAt(now))).toEqual(new Set([0]));
  expect((await atTime(now + RELAY_COUNT_MS, () => relaysAt(now))).size).toBe(4);
});
