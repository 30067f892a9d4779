const FIRST_DELAY = 500;
const MAX_DELAY = 20_000;

/** Delay in ms before reconnection attempt `attempt` (from 0): random up to a bound that doubles, so that clients spread out. */
export function reconnectDelay(attempt: number, random: () => number = Math.random): number {
  return random() * Math.min(MAX_DELAY, FIRST_DELAY * 2 ** attempt);
}
