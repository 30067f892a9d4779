import type { DeliveryQueue, DisabledReason, DueDelivery } from "./delivery-queue.ts";
import type { Attempt } from "./webhook-endpoint.protocol.ts";

/** What one run may start and for how long: the platform bounds the requests and the time of an alarm. */
const RUN = { sends: 900, ms: 60_000 };
/** Outcomes that are written down at once: so many, or what came within so long. */
const GROUP = { size: 256, ms: 1000 };

interface Outcome {
  event: DueDelivery;
  attempt: Attempt;
}

/** The world as a run sees it. */
export interface Dependencies {
  /** Null where the endpoint wants nothing any more. */
  send: (event: DueDelivery) => Promise<Attempt | null>;
  /** Milliseconds since 1970 UTC. */
  now: () => number;
  /** From 0 to 1. */
  random: () => number;
}

/**
 * Sends what is due until nothing is, or the run has done enough. Of different resources several are under way at once, of one resource
 * the next follows as soon as the one before was taken. Answers why the endpoint is to be switched off, if it is.
 */
export async function deliverDue(queue: DeliveryQueue, surroundings: Dependencies): Promise<DisabledReason | undefined> {
  return new Run(queue, surroundings).play();
}

/**
 * Reading each event and writing each outcome by itself would cost as much as the request. So events are read ahead, and outcomes written
 * in groups; after a crash those of the last group are sent once more.
 */
class Run {
  readonly #queue: DeliveryQueue;
  readonly #world: Dependencies;
  readonly #until: number;
  /** Resources of which an event is on its way. */
  readonly #busy = new Set<string>();
  /** What was read ahead and may be sent: of each resource that isn't busy, its events in order. */
  #lines: DueDelivery[][] = [];
  #revision = 0;
  #outcomes: Outcome[] = [];
  #recorded: number;
  #begun = 0;
  /** Set where nothing more is to be sent: the endpoint is gone, or sending itself went wrong. */
  #end: { error?: Error } | undefined;
  #reason: DisabledReason | undefined;
  #news = Promise.withResolvers<void>();

  constructor(queue: DeliveryQueue, world: Dependencies) {
    this.#queue = queue;
    this.#world = world;
    this.#recorded = world.now();
    this.#until = this.#recorded + RUN.ms;
  }

  async play(): Promise<DisabledReason | undefined> {
    this.#queue.onNews = () => this.#news.resolve();
    this.#queue.settle = () => this.#record();
    for (;;) {
      this.#news = Promise.withResolvers();
      this.#begin();
      if (this.#busy.size === 0) break;
      await this.#news.promise;
    }
    this.#record();
    if (this.#end?.error) throw this.#end.error;
    return this.#reason;
  }

  /** Sends as much at once as the receiver's health allows. */
  #begin(): void {
    while (this.#goesOn() && this.#busy.size < this.#queue.room(this.#world.now())) {
      const line = this.#nextLine();
      const event = line?.shift();
      if (!line || !event) return;
      this.#begun++;
      this.#busy.add(event.resource);
      void this.#deliver(event, line);
    }
  }

  #goesOn(): boolean {
    return !this.#end && this.#reason === undefined && this.#begun < RUN.sends && this.#world.now() < this.#until;
  }

  #nextLine(): DueDelivery[] | undefined {
    if (this.#lines.length === 0 || this.#queue.revision !== this.#revision) {
      this.#record();
      this.#revision = this.#queue.revision;
      this.#lines = this.#queue.lines(this.#world.now(), this.#busy);
    }
    return this.#lines.shift();
  }

  /** `line` is what follows the event once it was taken. */
  async #deliver(event: DueDelivery, line: DueDelivery[]): Promise<void> {
    const { revision } = this.#queue;
    try {
      const attempt = await this.#world.send(event);
      if (attempt) this.#outcomes.push({ event, attempt });
      else this.#end = {};
      if (attempt?.error === null && line.length > 0 && revision === this.#queue.revision) this.#lines.push(line);
      // A failure decides how much is sent next.
      if (attempt?.error || this.#isGroup()) this.#record();
    } catch (error) {
      this.#end = { error: error instanceof Error ? error : new Error(String(error)) };
    } finally {
      this.#busy.delete(event.resource);
      this.#news.resolve();
    }
  }

  #isGroup(): boolean {
    return this.#outcomes.length >= GROUP.size || this.#world.now() - this.#recorded >= GROUP.ms;
  }

  #record(): void {
    const outcomes = this.#outcomes;
    this.#outcomes = [];
    this.#recorded = this.#world.now();
    const taken = outcomes.filter(({ attempt }) => attempt.error === null);
    if (taken.length > 0) this.#queue.delivered(taken);
    for (const { event, attempt } of outcomes)
      if (attempt.error !== null) this.#reason = this.#queue.failed(event, attempt, this.#world.random()) ?? this.#reason;
  }
}
