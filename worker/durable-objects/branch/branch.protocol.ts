import type { ReceiptPart } from "#worker/durable-objects/channel/channel.protocol.ts";

// Messages between a channel's objects and its branches. No platform import.

/** The first relays of a channel are called directly: an audience that they hold costs nothing for branches. */
export const DIRECT_RELAYS = 8;
/** Each branch calls this many of the others, so that no object calls more than 32 of a channel's objects. */
export const BRANCH_SIZE = 32;
const MAX_BRANCHES = 24;
export const MAX_RELAYS = DIRECT_RELAYS + MAX_BRANCHES * BRANCH_SIZE;

/** The branch that calls a relay; null for those that are called directly. */
export function branchOf(relay: number): number | null {
  return relay < DIRECT_RELAYS ? null : Math.floor((relay - DIRECT_RELAYS) / BRANCH_SIZE);
}

/**
 * How long the relays of a branch wait for a slow one, which is then reported as late and called directly from then on; and how long the
 * channel waits for the branch. Enough even if the platform allows an object only six calls at a time.
 */
export const LATE_MS = 1_000;
export const BRANCH_MS = 1_900;

/** A branch's object name: `<siteId>:<channelId>:<branch>`. */
export function branchName(channel: string, branch: number): string {
  return `${channel}:${branch}`;
}

/** What one relay returned. `late`: it hasn't responded yet, and may still do what it was asked to. */
export type Outcome<T> = { ok: true; value: T } | { ok: false; late: boolean; error: string };

/** The accounts and outputs that one relay is to recheck. */
export interface Recheck {
  relay: number;
  ownerIds: string[];
}

/** A relay's delivery counts, on their way to the channel. */
export interface RelayCounts {
  relay: number;
  parts: ReceiptPart[];
}
