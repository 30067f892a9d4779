const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * Milliseconds to wait after each failed try of a delivery; after the last of them it is given up. So many tries that a receiver which fails
 * at every other one loses none of a hundred thousand events: with ten tries it would lose a hundred.
 */
export const RETRY_DELAYS: readonly number[] = [
  ...[5, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 20, 30, 45].map((minutes) => minutes * MINUTE),
  ...[1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9, 10, 14].map((hours) => hours * HOUR),
];

/** What all the waiting comes to at least, in milliseconds: 75 h and 8 min. */
export const RETRY_SPAN = RETRY_DELAYS.reduce((sum, delay) => sum + delay, 0);

const JITTER = 0.1;
const PAUSE_AFTER = 3;
const LONGEST_PAUSE = 5 * MINUTE;

/** How long to wait after so many tries, up to a tenth longer at random, so that what failed together doesn't come back together; undefined: give up. */
export function retryDelay(tries: number, random: number): number | undefined {
  const delay = RETRY_DELAYS[tries - 1];
  return delay === undefined ? undefined : Math.round(delay * (1 + JITTER * random));
}

/** How long a receiver is left alone after so many failures in a row, whatever they were about, in milliseconds. */
export function pauseAfter(failures: number): number {
  if (failures < PAUSE_AFTER) return 0;
  return Math.min(SECOND * 2 ** (failures - PAUSE_AFTER), LONGEST_PAUSE);
}
