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

/** The viewers of each open channel. */
export function totalsOf(leases: Map<string, Lease>): Map<string, number> {
  const totals = new Map<string, number>();
  for (const { channelId, count } of leases.values()) totals.set(channelId, (totals.get(channelId) ?? 0) + count);
  return totals;
}
