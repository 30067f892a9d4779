interface Refusal {
  ends: number;
  until: number;
}

/** Refusals that an isolate remembers, so that a caller who goes on after a 429 costs no call to the object that counts. */
export class Refusals {
  readonly #known = new Map<string, Refusal>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** Seconds until the refused window ends; undefined where the object must be asked. */
  find(id: string, now: number): number | undefined {
    const refusal = this.#known.get(id);
    if (!refusal) return undefined;
    if (refusal.until > now) return Math.ceil((refusal.ends - now) / 1000);
    this.#known.delete(id);
    return undefined;
  }

  /** Remembers a refusal for `keep` of the `reset` seconds that its window still has. */
  add(id: string, now: number, reset: number, keep: number): void {
    this.#known.delete(id);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size < this.#most) break;
      this.#known.delete(oldest);
    }
    this.#known.set(id, { ends: now + reset * 1000, until: now + Math.min(reset, keep) * 1000 });
  }

  delete(id: string): void {
    this.#known.delete(id);
  }

  clear(): void {
    this.#known.clear();
  }
}
