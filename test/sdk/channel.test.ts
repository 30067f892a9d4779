import { describe, expect, test, vi } from "vitest";
import { setUp } from "./channel-client.ts";

const upTo = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index + 1);

describe("a channel's client", () => {
  test("is connecting, then live, and receives each frame", async () => {
    const { time, server, join } = setUp();
    const client = join();
    expect(client.states).toEqual(["connecting"]);
    await time.advance(500);
    for (let n = 0; n < 5; n++) server.publish(`b${n}`);
    await time.advance(500);
    expect(client.states).toEqual(["connecting", "live"]);
    expect(client.seqs).toEqual([1, 2, 3, 4, 5]);
  });

  test("resumes where it was disconnected, and receives everything it missed once", async () => {
    const { time, server, join } = setUp();
    const client = join();
    await time.advance(500);
    server.publish("before");
    await time.advance(200);
    server.kill();
    for (let n = 0; n < 3; n++) server.publish(`missed${n}`);
    await time.advance(5_000);
    server.down = false;
    await time.advance(60_000);
    server.repeat(3);
    await time.advance(200);
    expect(client.states).toContain("resuming");
    expect(client.welcomes.at(-1)).toMatchObject({ recovered: true, upTo: 1 });
    expect(client.seqs).toEqual([1, 2, 3, 4]);
  });

  test("starts over if the log is a new one", async () => {
    const { time, server, join } = setUp();
    const client = join();
    await time.advance(500);
    server.publish("old");
    await time.advance(200);
    server.kill();
    server.epoch = "e2";
    server.log.length = 0;
    server.down = false;
    await time.advance(60_000);
    server.publish("new");
    await time.advance(200);
    expect(client.welcomes.at(-1)?.recovered).toBe(false);
    expect(client.connection.position()).toEqual({ epoch: "e2", seq: 1 });
    expect(client.seqs).toEqual([1, 1]);
  });

  test("resumes from the position of an earlier visit", async () => {
    const { time, server, join } = setUp();
    for (let n = 0; n < 4; n++) server.publish(`b${n}`);
    const client = join({ resume: { epoch: "e1", seq: 2 } });
    await time.advance(500);
    expect(client.seqs).toEqual([3, 4]);
  });

  test("acknowledges what it has, a burst by its last number, at most ten times a second", async () => {
    const { time, server, join } = setUp();
    join();
    await time.advance(500);
    for (let n = 0; n < 100; n++) {
      server.publish(`b${n}`);
      await time.advance(10);
    }
    await time.advance(500);
    const acks = server.received.filter(({ type }) => type === "ack");
    expect(acks.length).toBeLessThanOrEqual(13);
    expect(acks.at(-1)).toEqual({ type: "ack", seq: 100 });
  });

  test("detects a dead connection within one and a half heartbeats, and reconnects", async () => {
    const { time, server, join } = setUp();
    const client = join();
    await time.advance(500);
    server.goSilent();
    server.publish("undelivered");
    await time.advance(45_000);
    expect(client.seqs).toEqual([1]);
  });

  test("checks the connection immediately when the device wakes", async () => {
    const { time, server, network, join } = setUp();
    const client = join();
    await time.advance(500);
    server.goSilent();
    server.publish("undelivered");
    network.wake();
    await time.advance(6_500);
    expect(client.seqs).toEqual([1]);
  });

  test("reconnects after a drain with a random delay, without a gap", async () => {
    const { time, server, join } = setUp(7);
    const clients = Array.from({ length: 50 }, () => join());
    await time.advance(500);
    server.drain(1_000);
    await time.advance(900);
    const first = clients.filter(({ welcomes }) => welcomes.length > 1).length;
    for (let n = 0; n < 20; n++) {
      server.publish(`b${n}`);
      await time.advance(100);
    }
    await time.advance(2_000);
    expect(first).toBe(0);
    for (const { welcomes, seqs } of clients) {
      expect(welcomes.length).toBe(2);
      expect(seqs).toEqual(upTo(0, 20));
    }
  });

  test("abandons a connection that opens but delivers nothing", async () => {
    const { time, server, join } = setUp();
    server.mute = true;
    const client = join();
    await time.advance(15_000);
    server.mute = false;
    await time.advance(30_000);
    expect(client.states.at(-1)).toBe("live");
    expect(server.viewers.size).toBe(1);
  });

  test("requests another ticket if the first request never ends", async () => {
    const { time, server, join } = setUp();
    const tickets = [new Promise<null>(() => {}), Promise.resolve("t2")];
    const client = join({ getTicket: () => tickets.shift() ?? Promise.resolve(null) });
    await time.advance(25_000);
    expect(client.states.at(-1)).toBe("live");
    expect([...server.viewers].map(({ wire }) => wire.url.searchParams.get("ticket"))).toEqual(["t2"]);
  });

  test("continues after listeners that throw, without losing a frame", async () => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const { time, server, join } = setUp();
    const seqs: number[] = [];
    const fail = () => {
      throw new Error("from the host app");
    };
    const { connection } = join({
      onFrame: (frame) => {
        if (frame.type === "overlay.clear") seqs.push(frame.seq);
        fail();
      },
      onState: fail,
      onSent: fail,
    });
    await time.advance(500);
    server.publish("alone");
    await time.advance(500);
    server.cut(() => true);
    // Missed together, so delivered in one message.
    for (let n = 0; n < 3; n++) server.publish(`together${n}`);
    await time.advance(10_000);
    expect(seqs).toEqual([1, 2, 3, 4]);
    expect(connection.position()).toEqual({ epoch: "e1", seq: 4 });
    expect(server.received.at(-1)).toEqual({ type: "ack", seq: 4 });
    expect(error).toHaveBeenCalled();
  });

  test("delivers nothing more after a listener has left, neither of the same message nor of the next", async () => {
    const { time, server, join } = setUp();
    for (let n = 0; n < 3; n++) server.publish(`b${n}`);
    const seqs: number[] = [];
    const client = join({
      resume: { epoch: "e1", seq: 0 },
      onFrame: (frame) => {
        if (frame.type !== "overlay.clear") return;
        seqs.push(frame.seq);
        client.connection.leave();
      },
    });
    await time.advance(60_000);
    expect(seqs).toEqual([1]);
    expect(server.viewers.size).toBe(0);
  });

  test("reconnects with a new ticket and the full state when the viewer changes", async () => {
    const { time, server, join } = setUp();
    const tickets = [null, "viewer's"];
    const client = join({ getTicket: async () => tickets.shift() ?? null });
    await time.advance(500);
    server.publish("before");
    await time.advance(500);
    client.connection.rejoin();
    await time.advance(500);
    expect([...server.viewers].map(({ wire }) => wire.url.searchParams.get("ticket"))).toEqual(["viewer's"]);
    expect(client.welcomes.map(({ recovered }) => recovered)).toEqual([false, false]);
    expect(client.states).toEqual(["connecting", "live", "resuming", "live"]);
  });

  test("reconnects after a rejection when the viewer changes, but never after leaving", async () => {
    const { time, network, server, join } = setUp();
    server.rejectWith = 4403;
    const client = join();
    await time.advance(5_000);
    expect(client.connection.isClosed()).toBe(true);
    server.rejectWith = null;
    network.wake();
    await time.advance(5_000);
    expect(server.viewers.size).toBe(0);
    client.connection.rejoin();
    await time.advance(5_000);
    expect(server.viewers.size).toBe(1);
    expect(client.connection.isClosed()).toBe(false);
    client.connection.leave();
    client.connection.rejoin();
    await time.advance(5_000);
    expect(server.viewers.size).toBe(0);
    expect(client.connection.isClosed()).toBe(true);
  });

  test("stays disconnected after a rejection, and reports the reason", async () => {
    const { time, server, join } = setUp();
    server.rejectWith = 4403;
    const reasons: (string | undefined)[] = [];
    join({ onState: (state, reason) => state === "offline" && reasons.push(reason) });
    await time.advance(120_000);
    expect(reasons).toEqual(["The gate is closed"]);
  });

  test.for([
    [4401, "unauthenticated", "The session has ended"],
    [4403, "forbidden", "This account has no entitlement to the channel"],
  ] as const)(
    "stays disconnected after losing access (%s), reports the reason, and reconnects as another viewer",
    async ([close, code, message]) => {
      const { time, server, join } = setUp();
      const reasons: (string | undefined)[] = [];
      const client = join({ onState: (state, reason) => state === "offline" && reasons.push(reason) });
      await time.advance(5_000);
      server.revokeAccess(close, code, message);
      await time.advance(600_000);
      expect(reasons).toEqual([message]);
      expect([client.connection.isClosed(), server.viewers.size]).toEqual([true, 0]);
      client.connection.rejoin();
      await time.advance(5_000);
      expect([client.connection.isClosed(), server.viewers.size]).toEqual([false, 1]);
    },
  );

  test("stops if the API rejects the ticket request, and reports the reason", async () => {
    const { time, server, join } = setUp();
    const rejected = Object.assign(new Error("The session has ended"), { status: 401 });
    const getTicket = vi.fn(() => Promise.reject(rejected));
    const client = join({ getTicket });
    await time.advance(60_000);
    expect(client.states).toEqual(["connecting", "offline"]);
    expect(client.reasons.at(-1)).toBe("The session has ended");
    expect(client.connection.isClosed()).toBe(true);
    expect(getTicket).toHaveBeenCalledTimes(1);
    expect(server.viewers.size).toBe(0);
  });

  test("requests a ticket before each connection, and retries if the request fails", async () => {
    const { time, server, join } = setUp();
    const tickets = [() => Promise.reject(new Error("down")), async () => "t1", async () => "t2"];
    const requests: string[] = [];
    const client = join({
      getTicket: async () => {
        requests.push("ticket");
        return (await tickets.shift()?.()) ?? null;
      },
    });
    await time.advance(5_000);
    expect([...server.viewers][0]?.wire.url.searchParams.get("ticket")).toBe("t1");
    server.cut(() => true);
    await time.advance(5_000);
    expect([...server.viewers][0]?.wire.url.searchParams.get("ticket")).toBe("t2");
    expect(requests).toHaveLength(3);
    expect(client.states.at(-1)).toBe("live");
  });

  test("stays disconnected after leaving", async () => {
    const { time, server, join } = setUp();
    const client = join();
    await time.advance(500);
    client.connection.leave();
    await time.advance(500);
    expect(server.viewers.size).toBe(0);
    server.publish("after");
    await time.advance(60_000);
    expect(client.seqs).toEqual([]);
  });
});

