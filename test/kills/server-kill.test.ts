import { rm } from "node:fs/promises";
import { z } from "@hono/zod-openapi";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Server } from "#scripts/lib/server.ts";
import { startServer, temporaryState } from "#test/browser/server.ts";
import { Viewer } from "#test/browser/viewer.ts";

const SITE = "5eed00000000000000000001";
const CHANNEL = "5eed0000000000000000c001";
const OVERLAY = "5eed0000000000000000a001";
const LANES = 4;
const BROADCASTS_PER_LANE = 25;
const KILL_AFTER = 40;

const Broadcasted = z.object({ broadcasts: z.tuple([z.object({ broadcastId: z.string(), seq: z.number() })]) });

let state: string;

beforeAll(async () => {
  state = await temporaryState();
});

afterAll(() => rm(state, { recursive: true, force: true, maxRetries: 5 }));

async function broadcast(server: Server, minute: number): Promise<{ broadcastId: string; seq: number }> {
  const response = await fetch(`${server.url}/overlay/v1/broadcast/${OVERLAY}`, {
    method: "POST",
    headers: { "Tifo-Client-Id": SITE, "Tifo-Developer-Key": "tifo_dev_demo", "Content-Type": "application/json" },
    body: JSON.stringify({ channelId: CHANNEL, duration: 600, variables: { scorer: "Ada Moreno", minute } }),
  });
  return Broadcasted.parse(await response.json()).broadcasts[0];
}

test("a server that is killed during 100 broadcasts loses none that it acknowledged", async () => {
  const viewer = new Viewer();
  const first = await startServer({ state });
  await viewer.connect(first);
  const acknowledged: { broadcastId: string; seq: number }[] = [];
  let killed: Promise<void> | undefined;
  const lane = async (): Promise<void> => {
    for (let minute = 1; minute <= BROADCASTS_PER_LANE; minute++) {
      acknowledged.push(await broadcast(first, minute));
      if (acknowledged.length === KILL_AFTER) killed = first.kill();
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: LANES }, lane));
  await killed;
  viewer.close();
  expect(outcomes.some((outcome) => outcome.status === "rejected")).toBe(true);
  expect(acknowledged.length).toBeGreaterThanOrEqual(KILL_AFTER);

  const second = await startServer({ state });
  try {
    await viewer.connect(second);
    expect(viewer.recovered).toBe(true);
    const { seq } = await broadcast(second, 90);
    await viewer.waitForSeq(seq);
  } finally {
    viewer.close();
    await second.stop();
  }

  const seqs = viewer.shown.map((frame) => frame.seq);
  expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, index) => index + 1));
  for (const { broadcastId, seq } of acknowledged)
    expect(viewer.shown.filter((frame) => frame.broadcastId === broadcastId)).toMatchObject([{ seq, broadcastId }]);
});
