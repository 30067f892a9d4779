import { describe, expect, test, vi } from "vitest";
import { browserEnvironment, type Environment } from "#sdk/channel/index.ts";
import type { Network } from "./virtual-network.ts";
import { setUp } from "./channel-client.ts";

/** A page that can be hidden and shown. */
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

describe("a hidden page", () => {
  test("notifies its listener each time it is hidden, until the listener unsubscribes", () => {
    const document = Object.assign(new EventTarget(), { visibilityState: "visible" });
    vi.stubGlobal("document", document);
    const setVisibility = (visibilityState: string) => {
      document.visibilityState = visibilityState;
      document.dispatchEvent(new Event("visibilitychange"));
    };
    const calls: boolean[] = [];
    const end = browserEnvironment.onHide(() => calls.push(browserEnvironment.hidden()));
    for (const state of ["hidden", "visible", "hidden"]) setVisibility(state);
    end();
    for (const state of ["visible", "hidden"]) setVisibility(state);
    expect(calls).toEqual([true, true]);
  });

  test("disconnects if no video plays, and misses nothing once it is shown again", async () => {
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
    await time.advance(500);
    server.publish("before");
    await time.advance(500);
    hide();
    await time.advance(40_000);
    expect(server.viewers.size).toBe(0);
    for (let n = 0; n < 3; n++) server.publish(`hidden${n}`);
    // The network comes back, but the page is still hidden.
    network.wake();
    await time.advance(300_000);
    expect(server.viewers.size).toBe(0);
    show();
    await time.advance(1_000);
    expect(states).toEqual(["connecting", "live", "offline", "resuming", "live"]);
    expect(reasons[2]).toBe("The page is hidden.");
    expect(client.welcomes.map(({ recovered }) => recovered)).toEqual([false, true]);
    expect(client.seqs).toEqual([1, 2, 3, 4]);
  });

  test("stays connected while it is hidden briefly, and as long as a video plays", async () => {
    const { time, server, network, join } = setUp();
    const { environment, hide, show } = page(network);
    let playing = false;
    const client = join({ environment, playing: () => playing });
    await time.advance(500);
    hide();
    await time.advance(20_000);
    show();
    await time.advance(60_000);
    playing = true;
    hide();
    await time.advance(120_000);
    expect(client.states).toEqual(["connecting", "live"]);
    playing = false;
    await time.advance(40_000);
    expect(server.viewers.size).toBe(0);
    server.publish("while it was away");
    playing = true;
    await time.advance(40_000);
    expect(client.states.at(-1)).toBe("live");
    expect(client.seqs).toEqual([1]);
  });

  test("that was never visible also disconnects, and after leaving it stays disconnected", async () => {
    const { time, server, network, join } = setUp();
    const { environment, hide, show } = page(network);
    hide();
    const client = join({ environment });
    await time.advance(10_000);
    expect(client.states).toEqual(["connecting", "live"]);
    await time.advance(40_000);
    expect(client.states.at(-1)).toBe("offline");
    client.connection.leave();
    show();
    await time.advance(60_000);
    expect(server.viewers.size).toBe(0);
  });
});
