import { type Effect, type Effects, idOf } from "#worker/services/event-catalogue/effect.ts";
import { syncCounters } from "./counting.ts";

const countByRow: Effect = (env, siteId, event) => syncCounters(env, siteId, idOf(event));

export const effects: Effects = {
  "poll.updated": countByRow,
  "poll.opened": countByRow,
  "poll.closed": countByRow,
  "poll.settled": countByRow,
  "poll.deleted": countByRow,
};
