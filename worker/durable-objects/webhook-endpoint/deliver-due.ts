import type { DeliveryQueue, DisabledReason } from "./delivery-queue.ts";
import type { DueDelivery } from "./due-delivery.ts";
import type { Attempt } from "./webhook-endpoint.protocol.ts";

/** How many sends one run may start, and for how long: the platform limits the requests and duration of an alarm. */
const RUN = { sends: 900, ms: 60_000 };
/** Outcomes are recorded in groups of at most this many, or after this long. After that long, there may also be something new to read. */
const GROUP = { size: 256, ms: 1000 };

interface Outcome {
  event: DueDelivery;
  attempt: Attempt;
}

/** What a run needs from outside. */
export interface Dependencies {
  /** Resolves to null if the endpoint is gone or disabled. */
  send: (event: DueDelivery) => Promise<Attempt | null>;
  /** Milliseconds since 1970 UTC. */
  now: () => number;
  /** From 0 to 1. */
  random: () => number;
}

/**
 * Sends due deliveries until none is left or the run reaches its limit. Different resources are sent in parallel; within a resource each
 * event follows once the previous one was accepted. Returns why to disable the endpoint, if it should be.
 */
export async function deliverDue(queue: DeliveryQueue, dependencies: Dependencies): Promise<DisabledReason | undefined> {
  return new Run(queue, dependencies).execute();
}

/**
 * Reading each event and recording each outcome separately would cost as much as the request, so events are read ahead and outcomes are
 * recorded in groups. After a crash, the events of the last group are sent again.
 */
class Run {
  readonly #queue: DeliveryQueue;
  readonly #dependencies: Dependencies;
  readonly #until: number;
  /** Resources with a delivery in flight. */
  readonly #busy = new Set<string>();
  /** Deliveries read ahead: for each resource that isn't busy, its events in order. */
  #ready: DueDelivery[][] = [];
  #revision = 0;
  /** When nothing more was found to be due, if nothing has happened since that changes it. */
  #exhausted: number | undefined;
  #outcomes: Outcome[] = [];
  #recorded: number;
  #started = 0;
  /** Set once nothing more should be sent: the endpoint is gone, or sending itself threw. */
  #end: { error?: Error } | undefined;
  #reason: DisabledReason | undefined;
  #progress = Promise.withResolvers<void>();

  constructor(queue: DeliveryQueue, dependencies: Dependencies) {
    this.#queue = queue;
    this.#dependencies = dependencies;
    this.#recorded = dependencies.now();
    this.#until = this.#recorded + RUN.ms;
  }

  async execute(): Promise<DisabledReason | undefined> {
    this.#queue.onProgress = () => {
      this.#exhausted = undefined;
      this.#progress.resolve();
    };
    this.#queue.settle = () => this.#record();
    for (;;) {
      this.#progress = Promise.withResolvers();
      this.#startSends();
      if (this.#busy.size === 0) break;
      await this.#progress.promise;
    }
    this.#record();
    if (this.#end?.error) throw this.#end.error;
    return this.#reason;
  }

  /** Starts as many parallel sends as the receiver's health allows. */
  #startSends(): void {
    while (this.#continues() && this.#busy.size < this.#queue.capacity(this.#dependencies.now())) {
      const events = this.#nextResource();
      const event = events?.shift();
      if (!events || !event) return;
      this.#started++;
      this.#busy.add(event.resource);
      void this.#deliver(event, events);
    }
  }

  #continues(): boolean {
    return !this.#end && this.#reason === undefined && this.#started < RUN.sends && this.#dependencies.now() < this.#until;
  }

  #nextResource(): DueDelivery[] | undefined {
    const now = this.#dependencies.now();
    const isOutdated = this.#queue.revision !== this.#revision;
    const isExhausted = this.#exhausted !== undefined && now - this.#exhausted < GROUP.ms;
    if (isOutdated || (this.#ready.length === 0 && !isExhausted)) {
      this.#record();
      this.#revision = this.#queue.revision;
      this.#ready = this.#queue.dueByResource(now, this.#busy);
      this.#exhausted = this.#ready.length === 0 ? now : undefined;
    }
    return this.#ready.shift();
  }

  /** `following` are the resource's next events, sent once this one was accepted. */
  async #deliver(event: DueDelivery, following: DueDelivery[]): Promise<void> {
    const { revision } = this.#queue;
    try {
      const attempt = await this.#dependencies.send(event);
      if (attempt) this.#outcomes.push({ event, attempt });
      else this.#end = {};
      const goesOn = attempt?.error === null && following.length > 0 && revision === this.#queue.revision;
      if (goesOn) this.#ready.push(following);
      else if (!attempt || attempt.error !== null || this.#queue.hasFurther(event)) this.#exhausted = undefined;
      // A failure decides how much is sent next.
      if (attempt?.error || this.#isGroup()) this.#record();
    } catch (error) {
      this.#end = { error: error instanceof Error ? error : new Error(String(error)) };
    } finally {
      this.#busy.delete(event.resource);
      this.#progress.resolve();
    }
  }

  #isGroup(): boolean {
    return this.#outcomes.length >= GROUP.size || this.#dependencies.now() - this.#recorded >= GROUP.ms;
  }

  #record(): void {
    const outcomes = this.#outcomes;
    this.#outcomes = [];
    this.#recorded = this.#dependencies.now();
    const delivered = outcomes.filter(({ attempt }) => attempt.error === null);
    if (delivered.length > 0) this.#queue.delivered(delivered);
    for (const { event, attempt } of outcomes)
      if (attempt.error !== null) this.#reason = this.#queue.failed(event, attempt, this.#dependencies.random()) ?? this.#reason;
  }
}
