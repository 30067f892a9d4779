import {
  LEAST_WAIT_MS,
  MOST_WAIT_MS,
  type RecordedRequest,
  type RequestBatch,
} from "#worker/durable-objects/scheduler/request-log.protocol.ts";
import { schedulerOf } from "#worker/durable-objects/stubs.ts";
import { mayBeSandbox } from "#worker/lib/ids.ts";
import { logError } from "#worker/lib/log.ts";

/** Of more requests of a site between two batches, a uniform sample of this size is handed over. */
export const SAMPLE_SIZE = 100;
/** How many sites an isolate remembers. */
const MAX_SITES = 10_000;
/** After this time, a batch is lost: the platform has ended the request whose background work would have handed it over. */
const LOST_AFTER_MS = 2 * MOST_WAIT_MS;

/** Hands over a batch; returns how long to collect before the next one, ms. */
type HandOver = (siteId: string, batch: RequestBatch) => Promise<number>;

interface Dependencies {
  random?: () => number;
  pause?: (ms: number) => Promise<void>;
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Collects the requests of one isolate by site, in memory, and hands them over in batches: no request waits for it. */
export class RequestRecorder {
  readonly #random: () => number;
  readonly #pause: (ms: number) => Promise<void>;
  readonly #pending = new Map<string, RequestBatch & { since: number }>();
  readonly #waits = new Map<string, number>();
  readonly #known = new Set<string>();

  constructor({ random = Math.random, pause = sleep }: Dependencies = {}) {
    this.#random = random;
    this.#pause = pause;
  }

  /**
   * The site whose log a request belongs to: that of confirmed credentials or, if they were rejected, the one that the caller names,
   * provided that it exists. Otherwise anybody could create objects by inventing ids.
   */
  siteOf(confirmed: string | undefined, named: string | undefined): string | undefined {
    if (confirmed === undefined) return named !== undefined && this.#known.has(named) ? named : undefined;
    if (this.#known.size >= MAX_SITES) this.#known.clear();
    // A sandbox may be deleted.
    if (!mayBeSandbox(confirmed)) this.#known.add(confirmed);
    return confirmed;
  }

  /** Adds a request. The first one of a batch returns the work of handing the batch over later, which never fails. */
  add(siteId: string, entry: RecordedRequest, handOver: HandOver): Promise<void> | undefined {
    const batch = this.#pending.get(siteId);
    if (!batch || entry.at - batch.since > LOST_AFTER_MS) {
      this.#pending.set(siteId, { since: entry.at, entries: [entry], requests: 1 });
      return this.#handOverLater(siteId, handOver);
    }
    batch.requests++;
    if (batch.entries.length < SAMPLE_SIZE) {
      batch.entries.push(entry);
      return undefined;
    }
    // Reservoir sampling: each request of the batch is as likely to be kept as any other.
    const place = Math.floor(this.#random() * batch.requests);
    if (place < SAMPLE_SIZE) batch.entries[place] = entry;
    return undefined;
  }

  async #handOverLater(siteId: string, handOver: HandOver): Promise<void> {
    await this.#pause(this.#waits.get(siteId) ?? LEAST_WAIT_MS);
    const batch = this.#pending.get(siteId);
    this.#pending.delete(siteId);
    if (!batch) return;
    try {
      const { entries, requests } = batch;
      const waitMs = await handOver(siteId, { entries, requests });
      if (this.#waits.size >= MAX_SITES) this.#waits.clear();
      if (waitMs > LEAST_WAIT_MS) this.#waits.set(siteId, waitMs);
      else this.#waits.delete(siteId);
    } catch (error) {
      logError("requests_not_recorded", error, { siteId, requests: batch.requests });
    }
  }
}

/** Hands a batch to the site's log. */
export function handOverTo(env: Env): HandOver {
  return (siteId, batch) => schedulerOf(env, siteId).recordRequests(batch);
}