describe("chaos", () => {
  test.each([11, 23, 42, 77, 101])("with seed %i leaves every client with the log's frames, in order and once", async (seed) => {
    const { time, random, server, network, join } = setUp(seed);
    const clients = Array.from({ length: 40 }, () => join());
    await time.advance(1_000);
    for (let second = 0; second < 60; second++) {
      for (let n = Math.floor(random() * 6); n > 0; n--) server.publish(`s${second}-${n}`);
      const chance = random();
      if (chance < 0.3) server.cut(() => random() < 0.3);
      else if (chance < 0.4) server.kill();
      else if (chance < 0.5) server.goSilent();
      else if (chance < 0.6) server.repeat(5);
      else if (chance < 0.65) server.drain(500);
      else if (chance < 0.7) network.wake();
      // The clock jumps ahead, as after a laptop's sleep.
      else if (chance < 0.75) time.now += 15_000;
      if (server.down && random() < 0.5) server.down = false;
      await time.advance(1_000);
    }
    server.down = false;
    await time.advance(120_000);
    for (const { seqs, welcomes } of clients) {
      expect(welcomes.slice(1).every(({ recovered }) => recovered)).toBe(true);
      expect(seqs).toEqual(upTo(welcomes[0]?.upTo ?? 0, server.head));
    }
  });
});
