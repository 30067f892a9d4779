import { siteDb } from "#db/databases.ts";
import { dataOf, type Effects } from "#worker/services/event-catalogue/effect.ts";
import { schedulerOf } from "#worker/durable-objects/stubs.ts";
import { earliestDue } from "./due.ts";
import { notifyOperators } from "./operators.ts";

/** Tells operators, and makes up for a call to the scheduler that was lost. */
async function follow(env: Env, siteId: string, { channelId, rundownId }: { channelId: string; rundownId: string }): Promise<void> {
  const due = await earliestDue(siteDb(env, siteId), siteId, rundownId);
  await Promise.all([notifyOperators(env, siteId, channelId, rundownId), due === null ? undefined : schedulerOf(env, siteId).wake(due)]);
}

export const effects: Effects = {
  "rundown.created": (env, siteId, event) => follow(env, siteId, ofSummary(dataOf(event))),
  "rundown.updated": (env, siteId, event) => follow(env, siteId, ofSummary(dataOf(event))),
  "rundown.deleted": (env, siteId, event) => notifyOperators(env, siteId, dataOf(event).channelId, dataOf(event)._id),
  "rundown.taken": (env, siteId, event) => follow(env, siteId, dataOf(event)),
  "rundown.completed": (env, siteId, event) => follow(env, siteId, dataOf(event)),
  "rundown.cleared": (env, siteId, event) => follow(env, siteId, dataOf(event)),
  "rundown.stateChanged": (env, siteId, event) => follow(env, siteId, dataOf(event)),
};

function ofSummary({ _id, channelId }: { _id: string; channelId: string }): { channelId: string; rundownId: string } {
  return { channelId, rundownId: _id };
}
