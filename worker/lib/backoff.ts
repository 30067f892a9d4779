const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Milliseconds to wait after each failed try of a delivery, as the Standard Webhooks specification suggests; after the last of them it is given up. */
export const RETRY_DELAYS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR] as const;

/** What all the waiting comes to at least, in milliseconds: 75 h and 35 min. */
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
