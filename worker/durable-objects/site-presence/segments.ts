import { requireAll } from "#worker/durable-objects/branch/outcome.ts";
import type { Lease } from "./lease.ts";
import type { SiteRelays } from "./site-relays.ts";

/** The latest version of the site that changed its segments, and their digest. */
interface Latest {
  version: number;
  digest: string;
}

/** Makes a site's relays evaluate its segments again after a change, and counts who is in one. */
export class PresenceSegments {
  readonly #kv: SyncKvStorage;
  readonly #relays: SiteRelays;

  constructor(kv: SyncKvStorage, relays: SiteRelays) {
    this.#kv = kv;
    this.#relays = relays;
  }

  /** Notifies every relay of changed segments; false if one can't be reached. Safe to repeat, also out of order. */
  async change(leases: Iterable<Lease>, version: number, digest: string): Promise<boolean> {
    const known = this.#latest;
    // The relays needn't know of a change of other settings.
    if (version < known.version || (version > known.version && digest === known.digest)) return true;
    this.#kv.put<Latest>("segments", { version, digest });
    return (await this.#relays.setSegments([...leases], version)).every(({ ok }) => ok);
  }

  /** Notifies a relay whose report shows that it evaluates by an older version; a failure is repeated after its next report. */
  async catchUp(lease: Lease, reported: number | undefined): Promise<void> {
    if (lease.count > 0 && reported !== undefined && reported < this.#latest.version)
      requireAll(await this.#relays.setSegments([lease], this.#latest.version));
  }

  /** How many open sockets are in a segment, by channel. Throws if a relay can't be reached. */
  async count(leases: Iterable<Lease>, slug: string): Promise<Map<string, number>> {
    const asked = [...leases];
    const counts = requireAll(await this.#relays.count(asked, slug));
    const byChannel = new Map<string, number>();
    for (const [i, { channelId }] of asked.entries()) byChannel.set(channelId, (byChannel.get(channelId) ?? 0) + (counts[i] ?? 0));
    return byChannel;
  }

  get #latest(): Latest {
    return this.#kv.get<Latest>("segments") ?? { version: 0, digest: "" };
  }
}
