import { siteDb } from "#db/databases.ts";
import { type Deed, pay, selectPaying } from "./paying.ts";

/** Pays the authors of messages that others have reacted to. Idempotent. */
export async function payForLikes(env: Env, siteId: string, channelId: string, deeds: Deed[]): Promise<void> {
  const boards = await selectPaying(siteDb(env, siteId), siteId, "message.liked");
  await pay(env, siteId, boards, "message.liked", deeds, [channelId]);
}
