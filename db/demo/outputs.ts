import { sha256 } from "#worker/lib/crypto/crypto.ts";
import type { outputs } from "#db/schema/streams/outputs.ts";
import { CHANNEL_1, SITE_A, stamps } from "./match-day.ts";

/** Two links to the output page of the first channel; the token of the first is well known, like the demo's key. */
export async function demoOutputs(): Promise<(typeof outputs.$inferInsert)[]> {
  const row = { ...stamps, siteId: SITE_A, channelId: CHANNEL_1, expires: null };
  return [
    { ...row, id: "5eed0000000000000000a201", name: "OBS in the studio", hash: await sha256("tifo_out_demo") },
    { ...row, id: "5eed0000000000000000a202", name: "vMix in the truck", hash: await sha256("tifo_out_demo_truck") },
  ];
}
