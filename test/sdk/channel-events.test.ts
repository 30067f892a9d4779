import { describe, expect, test, vi } from "vitest";
import { browserEnvironment, type Environment } from "#sdk/channel/index.ts";
import { setUp } from "./channel-client.ts";

/** Sockets on a network that drops their packets: they never open and never fail. */
function blackHole(): ReturnType<Environment["openSocket"]> {
  return { readyState: 0, send: () => {}, close: () => {}, addEventListener: () => {} };
}

describe("a channel's client", () => {
  test("falls back to Server-Sent Events if sockets are blocked", async () => {
    const { time, server, network, join } = setUp();
    network.allowsSockets = false;
    const client = join();
    await time.advance(10_000);
    server.publish("over events");
    await time.advance(300);
    expect([...server.viewers].map(({ wire }) => wire.kind)).toEqual(["events"]);
    expect(client.seqs).toEqual([1]);
  });

  test("falls back to Server-Sent Events if sockets neither open nor fail", async () => {
    const { time, server, network, join } = setUp();
    const client = join({ environment: { ...network.environment(), openSocket: blackHole } });
    await time.advance(15_000);
    server.publish("over events");
    await time.advance(300);
    expect([...server.viewers].map(({ wire }) => wire.kind)).toEqual(["events"]);
    expect(client.seqs).toEqual([1]);
  });

  test("falls back to Server-Sent Events if sockets open but deliver nothing", async () => {
    const { time, server, network, join } = setUp();
    const connect = server.connect.bind(server);
    vi.spyOn(server, "connect").mockImplementation((wire) =>
      wire.kind === "socket" ? { receive: () => {}, gone: () => {} } : connect(wire),
    );
    const client = join();
    await time.advance(60_000);
    server.publish("over events");
    network.wake();
    await time.advance(120_000);
    expect([...server.viewers].map(({ wire }) => wire.kind)).toEqual(["events"]);
    expect(client.seqs).toEqual([1]);
  });

  test("reconnects by socket after a server outage", async () => {
    const { time, server, join } = setUp();
    const clients = Array.from({ length: 50 }, () => join());
    await time.advance(500);
    server.kill();
    await time.advance(10_000);
    server.down = false;
    await time.advance(150_000);
    expect([...server.viewers].map(({ wire }) => wire.kind)).toEqual(clients.map(() => "socket"));
    expect(new Set(clients.map(({ states }) => states.at(-1)))).toEqual(new Set(["live"]));
  });

  test("keeps using Server-Sent Events in a network that has started to block sockets", async () => {
    const { time, server, network, join } = setUp();
    const client = join();
    await time.advance(500);
    network.allowsSockets = false;
    server.cut(() => true);
    await time.advance(200_000);
    const welcomes = client.welcomes.length;
    await time.advance(600_000);
    expect([...server.viewers].map(({ wire }) => wire.kind)).toEqual(["events"]);
    expect(client.welcomes).toHaveLength(welcomes);
  });

  test("doesn't count a socket failure while the device is offline", async () => {
    const { time, server, network, join } = setUp();
    let online = true;
    join({ environment: { ...network.environment(), online: () => online } });
    await time.advance(500);
    server.kill();
    online = false;
    await time.advance(30_000);
    server.down = false;
    online = true;
    await time.advance(30_000);
    expect([...server.viewers].map(({ wire }) => wire.kind)).toEqual(["socket"]);
  });

  test("reopens Server-Sent Events immediately after a disconnect, and tries a socket again after a minute", async () => {
    const { time, server, network, join } = setUp();
    network.allowsSockets = false;
    const opened: string[] = [];
    const { openSocket, openEvents } = { ...browserEnvironment, ...network.environment() };
    const environment: Partial<Environment> = {
      ...network.environment(),
      openSocket: (url) => {
        opened.push("socket");
        return openSocket(url);
      },
      openEvents: (url) => {
        opened.push("events");
        return openEvents(url);
      },
    };
    join({ environment });
    await time.advance(20_000);
    expect(opened).toEqual(["socket", "socket", "events"]);
    for (let cut = 0; cut < 2; cut++) {
      server.cut(() => true);
      await time.advance(5_000);
    }
    expect(opened.slice(3)).toEqual(["events", "events"]);
    await time.advance(60_000);
    network.allowsSockets = true;
    server.cut(() => true);
    await time.advance(5_000);
    expect([...server.viewers].map(({ wire }) => wire.kind)).toEqual(["socket"]);
  });

  test("tries a socket again even if the device's clock was set back", async () => {
    const { time, server, network, join } = setUp();
    network.allowsSockets = false;
    let offset = 0;
    join({ environment: { ...network.environment(), now: () => time.now + offset } });
    await time.advance(20_000);
    network.allowsSockets = true;
    offset = -3_600_000;
    server.cut(() => true);
    await time.advance(5_000);
    expect([...server.viewers].map(({ wire }) => wire.kind)).toEqual(["socket"]);
  });

  test("keeps its Server-Sent Events when the page becomes visible again, and detects when they are dead", async () => {
    const { time, server, network, join } = setUp();
    network.allowsSockets = false;
    const client = join();
    await time.advance(10_000);
    for (let times = 0; times < 5; times++) {
      network.wake();
      await time.advance(12_000);
    }
    expect(client.welcomes).toHaveLength(1);
    server.goSilent();
    server.publish("undelivered");
    network.wake();
    await time.advance(50_000);
    expect(client.seqs).toEqual([1]);
  });

  test("joins and leaves the chat on another stream, without a gap, a repetition or a change of state", async () => {
    const { time, server, network, join } = setUp();
    network.allowsSockets = false;
    const client = join();
    await time.advance(10_000);
    client.states.length = 0;
    for (const type of ["chat.join", "chat.leave", "chat.join"] as const) {
      client.connection.send({ type });
      for (let frames = 0; frames < 40; frames++) {
        server.publish("during the change");
        await time.advance(10);
      }
    }
    await time.advance(1_000);
    expect(new Set(client.states)).toEqual(new Set(["live"]));
    expect(client.seqs).toEqual(Array.from({ length: 120 }, (_, index) => index + 1));
    expect([...server.viewers].map(({ wire }) => wire.url.searchParams.get("chat"))).toEqual(["true"]);
  });

  test("opens the chat's stream instead of the current one if that can't be opened beside it", async () => {
    const { time, server, network, join } = setUp();
    network.allowsSockets = false;
    const client = join();
    await time.advance(10_000);
    const connect = vi.spyOn(server, "connect").mockReturnValueOnce(null);
    client.connection.send({ type: "chat.join" });
    server.publish("before the next stream");
    await time.advance(30_000);
    expect(connect.mock.calls.length).toBeGreaterThan(1);
    expect([...server.viewers].map(({ wire }) => wire.url.searchParams.get("chat"))).toEqual(["true"]);
    expect(client.seqs).toEqual([1]);
  });

  test("leaves the chat's stream that is still on its way with the channel", async () => {
    const { time, server, network, join } = setUp();
    network.allowsSockets = false;
    const client = join();
    await time.advance(10_000);
    client.connection.send({ type: "chat.join" });
    await time.advance(1);
    client.connection.leave();
    await time.advance(30_000);
    expect(server.viewers.size).toBe(0);
  });
});
