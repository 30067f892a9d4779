import type { Effect, Effects } from "#worker/services/event-catalogue/effect.ts";
import { dataOf } from "#worker/services/event-catalogue/effect.ts";
import { wakeScheduler } from "#worker/services/schedule/derived.ts";
import { notifyQuestChange } from "./frames.ts";
import { nextTimeOf } from "./times.ts";

/** A quest's next time is in its event, so that the scheduler wakes for it even if the request died. */
const notifyAndWake: Effect<"quest.created" | "quest.updated"> = async (env, siteId, event) => {
  await wakeScheduler({ env, siteId }, nextTimeOf(dataOf(event), event.created));
  await notifyQuestChange(env, siteId, event);
};

export const effects: Effects = {
  "quest.created": notifyAndWake,
  "quest.updated": notifyAndWake,
  "quest.deleted": notifyQuestChange,
  "quest.opened": notifyQuestChange,
  "quest.ended": notifyQuestChange,
};
