import { browserEnvironment, type Environment } from "../channel/index.ts";

/** The server's clock as this device knows it. */
export interface ServerClock {
  /** Milliseconds since 1970 UTC. */
  now(): number;
  /** A connection begins: the server's clock said `serverNow` a moment ago. What was believed before holds no more. */
  reset(serverNow: number): void;
  /** A frame has just come that the server sent at `sentAt`: the least that this device's clock was ever ahead is nearest to the truth. */
  observe(sentAt: number): void;
}

/** `localNow` should be steady, as {@link steadyNow} is: between two connections nothing tells of a jump forward. */
export function serverClock(localNow: () => number): ServerClock {
  let ahead: number | undefined;
  return {
    now: () => localNow() - (ahead ?? 0),
    reset(serverNow) {
      ahead = localNow() - serverNow;
    },
    observe(sentAt) {
      const seen = localNow() - sentAt;
      ahead = ahead === undefined ? seen : Math.min(ahead, seen);
    },
  };
}

/** Milliseconds since 1970 UTC by a clock that nobody sets while the page is open. */
export function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}

/** The browser, with a clock that doesn't jump. */
export const steadyEnvironment: Environment = { ...browserEnvironment, now: steadyNow };
