import { dataOf, type Effect, type Effects, idOf } from "#worker/services/event-catalogue/effect.ts";
import { payForOutcome } from "#worker/services/leaderboards/poll-awards.ts";
import { wakeScheduler } from "#worker/services/schedule/derived.ts";
import { syncCounters } from "./counting.ts";
import { endPaidResponses } from "./paid-responses.ts";

const syncPoll: Effect = (env, siteId, event) => syncCounters(env, siteId, idOf(event));

/** The lock is in the event, so that the scheduler wakes for it even if the request died. */
const syncAndWake: Effect<"poll.updated" | "poll.opened"> = async (env, siteId, event) => {
  await wakeScheduler({ env, siteId }, dataOf(event).locksAt);
  await syncPoll(env, siteId, event);
};

export const effects: Effects = {
  "poll.created": (env, siteId, event) => wakeScheduler({ env, siteId }, dataOf(event).locksAt),
  "poll.updated": syncAndWake,
  "poll.opened": syncAndWake,
  "poll.closed": syncPoll,
  "poll.settled": async (env, siteId, event) => {
    await syncPoll(env, siteId, event);
    await payForOutcome(env, siteId, event);
  },
  "poll.deleted": async (env, siteId, event) => {
    await syncPoll(env, siteId, event);
    await endPaidResponses(env, siteId, idOf(event), dataOf(event).settled !== null);
  },
};
