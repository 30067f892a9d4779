/** A relay's count of open sockets and when it was last confirmed. */
export interface Lease {
  channelId: string;
  relay: number;
  count: number;
  /** Bloom filter of the accounts that may be connected; null if any may be. */
  accounts: Uint8Array | null;
  renewedAt: number;
}

export function keyOf(lease: Pick<Lease, "channelId" | "relay">): string {
  return `${lease.channelId}:${lease.relay}`;
}
