import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import type { PageGate } from "#db/types.ts";
import { Channel } from "#worker/durable-objects/channel/channel.ts";
import { Relay } from "#worker/durable-objects/relay/relay.ts";
import { CLOSE } from "#worker/durable-objects/relay/relay.protocol.ts";
import { UsedTicketStore } from "#worker/durable-objects/relay/used-ticket-store.ts";
import { newId } from "#worker/lib/ids.ts";
import { connect, type Connection, issueTicket, type LoadChannel } from "#worker/services/realtime/realtime.ts";
import { eventStream, parseEventId } from "#worker/services/realtime/event-stream.ts";
import { newBroadcast, newChannel, type TestChannel, type TestViewer, watch } from "./relay-viewer.ts";

const open = gate("none");

/** Loads a channel's gate; null stands for a channel that doesn't exist. */
function gate(type: PageGate["type"] | null): LoadChannel {
  return async () => (type === null ? null : { gate: { version: 1, type, digest: "" }, site: { version: 0, segments: [] } });
}

function connection(channel: TestChannel, change: Partial<Connection> = {}): Connection {
  const { siteId, channelId } = channel;
  return { siteId, channelId, deviceId: null, network: null, ticket: null, language: null, resume: null, ...change };
}

async function connectViewer(channel: TestChannel, change: Partial<Connection> = {}, loadGate = open): Promise<TestViewer> {
  const { webSocket } = await connect(env, connection(channel, change), loadGate);
  if (!webSocket) throw new Error("No socket");
  return watch(webSocket);
}

function ticketFor(channel: TestChannel, change: { tags?: string[]; at?: number } = {}): Promise<{ ticket: string; expiresAt: number }> {
  const { siteId, channelId } = channel;
  return issueTicket(env, { siteId, channelId, accountId: newId(0), sessionId: null, tags: change.tags ?? [] }, change.at ?? Date.now());
}

describe("a ticket", () => {
  test("gives its viewer the account's tags", async () => {
    const channel = newChannel();
    const { ticket } = await ticketFor(channel, { tags: ["red"] });
    const [member, anyone] = [await connectViewer(channel, { ticket }), await connectViewer(channel)];
    await Promise.all([member.first("welcome"), anyone.first("welcome")]);
    await channel.stub.publish(newBroadcast({ segment: { tags: ["red"] } }));
    await channel.stub.publish(newBroadcast());
    await Promise.all([member.waitForSeq(2), anyone.waitForSeq(2)]);
    expect([member.log, anyone.log]).toEqual([[1, 2], [2]]);
  });

  test("used by several viewers at once admits exactly one", async () => {
    const channel = newChannel();
    const { ticket } = await ticketFor(channel);
    const viewers = await Promise.all([1, 2, 3, 4, 5].map(() => connectViewer(channel, { ticket })));
    const first = await Promise.all(viewers.map((viewer) => viewer.when(() => true)));
    expect(first.map((frame) => frame.type).sort()).toEqual(["error", "error", "error", "error", "welcome"]);
    const rejected = viewers.filter((_, i) => first[i]?.type === "error");
    expect(await Promise.all(rejected.map(async (viewer) => (await viewer.closed).code))).toEqual(
      rejected.map(() => CLOSE.unauthenticated),
    );
  });

  test("is valid for one use even after a crash, and deleted once it has expired", async () => {
    const channel = newChannel();
    const tickets = await Promise.all([1, 2, 3].map(() => ticketFor(channel)));
    for (const { ticket } of tickets) expect((await (await connectViewer(channel, { ticket })).when(() => true)).type).toBe("welcome");
    await abortAllDurableObjects();
    for (const { ticket } of tickets) expect((await (await connectViewer(channel, { ticket })).closed).code).toBe(CLOSE.unauthenticated);
    const rows = await runInDurableObject(channel.relay(0), (_, { storage }) => {
      new UsedTicketStore(storage).prune(Date.now() + 61_000);
      return storage.sql.exec("SELECT * FROM spent_groups").toArray();
    });
    expect(rows).toEqual([]);
  });

  test("is valid for one use even if its home relay is full", async () => {
    const channel = newChannel();
    const { ticket } = await ticketFor(channel);
    const capacity = vi.spyOn(Relay.prototype, "capacity", "get");
    capacity.mockImplementation(() => 0);
    capacity.mockImplementationOnce(() => 0).mockImplementation(() => 10);
    const viewer = await connectViewer(channel, { ticket });
    expect((await viewer.when(() => true)).type).toBe("welcome");
    expect(await channel.stub.relays()).toBe(2);
    expect((await (await connectViewer(channel, { ticket })).closed).code).toBe(CLOSE.unauthenticated);
  });

  test("is valid for 60 s, and rejected when expired, forged, or issued for another channel or site", async () => {
    const [channel, other] = [newChannel(), newChannel()];
    const now = Date.now();
    const { ticket, expiresAt } = await ticketFor(channel);
    expect(expiresAt - now).toBeGreaterThanOrEqual(60_000);
    expect(expiresAt - now).toBeLessThan(62_000);
    const old = await ticketFor(channel, { at: now - 62_000 });
    const rejected = [
      await connectViewer(channel, { ticket: old.ticket }),
      await connectViewer(channel, { ticket: `${ticket.slice(0, -4)}AAAA` }),
      await connectViewer(channel, { ticket: "ticket" }),
      await connectViewer(other, { ticket }),
      await connectViewer({ ...other, ...newChannel(channel.siteId) }, { ticket }),
    ];
    for (const viewer of rejected) {
      expect((await viewer.closed).code).toBe(CLOSE.unauthenticated);
      expect((await viewer.first("error")).code).toBe("unauthenticated");
    }
  });
});

