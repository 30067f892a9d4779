import { schedulerOf } from "#worker/durable-objects/stubs.ts";
import { dataOf, type Effects } from "#worker/services/event-catalogue/effect.ts";

export const effects: Effects = {
  "schedule.created": (env, siteId, event) => schedulerOf(env, siteId).wake(dataOf(event).dueAt),
};
