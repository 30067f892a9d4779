import { expect, test } from "vitest";
import { surviveChaos } from "./channel-chaos.ts";

test("clients whose sockets are cut, and whose server is killed, each hold the channel's log, in order, once", async () => {
  const { acknowledged, connections, lost, wrong } = await surviveChaos({ clients: 20, seconds: 6, kills: 1 });
  expect(acknowledged).toBeGreaterThan(5);
  expect(connections).toBeGreaterThan(40);
  expect({ lost, wrong }).toEqual({ lost: [], wrong: [] });
}, 180_000);
