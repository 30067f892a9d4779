const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * Milliseconds to wait after each failed attempt of a delivery; after the last one it is given up. Enough attempts that a receiver failing
 * every other time loses none of 100,000 events; with ten attempts it would lose a hundred.
 */
export const RETRY_DELAYS: readonly number[] = [
  ...[5, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 20, 30, 45].map((minutes) => minutes * MINUTE),
  ...[1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9, 10, 14].map((hours) => hours * HOUR),
];

/** The minimum total waiting time, in milliseconds: 75 h and 8 min. */
export const RETRY_SPAN = RETRY_DELAYS.reduce((sum, delay) => sum + delay, 0);

const JITTER = 0.1;
const PAUSE_AFTER = 3;
const MAX_PAUSE = 5 * MINUTE;

/** The delay after this many attempts, with up to 10 % jitter to spread retries; undefined: give up. */
export function retryDelay(attempts: number, random: number): number | undefined {
  const delay = RETRY_DELAYS[attempts - 1];
  return delay === undefined ? undefined : Math.round(delay * (1 + JITTER * random));
}

/** How long to pause a receiver after this many consecutive failures of any events, in milliseconds. */
export function pauseAfter(failures: number): number {
  if (failures < PAUSE_AFTER) return 0;
  return Math.min(SECOND * 2 ** (failures - PAUSE_AFTER), MAX_PAUSE);
}
