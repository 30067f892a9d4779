import { pauseAfter } from "#worker/services/webhooks/backoff.ts";

/** Parallel deliveries; the platform opens no more connections than this. */
const MAX_PARALLEL = 6;

type Health = { failures: number; failing_since: number | null; paused_until: number };

/** How a receiver has done: after consecutive failures of any events it is paused, and then gets one delivery at a time. */
export class ReceiverHealth {
  readonly #sql: SqlStorage;
  #known: Health | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** How many parallel deliveries are allowed. */
  capacity(now: number): number {
    const { failures, paused_until } = this.#read();
    if (paused_until > now) return 0;
    return pauseAfter(failures) > 0 ? 1 : MAX_PARALLEL;
  }

  pausedUntil(): number {
    return this.#read().paused_until;
  }

  /** Counts a failure; returns since when nothing has been delivered. */
  fail(now: number): number {
    const { failures, failing_since } = this.#read();
    const since = failing_since ?? now;
    this.#write({ failures: failures + 1, failing_since: since, paused_until: now + pauseAfter(failures + 1) });
    return since;
  }

  /** Clears the failures. */
  reset(): void {
    if (this.#read().failures > 0) this.#write({ failures: 0, failing_since: null, paused_until: 0 });
  }

  #read(): Health {
    this.#known ??= this.#sql.exec<Health>("SELECT failures, failing_since, paused_until FROM health").one();
    return this.#known;
  }

  #write(health: Health): void {
    const { failures, failing_since, paused_until } = health;
    this.#sql.exec("UPDATE health SET failures = ?, failing_since = ?, paused_until = ?", failures, failing_since, paused_until);
    this.#known = health;
  }
}
