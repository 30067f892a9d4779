/** The server's clock as this device knows it. */
export interface ServerClock {
  /** Milliseconds since 1970 UTC. */
  now(): number;
  /** A frame has just come that the server sent at `sentAt`: the least that this device's clock was ever ahead is nearest to the truth. */
  heard(sentAt: number): void;
}

export function serverClock(localNow: () => number): ServerClock {
  let ahead: number | undefined;
  return {
    now: () => localNow() - (ahead ?? 0),
    heard(sentAt) {
      const seen = localNow() - sentAt;
      ahead = ahead === undefined ? seen : Math.min(ahead, seen);
    },
  };
}
