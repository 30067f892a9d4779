import type { DeliveryQueue, DisabledReason, DueDelivery } from "./delivery-queue.ts";
import type { Attempt } from "./webhook-endpoint.protocol.ts";

/** What one run may start and for how long: the platform bounds the requests and the time of an alarm. */
const RUN = { sends: 900, ms: 60_000 };

/** The world as a run sees it. */
export interface Surroundings {
  send: (event: DueDelivery) => Promise<Attempt>;
  /** Milliseconds since 1970 UTC. */
  now: () => number;
  /** From 0 to 1. */
  random: () => number;
}

/**
 * Sends what is due until nothing is, or the run has done enough. Of different resources several are under way at once.
 * Answers why the endpoint is to be switched off, if it is: then nothing more is begun.
 */
export async function deliverDue(queue: DeliveryQueue, { send, now, random }: Surroundings): Promise<DisabledReason | undefined> {
  const flying = new Map<number, Promise<void>>();
  const until = now() + RUN.ms;
  let begun = 0;
  let reason: DisabledReason | undefined;
  const deliver = async (event: DueDelivery): Promise<void> => {
    const attempt = await send(event);
    reason = queue.settle(event, attempt, random()) ?? reason;
    flying.delete(event.number);
  };
  for (;;) {
    const goesOn = reason === undefined && begun < RUN.sends && now() < until;
    const due = goesOn ? queue.due(now(), new Set(flying.keys())) : [];
    begun += due.length;
    for (const event of due) flying.set(event.number, deliver(event));
    if (flying.size === 0) return reason;
    await Promise.race(flying.values());
  }
}
