import type { DeliveryQueue, DisabledReason, DueDelivery } from "./delivery-queue.ts";
import type { Attempt } from "./webhook-endpoint.protocol.ts";

/** What one run may start and for how long: the platform bounds the requests and the time of an alarm. */
const RUN = { sends: 900, ms: 60_000 };
/** Outcomes that are written down at once. */
const GROUP = 256;

interface Outcome {
  event: DueDelivery;
  attempt: Attempt;
}

/** The world as a run sees it. */
export interface Surroundings {
  send: (event: DueDelivery) => Promise<Attempt>;
  /** Milliseconds since 1970 UTC. */
  now: () => number;
  /** From 0 to 1. */
  random: () => number;
}

/**
 * Sends what is due until nothing is, or the run has done enough. Of different resources several are under way at once, of one resource
 * the next follows as soon as the one before was taken. Answers why the endpoint is to be switched off, if it is.
 */
export async function deliverDue(queue: DeliveryQueue, surroundings: Surroundings): Promise<DisabledReason | undefined> {
  return new Run(queue, surroundings).play();
}

/**
 * Writing each outcome down by itself would make the next request wait for the disk each time. So they are written in groups; after a
 * crash those of the last group are sent once more.
 */
class Run {
  readonly #queue: DeliveryQueue;
  readonly #world: Surroundings;
  readonly #flying = new Map<number, Promise<void>>();
  #outcomes: Outcome[] = [];
  /** Whose predecessor was taken, though that isn't written down yet. */
  #next: DueDelivery[] = [];
  #begun = 0;
  #reason: DisabledReason | undefined;

  constructor(queue: DeliveryQueue, world: Surroundings) {
    this.#queue = queue;
    this.#world = world;
  }

  async play(): Promise<DisabledReason | undefined> {
    const until = this.#world.now() + RUN.ms;
    for (;;) {
      const goesOn = this.#reason === undefined && this.#begun < RUN.sends && this.#world.now() < until;
      const due = goesOn ? this.#take() : [];
      for (const event of due) this.#flying.set(event.number, this.#deliver(event));
      this.#begun += due.length;
      if (due.length === 0 && this.#outcomes.length > 0) this.#record();
      else if (this.#flying.size === 0) return this.#reason;
      else await Promise.race(this.#flying.values());
    }
  }

  #take(): DueDelivery[] {
    const busy = new Set([...this.#flying.keys(), ...this.#outcomes.map(({ event }) => event.number)]);
    const room = this.#queue.room(this.#world.now()) - this.#flying.size;
    if (room <= 0) return [];
    const followers = this.#next.splice(0, room).filter(({ number }) => !busy.has(number));
    for (const { number } of followers) busy.add(number);
    const wanted = room - followers.length;
    return wanted === 0 ? followers : [...followers, ...this.#queue.due(this.#world.now(), wanted, busy)];
  }

  async #deliver(event: DueDelivery): Promise<void> {
    const attempt = await this.#world.send(event);
    this.#flying.delete(event.number);
    this.#outcomes.push({ event, attempt });
    const follower = attempt.error === null ? this.#queue.after(event) : undefined;
    if (follower) this.#next.push(follower);
    // A failure decides how much is sent next.
    if (attempt.error !== null || this.#outcomes.length >= GROUP) this.#record();
  }

  #record(): void {
    const taken = this.#outcomes.filter(({ attempt }) => attempt.error === null);
    if (taken.length > 0) this.#queue.delivered(taken);
    for (const { event, attempt } of this.#outcomes)
      if (attempt.error !== null) this.#reason = this.#queue.failed(event, attempt, this.#world.random()) ?? this.#reason;
    this.#outcomes = [];
    // From here on the queue itself knows what follows.
    this.#next = [];
  }
}
