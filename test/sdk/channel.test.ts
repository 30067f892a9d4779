import { afterEach, describe, expect, test, vi } from "vitest";
import { setUp } from "./channel-client.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const upTo = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index + 1);

describe("a channel's client", () => {
  test("is connecting, then live, and hears each frame", async () => {
    const { time, server, join } = setUp();
    const client = join();
    expect(client.states).toEqual(["connecting"]);
    await time.pass(500);
    for (let n = 0; n < 5; n++) server.publish(`b${n}`);
    await time.pass(500);
    expect(client.states).toEqual(["connecting", "live"]);
    expect(client.seqs).toEqual([1, 2, 3, 4, 5]);
  });

  test("resumes where it was cut, with all that came meanwhile, once", async () => {
    const { time, server, join } = setUp();
    const client = join();
    await time.pass(500);
    server.publish("before");
    await time.pass(200);
    server.kill();
    for (let n = 0; n < 3; n++) server.publish(`missed${n}`);
    await time.pass(5_000);
    server.down = false;
    await time.pass(60_000);
    server.repeat(3);
    await time.pass(200);
    expect(client.states).toContain("resuming");
    expect(client.welcomes.at(-1)).toMatchObject({ recovered: true, upTo: 1 });
    expect(client.seqs).toEqual([1, 2, 3, 4]);
  });

  test("begins anew where the log is another", async () => {
    const { time, server, join } = setUp();
    const client = join();
    await time.pass(500);
    server.publish("old");
    await time.pass(200);
    server.kill();
    server.epoch = "e2";
    server.log.length = 0;
    server.down = false;
    await time.pass(60_000);
    server.publish("new");
    await time.pass(200);
    expect(client.welcomes.at(-1)?.recovered).toBe(false);
    expect(client.connection.position()).toEqual({ epoch: "e2", seq: 1 });
    expect(client.seqs).toEqual([1, 1]);
  });

  test("goes on from the position of an earlier visit", async () => {
    const { time, server, join } = setUp();
    for (let n = 0; n < 4; n++) server.publish(`b${n}`);
    const client = join({ resume: { epoch: "e1", seq: 2 } });
    await time.pass(500);
    expect(client.seqs).toEqual([3, 4]);
  });

  test("acknowledges what it holds, a burst by its last number, at most ten times a second", async () => {
    const { time, server, join } = setUp();
    join();
    await time.pass(500);
    for (let n = 0; n < 100; n++) {
      server.publish(`b${n}`);
      await time.pass(10);
    }
    await time.pass(500);
    const acks = server.heard.filter(({ type }) => type === "ack");
    expect(acks.length).toBeLessThanOrEqual(13);
    expect(acks.at(-1)).toEqual({ type: "ack", seq: 100 });
  });

  test("finds a dead connection within a heartbeat and a half, and comes back", async () => {
    const { time, server, join } = setUp();
    const client = join();
    await time.pass(500);
    server.silence();
    server.publish("unheard");
    await time.pass(45_000);
    expect(client.seqs).toEqual([1]);
  });

  test("looks at once when the device wakes", async () => {
    const { time, server, network, join } = setUp();
    const client = join();
    await time.pass(500);
    server.silence();
    server.publish("unheard");
    network.wake();
    await time.pass(6_500);
    expect(client.seqs).toEqual([1]);
  });

  test("follows drain at a moment of its own, without a gap", async () => {
    const { time, server, join } = setUp(7);
    const clients = Array.from({ length: 50 }, () => join());
    await time.pass(500);
    server.drain(1_000);
    await time.pass(900);
    const first = clients.filter(({ welcomes }) => welcomes.length > 1).length;
    for (let n = 0; n < 20; n++) {
      server.publish(`b${n}`);
      await time.pass(100);
    }
    await time.pass(2_000);
    expect(first).toBe(0);
    for (const { welcomes, seqs } of clients) {
      expect(welcomes.length).toBe(2);
      expect(seqs).toEqual(upTo(0, 20));
    }
  });

  test("gives up a connection that opens and says nothing", async () => {
    const { time, server, join } = setUp();
    server.mute = true;
    const client = join();
    await time.pass(15_000);
    server.mute = false;
    await time.pass(30_000);
    expect(client.states.at(-1)).toBe("live");
    expect(server.viewers.size).toBe(1);
  });

  test("asks for another ticket where the request for one never ends", async () => {
    const { time, server, join } = setUp();
    const tickets = [new Promise<null>(() => {}), Promise.resolve("t2")];
    const client = join({ getTicket: () => tickets.shift() ?? Promise.resolve(null) });
    await time.pass(25_000);
    expect(client.states.at(-1)).toBe("live");
    expect([...server.viewers].map(({ wire }) => wire.url.searchParams.get("ticket"))).toEqual(["t2"]);
  });

  test("goes on after listeners that throw, and loses no frame by them", async () => {
    const told = vi.spyOn(console, "error").mockReturnValue();
    const { time, server, join } = setUp();
    const seqs: number[] = [];
    const fail = () => {
      throw new Error("the host's");
    };
    const { connection } = join({
      onFrame: (frame) => {
        if (frame.type === "overlay.clear") seqs.push(frame.seq);
        fail();
      },
      onState: fail,
      onSent: fail,
    });
    await time.pass(500);
    server.publish("alone");
    await time.pass(500);
    server.cut(() => true);
    // Missed together, so told in one message.
    for (let n = 0; n < 3; n++) server.publish(`together${n}`);
    await time.pass(10_000);
    expect(seqs).toEqual([1, 2, 3, 4]);
    expect(connection.position()).toEqual({ epoch: "e1", seq: 4 });
    expect(server.heard.at(-1)).toEqual({ type: "ack", seq: 4 });
    expect(told).toHaveBeenCalled();
  });

  test("hears nothing more once a listener has left, not of the same message and not of the next", async () => {
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
    await time.pass(60_000);
    expect(seqs).toEqual([1]);
    expect(server.viewers.size).toBe(0);
  });

  test("comes back with a new ticket and the whole state when the viewer is another", async () => {
    const { time, server, join } = setUp();
    const tickets = [null, "of the viewer"];
    const client = join({ getTicket: async () => tickets.shift() ?? null });
    await time.pass(500);
    server.publish("before");
    await time.pass(500);
    client.connection.rejoin();
    await time.pass(500);
    expect([...server.viewers].map(({ wire }) => wire.url.searchParams.get("ticket"))).toEqual(["of the viewer"]);
    expect(client.welcomes.map(({ recovered }) => recovered)).toEqual([false, false]);
    expect(client.states).toEqual(["connecting", "live", "resuming", "live"]);
  });

  test("comes back after a refusal when the viewer is another, and never once it was left", async () => {
    const { time, network, server, join } = setUp();
    server.refusal = 4403;
    const client = join();
    await time.pass(5_000);
    expect(client.connection.isClosed()).toBe(true);
    server.refusal = null;
    network.wake();
    await time.pass(5_000);
    expect(server.viewers.size).toBe(0);
    client.connection.rejoin();
    await time.pass(5_000);
    expect(server.viewers.size).toBe(1);
    expect(client.connection.isClosed()).toBe(false);
    client.connection.leave();
    client.connection.rejoin();
    await time.pass(5_000);
    expect(server.viewers.size).toBe(0);
    expect(client.connection.isClosed()).toBe(true);
  });

  test("stays away once it is refused, and says why", async () => {
    const { time, server, join } = setUp();
    server.refusal = 4403;
    const reasons: (string | undefined)[] = [];
    join({ onState: (state, reason) => state === "offline" && reasons.push(reason) });
    await time.pass(120_000);
    expect(reasons).toEqual(["The gate is closed"]);
  });

  test.for([
    [4401, "unauthenticated", "The session has ended"],
    [4403, "forbidden", "This account has no entitlement to the channel"],
  ] as const)(
    "stays away once its right to the channel has ended (%s), says why, and comes back as another viewer",
    async ([close, code, message]) => {
      const { time, server, join } = setUp();
      const reasons: (string | undefined)[] = [];
      const client = join({ onState: (state, reason) => state === "offline" && reasons.push(reason) });
      await time.pass(5_000);
      server.expel(close, code, message);
      await time.pass(600_000);
      expect(reasons).toEqual([message]);
      expect([client.connection.isClosed(), server.viewers.size]).toEqual([true, 0]);
      client.connection.rejoin();
      await time.pass(5_000);
      expect([client.connection.isClosed(), server.viewers.size]).toEqual([false, 1]);
    },
  );

  test("stops where the API rejects the request for a ticket, and says why", async () => {
    const { time, server, join } = setUp();
    const rejected = Object.assign(new Error("The session has ended"), { status: 401 });
    const getTicket = vi.fn(() => Promise.reject(rejected));
    const client = join({ getTicket });
    await time.pass(60_000);
    expect(client.states).toEqual(["connecting", "offline"]);
    expect(client.reasons.at(-1)).toBe("The session has ended");
    expect(client.connection.isClosed()).toBe(true);
    expect(getTicket).toHaveBeenCalledTimes(1);
    expect(server.viewers.size).toBe(0);
  });

  test("asks for a ticket before each connection, and goes on trying where none comes", async () => {
    const { time, server, join } = setUp();
    const tickets = [() => Promise.reject(new Error("down")), async () => "t1", async () => "t2"];
    const asked: string[] = [];
    const client = join({
      getTicket: async () => {
        asked.push("ticket");
        return (await tickets.shift()?.()) ?? null;
      },
    });
    await time.pass(5_000);
    expect([...server.viewers][0]?.wire.url.searchParams.get("ticket")).toBe("t1");
    server.cut(() => true);
    await time.pass(5_000);
    expect([...server.viewers][0]?.wire.url.searchParams.get("ticket")).toBe("t2");
    expect(asked).toHaveLength(3);
    expect(client.states.at(-1)).toBe("live");
  });

  test("leaves for good", async () => {
    const { time, server, join } = setUp();
    const client = join();
    await time.pass(500);
    client.connection.leave();
    await time.pass(500);
    expect(server.viewers.size).toBe(0);
    server.publish("after");
    await time.pass(60_000);
    expect(client.seqs).toEqual([]);
  });
});

describe("chaos", () => {
  test.each([11, 23, 42, 77, 101])("seed %i: every client's frames are the log's, in order, once", async (seed) => {
    const { time, random, server, network, join } = setUp(seed);
    const clients = Array.from({ length: 40 }, () => join());
    await time.pass(1_000);
    for (let second = 0; second < 60; second++) {
      for (let n = Math.floor(random() * 6); n > 0; n--) server.publish(`s${second}-${n}`);
      const what = random();
      if (what < 0.3) server.cut(() => random() < 0.3);
      else if (what < 0.4) server.kill();
      else if (what < 0.5) server.silence();
      else if (what < 0.6) server.repeat(5);
      else if (what < 0.65) server.drain(500);
      else if (what < 0.7) network.wake();
      // A clock that jumps ahead, as after a laptop's sleep.
      else if (what < 0.75) time.now += 15_000;
      if (server.down && random() < 0.5) server.down = false;
      await time.pass(1_000);
    }
    server.down = false;
    await time.pass(120_000);
    for (const { seqs, welcomes } of clients) {
      expect(welcomes.slice(1).every(({ recovered }) => recovered)).toBe(true);
      expect(seqs).toEqual(upTo(welcomes[0]?.upTo ?? 0, server.head));
    }
  });
});