describe("the gate", () => {
  test.for([
    ["of a channel that doesn't exist reports it", gate(null), CLOSE.notFound],
    ["that requires a login rejects an anonymous viewer", gate("login"), CLOSE.unauthenticated],
    ["that requires an entitlement rejects an anonymous viewer", gate("entitlement"), CLOSE.unauthenticated],
  ] as const)("%s", async ([, loadGate, code]) => {
    expect((await (await connectViewer(newChannel(), {}, loadGate)).closed).code).toBe(code);
  });
});

describe("many viewers at once", () => {
  test("query the channel and the database once, and are spread over relays as these fill up", async () => {
    const channel = newChannel();
    vi.spyOn(Relay.prototype, "capacity", "get").mockReturnValue(10);
    const relays = vi.spyOn(Channel.prototype, "relays");
    const load = vi.fn(open);
    const viewers = await Promise.all(Array.from({ length: 35 }, (_, i) => connectViewer(channel, { deviceId: `device ${i}` }, load)));
    await Promise.all(viewers.map((viewer) => viewer.first("welcome")));
    expect(load).toHaveBeenCalledTimes(1);
    expect(relays).toHaveBeenCalledTimes(1);
    const counts = await Promise.all([0, 1, 2, 3, 4].map((k) => channel.relay(k).count()));
    expect(counts.reduce((sum, count) => sum + count)).toBe(35);
    expect(Math.max(...counts)).toBe(10);
    expect((await channel.stub.publish(newBroadcast())).sockets).toBe(35);
  });
});

describe("server-sent events", () => {
  /** Reads `count` events; comments and retry hints aren't events. */
  async function read(response: Response, count: number): Promise<{ event?: string; id?: string; data: string }[]> {
    const events: { event?: string; id?: string; data: string }[] = [];
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; reader && events.length < count;) {
      const { value, done } = await reader.read();
      if (done) break;
      const blocks = (text + value).split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const fields = new Map(block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
        if (fields.has("data")) events.push({ event: fields.get("event"), id: fields.get("id"), data: fields.get("data") ?? "" });
      }
    }
    await reader?.cancel();
    return events;
  }

  test("contain the same frames, and a reader who reconnects receives exactly what it missed", async () => {
    const channel = newChannel();
    const response = await eventStream(env, connection(channel), open);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const reading = read(response, 2);
    await channel.stub.publish(newBroadcast());
    const [welcome, show] = await reading;
    const epoch = /"epoch":"(\w+)"/.exec(welcome?.data ?? "")?.[1] ?? "";
    expect(welcome?.id).toBe(`${epoch}:0`);
    expect(show?.id).toBe(`${epoch}:1`);
    await channel.stub.publish(newBroadcast());
    const again = await eventStream(env, connection(channel, { resume: parseEventId(show?.id)?.resume ?? null }), open);
    const [resumed] = await read(again, 1);
    const frames: unknown = JSON.parse(resumed?.data ?? "");
    expect(frames).toMatchObject([
      { type: "welcome", recovered: true },
      { type: "overlay.show", seq: 2 },
    ]);
    expect(resumed?.id).toBe(`${epoch}:2`);
  });

  test("report why a reader is rejected, and end", async () => {
    const response = await eventStream(env, connection(newChannel()), gate(null));
    const [event] = await read(response, 9);
    expect(event?.event).toBe("error");
    expect(event?.data).toContain("not_found");
  });

  test("end with the reader, who is no longer counted", async () => {
    const channel = newChannel();
    const response = await eventStream(env, connection(channel), open);
    await read(response, 1);
    await expect.poll(() => channel.relay().count()).toBe(0);
  });
});
