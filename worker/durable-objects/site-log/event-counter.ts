import { logError } from "#worker/lib/log.ts";
import { COUNTED_EVENTS, countEvents } from "#worker/services/insights/event-counts.ts";
import type { LogEntry } from "./site-log.protocol.ts";

/** Events that one write counts, and the least time between two writes. */
const BATCH_SIZE = 1_000;
const WRITE_MS = 5_000;
const RETRY_MS = 60_000;
/** How far the stored position may lag behind: after a restart, so many events are read again. */
const LAG = 1_000;

/** Adds the log's events to the site's figures, in groups. */
export class EventCounter {
  readonly #env: Env;
  readonly #siteId: string;
  readonly #kv: SyncKvStorage;
  readonly #read: (after: number, types: string[], limit: number) => LogEntry[];
  #position: number;
  #stored: number;
  #writeAt = 0;

  constructor(env: Env, siteId: string, kv: SyncKvStorage, read: (after: number, types: string[], limit: number) => LogEntry[]) {
    this.#env = env;
    this.#siteId = siteId;
    this.#kv = kv;
    this.#read = read;
    this.#stored = this.#position = kv.get<number>("counted") ?? 0;
  }

  /** Counts the events up to `head`, unless the last write was a moment ago. Returns when the next write is due, ms. Never throws. */
  async countUpTo(head: number): Promise<number> {
    const entries = this.#position < head ? this.#read(this.#position, COUNTED_EVENTS, BATCH_SIZE) : [];
    const last = entries.at(-1);
    if (!last) {
      this.#moveTo(head);
      return Infinity;
    }
    const now = Date.now();
    if (now < this.#writeAt) return this.#writeAt;
    this.#writeAt = now + WRITE_MS;
    try {
      await countEvents(this.#env, this.#siteId, entries, now);
    } catch (error) {
      logError("event_counts_failed", error, { siteId: this.#siteId });
      return (this.#writeAt = now + RETRY_MS);
    }
    this.#moveTo(last.sequence);
    // One read returns no more than fits into a call, so there may be more.
    return this.#writeAt;
  }

  #moveTo(position: number): void {
    this.#position = position;
    if (position - this.#stored < LAG) return;
    this.#stored = position;
    this.#kv.put("counted", position);
  }
}
