const WINDOW_MS = 60_000;
/** Keys that are remembered; beyond that, the oldest starts anew. */
const MAX_KEYS = 50_000;

/** How much each key has used within the current minute. Kept in memory: after an eviction, everybody starts anew. */
export class MinuteBudget {
  readonly #limit: number;
  #minute = 0;
  #used = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes `wanted` units of the same size, as many as the key has left, and returns how many. */
  take(key: string, wanted: number, size: number, now: number): number {
    const minute = Math.floor(now / WINDOW_MS);
    if (minute !== this.#minute) this.#used = new Map();
    this.#minute = minute;
    const used = this.#used.get(key) ?? 0;
    const taken = Math.max(0, Math.min(wanted, Math.floor((this.#limit - used) / size)));
    if (taken > 0) this.#set(key, used + taken * size);
    return taken;
  }

  #set(key: string, used: number): void {
    const [oldest] = this.#used.keys();
    if (this.#used.size >= MAX_KEYS && !this.#used.has(key) && oldest !== undefined) this.#used.delete(oldest);
    this.#used.set(key, used);
  }
}
