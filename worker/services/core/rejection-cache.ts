interface Rejection {
  ends: number;
  until: number;
}

/** Caches rejections in the isolate, so that a caller who keeps sending after a 429 doesn't cost a call to the limiter object. */
export class RejectionCache {
  readonly #entries = new Map<string, Rejection>();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Seconds until the exhausted window ends; undefined if the limiter must be called. */
  find(id: string, now: number): number | undefined {
    const rejection = this.#entries.get(id);
    if (!rejection) return undefined;
    if (rejection.until > now) return Math.ceil((rejection.ends - now) / 1000);
    this.#entries.delete(id);
    return undefined;
  }

  /** Caches a rejection for `keep` of the `reset` seconds until its window ends. */
  add(id: string, now: number, reset: number, keep: number): void {
    this.#entries.delete(id);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < this.#capacity) break;
      this.#entries.delete(oldest);
    }
    this.#entries.set(id, { ends: now + reset * 1000, until: now + Math.min(reset, keep) * 1000 });
  }

  delete(id: string): void {
    this.#entries.delete(id);
  }

  clear(): void {
    this.#entries.clear();
  }
}
