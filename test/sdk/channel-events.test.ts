import { afterEach, describe, expect, test, vi } from "vitest";
import { browserEnvironment, type Environment } from "#sdk/channel/index.ts";
import { setUp } from "./channel-client.ts";

/** Sockets of a network that swallows what belongs to them: they never open, and never fail. */
function blackHole(): ReturnType<Environment["openSocket"]> {
  return { readyState: 0, send: () => {}, close: () => {}, addEventListener: () => {} };
}

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

describe("a channel's client", () => {
  test("reads Server-Sent Events where no socket gets through", async () => {
    const { time, server, network, join } = setUp();
    network.allowsSockets = false;
    const client = join();
    await time.pass(10_000);
    server.publish("over events");
    await time.pass(300);
    expect([...server.viewers].map(({ wire }) => wire.kind)).toEqual(["events"]);
    expect(client.seqs).toEqual([1]);
  });

  test("reads Server-Sent Events where sockets neither open nor fail", async () => {
    const { time, server, network, join } = setUp();
    const client = join({ environment: { ...network.environment(), openSocket: blackHole } });
    await time.pass(15_000);
    server.publish("over events");
    await time.pass(300);
    expect([...server.viewers].map(({ wire }) => wire.kind)).toEqual(["events"]);
    expect(client.seqs).toEqual([1]);
  });

  test("reads Server-Sent Events where sockets open and nothing comes over them", async () => {
    const { time, server, network, join } = setUp();
    const connect = server.connect.bind(server);
    vi.spyOn(server, "connect").mockImplementation((wire) =>
      wire.kind === "socket" ? { receive: () => {}, gone: () => {} } : connect(wire),
    );
    const client = join();
    await time.pass(60_000);
    server.publish("over events");
    network.wake();
    await time.pass(120_000);
    expect([...server.viewers].map(({ wire }) => wire.kind)).toEqual(["events"]);
    expect(client.seqs).toEqual([1]);
  });

  test("comes back by socket from a server that was away", async () => {
    const { time, server, join } = setUp();
    const clients = Array.from({ length: 50 }, () => join());
    await time.pass(500);
    server.kill();
    await time.pass(10_000);
    server.down = false;
    await time.pass(150_000);
    expect([...server.viewers].map(({ wire }) => wire.kind)).toEqual(clients.map(() => "socket"));
    expect(new Set(clients.map(({ states }) => states.at(-1)))).toEqual(new Set(["live"]));
  });

  test("stays with Server-Sent Events in a network that lets sockets through no more", async () => {
    const { time, server, network, join } = setUp();
    const client = join();
    await time.pass(500);
    network.allowsSockets = false;
    server.cut(() => true);
    await time.pass(200_000);
    const welcomes = client.welcomes.length;
    await time.pass(600_000);
    expect([...server.viewers].map(({ wire }) => wire.kind)).toEqual(["events"]);
    expect(client.welcomes).toHaveLength(welcomes);
  });

  test("does not count a socket that fails while there is no network", async () => {
    const { time, server, network, join } = setUp();
    let online = true;
    join({ environment: { ...network.environment(), online: () => online } });
    await time.pass(500);
    server.kill();
    online = false;
    await time.pass(30_000);
    server.down = false;
    online = true;
    await time.pass(30_000);
    expect([...server.viewers].map(({ wire }) => wire.kind)).toEqual(["socket"]);
  });

  test("reads Server-Sent Events again at once after a cut, and tries a socket again once the network has had time to change", async () => {
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
    await time.pass(20_000);
    expect(opened).toEqual(["socket", "socket", "events"]);
    for (let cut = 0; cut < 2; cut++) {
      server.cut(() => true);
      await time.pass(5_000);
    }
    expect(opened.slice(3)).toEqual(["events", "events"]);
    await time.pass(60_000);
    network.allowsSockets = true;
    server.cut(() => true);
    await time.pass(5_000);
    expect([...server.viewers].map(({ wire }) => wire.kind)).toEqual(["socket"]);
  });

  test("tries a socket again also where the device's clock was set back", async () => {
    const { time, server, network, join } = setUp();
    network.allowsSockets = false;
    let ahead = 0;
    join({ environment: { ...network.environment(), now: () => time.now + ahead } });
    await time.pass(20_000);
    network.allowsSockets = true;
    ahead = -3_600_000;
    server.cut(() => true);
    await time.pass(5_000);
    expect([...server.viewers].map(({ wire }) => wire.kind)).toEqual(["socket"]);
  });

  test("keeps its Server-Sent Events when the page is looked at again, and finds out when they are dead", async () => {
    const { time, server, network, join } = setUp();
    network.allowsSockets = false;
    const client = join();
    await time.pass(10_000);
    for (let look = 0; look < 5; look++) {
      network.wake();
      await time.pass(12_000);
    }
    expect(client.welcomes).toHaveLength(1);
    server.silence();
    server.publish("unheard");
    network.wake();
    await time.pass(50_000);
    expect(client.seqs).toEqual([1]);
  });
});
