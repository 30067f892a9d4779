import { browserEnvironment, type Environment } from "../channel/index.ts";

/** An estimate of the server's clock. */
export interface ServerClock {
  /** Milliseconds since 1970 UTC. */
  now(): number;
  /** Discards the previous estimate: on a new connection, the server's clock said `serverNow` a moment ago. */
  reset(serverNow: number): void;
  /** A frame has arrived that the server sent at `sentAt`. The smallest offset observed is the most accurate one. */
  observe(sentAt: number): void;
}

/** `localNow` should be steady, like {@link steadyNow}: within a connection, a forward jump can't be detected. */
export function serverClock(localNow: () => number): ServerClock {
  let offset: number | undefined;
  return {
    now: () => localNow() - (offset ?? 0),
    reset(serverNow) {
      offset = localNow() - serverNow;
    },
    observe(sentAt) {
      const seen = localNow() - sentAt;
      offset = offset === undefined ? seen : Math.min(offset, seen);
    },
  };
}

/** Milliseconds since 1970 UTC, from a clock that can't be adjusted while the page is open. */
export function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}

/** The browser's environment, with a clock that doesn't jump. */
export const steadyEnvironment: Environment = { ...browserEnvironment, now: steadyNow };
