import { type Effect, type Effects, idOf } from "#worker/services/event-catalogue/effect.ts";
import { syncCounters } from "./counting.ts";

const syncPoll: Effect = (env, siteId, event) => syncCounters(env, siteId, idOf(event));

export const effects: Effects = {
  "poll.updated": syncPoll,
  "poll.opened": syncPoll,
  "poll.closed": syncPoll,
  "poll.settled": syncPoll,
  "poll.deleted": syncPoll,
};
