import { siteDb } from "#db/databases.ts";
import { batchAll } from "#worker/services/core/context.ts";
import { addGrowth, hourOf } from "./rollup.ts";

/** Adds the messages that a room has had since the last call; `total` is all it ever had. Safe to repeat. */
export async function countMessages(
  env: Env,
  { siteId, channelId }: { siteId: string; channelId: string },
  total: number,
  now: number,
): Promise<void> {
  const db = siteDb(env, siteId);
  const source = `chat:${siteId}:${channelId}`;
  await batchAll(db, addGrowth(db, siteId, source, { position: total, channelId, hour: hourOf(now), metric: "messages" }, now));
}
