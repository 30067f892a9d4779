import { expect, test } from "vitest";
import { surviveChaos } from "./channel-chaos.ts";

test.concurrent.each([
  { where: "node", clients: 20, seconds: 6, kills: 1, evictions: 1 },
  { where: "chromium", clients: 20, seconds: 8, kills: 1, evictions: 0 },
] as const)(
  "clients in $where have the channel's log in order and once after dropped connections, clock jumps, evictions and a kill",
  async (options) => {
    const { acknowledged, connections, lost, wrong } = await surviveChaos(options);
    expect(acknowledged).toBeGreaterThan(5);
    expect(connections).toBeGreaterThan(40);
    expect({ lost, wrong }).toEqual({ lost: [], wrong: [] });
  },
  180_000,
);
