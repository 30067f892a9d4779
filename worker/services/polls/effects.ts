import { type Effect, type Effects, idOf } from "#worker/services/event-catalogue/effect.ts";
import { payForOutcome } from "#worker/services/leaderboards/poll-awards.ts";
import { syncCounters } from "./counting.ts";

const syncPoll: Effect = (env, siteId, event) => syncCounters(env, siteId, idOf(event));

export const effects: Effects = {
  "poll.updated": syncPoll,
  "poll.opened": syncPoll,
  "poll.closed": syncPoll,
  "poll.settled": async (env, siteId, event) => {
    await syncPoll(env, siteId, event);
    await payForOutcome(env, siteId, event);
  },
  "poll.deleted": syncPoll,
};
