import { z } from "@hono/zod-openapi";
import type { TestSite } from "./harness.ts";

const Created = z.looseObject({ _id: z.string() });

/** A quest that the site's admin has completed but not claimed. */
async function completedQuest(site: TestSite): Promise<string> {
  const action = { arrayId: "a1B2c3D4e", body: "Look at it", kind: "quest:view" };
  const text = { title: "Early bird", description: "", rewardDescription: "A scarf", claimedMessage: "See you there" };
  const quest = { siteId: site.id, ...text, rewardType: "prize-service-specific", actions: [action] };
  const { _id: id } = Created.parse((await site.call("createQuest", { body: quest })).body);
  await site.call("reportQuestAction", { params: { id, arrayId: action.arrayId }, body: {} });
  return id;
}

async function claim(site: TestSite): Promise<string> {
  return Created.parse((await site.call("claimQuest", { params: { id: await completedQuest(site) } })).body)._id;
}

/** Creates the resource of these paths, which takes more than one call. */
export const QUEST_RESOURCES: Record<string, (site: TestSite) => Promise<string>> = {
  "/quest/v2/{id}/claim": completedQuest,
  "/claimstatus/v3/{id}": claim,
};

/** Creates an entry of these lists. */
export const QUEST_LISTS: Record<string, (site: TestSite) => Promise<string>> = { "/claimstatus/v3": claim };
