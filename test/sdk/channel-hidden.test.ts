import { afterEach, describe, expect, test, vi } from "vitest";
import { browserEnvironment, type Environment } from "#sdk/channel/index.ts";
import type { Network } from "./world.ts";
import { setUp } from "./channel-client.ts";

/** A page that can be hidden and looked at again. */
function page(network: Network): { environment: Partial<Environment>; hide: () => void; show: () => void } {
  let hidden = false;
  let hide = () => {};
  const environment = {
    ...network.environment(),
    hidden: () => hidden,
    onHide: (listener: () => void) => {
      hide = listener;
      return () => {};
    },
  };
  return {
    environment,
    hide() {
      hidden = true;
      hide();
    },
    show() {
      hidden = false;
      network.wake();
    },
  };
}

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

describe("a hidden page", () => {
  test("says so once each time, until nobody asks any more", () => {
    const document = Object.assign(new EventTarget(), { visibilityState: "visible" });
    vi.stubGlobal("document", document);
    const turn = (visibilityState: string) => {
      document.visibilityState = visibilityState;
      document.dispatchEvent(new Event("visibilitychange"));
    };
    const told: boolean[] = [];
    const end = browserEnvironment.onHide(() => told.push(browserEnvironment.hidden()));
    for (const state of ["hidden", "visible", "hidden"]) turn(state);
    end();
    for (const state of ["visible", "hidden"]) turn(state);
    expect(told).toEqual([true, true]);
  });

  test("hangs up where no picture plays, and misses nothing when it is looked at again", async () => {
    const { time, server, network, join } = setUp();
    const { environment, hide, show } = page(network);
    const reasons: (string | undefined)[] = [];
    const states: string[] = [];
    const client = join({
      environment,
      onState: (state, reason) => {
        states.push(state);
        reasons.push(reason);
      },
    });
    await time.pass(500);
    server.publish("before");
    await time.pass(500);
    hide();
    await time.pass(40_000);
    expect(server.viewers.size).toBe(0);
    for (let n = 0; n < 3; n++) server.publish(`hidden${n}`);
    // The network comes back, but nobody looks.
    network.wake();
    await time.pass(300_000);
    expect(server.viewers.size).toBe(0);
    show();
    await time.pass(1_000);
    expect(states).toEqual(["connecting", "live", "offline", "resuming", "live"]);
    expect(reasons[2]).toBe("The page is hidden.");
    expect(client.welcomes.map(({ recovered }) => recovered)).toEqual([false, true]);
    expect(client.seqs).toEqual([1, 2, 3, 4]);
  });

  test("stays connected through a short look elsewhere, and for as long as a picture plays", async () => {
    const { time, server, network, join } = setUp();
    const { environment, hide, show } = page(network);
    let playing = false;
    const client = join({ environment, playing: () => playing });
    await time.pass(500);
    hide();
    await time.pass(20_000);
    show();
    await time.pass(60_000);
    playing = true;
    hide();
    await time.pass(120_000);
    expect(client.states).toEqual(["connecting", "live"]);
    playing = false;
    await time.pass(40_000);
    expect(server.viewers.size).toBe(0);
    server.publish("while it was away");
    playing = true;
    await time.pass(40_000);
    expect(client.states.at(-1)).toBe("live");
    expect(client.seqs).toEqual([1]);
  });

  test("that was never looked at hangs up too, and one that is left stays away", async () => {
    const { time, server, network, join } = setUp();
    const { environment, hide, show } = page(network);
    hide();
    const client = join({ environment });
    await time.pass(10_000);
    expect(client.states).toEqual(["connecting", "live"]);
    await time.pass(40_000);
    expect(client.states.at(-1)).toBe("offline");
    client.connection.leave();
    show();
    await time.pass(60_000);
    expect(server.viewers.size).toBe(0);
  });
});
