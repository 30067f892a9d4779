const FIRST_DELAY = 500;
const LONGEST_DELAY = 20_000;

/** Milliseconds until the `attempt`-th try (from 0): anything up to an exponentially growing bound, so that a crowd spreads out. */
export function reconnectDelay(attempt: number, random: () => number = Math.random): number {
  return random() * Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** attempt);
}
