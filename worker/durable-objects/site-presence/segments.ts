import { withTimeout } from "#worker/lib/time/with-timeout.ts";
import type { Lease } from "./lease.ts";

const ASK_TIMEOUT_MS = 2_000;

/** The latest version of the site that changed its segments, and their digest. */
interface Latest {
  version: number;
  digest: string;
}

interface Relay {
  setSegments(version: number): Promise<void>;
  count(segment?: string): Promise<number>;
}

/** Makes a site's relays evaluate its segments again after a change, and counts who is in one. */
export class PresenceSegments {
  readonly #kv: SyncKvStorage;
  readonly #relay: (lease: Lease) => Relay;

  constructor(kv: SyncKvStorage, relay: (lease: Lease) => Relay) {
    this.#kv = kv;
    this.#relay = relay;
  }

  /** Notifies every relay of changed segments; false if one can't be reached. Safe to repeat, also out of order. */
  async change(leases: Iterable<Lease>, version: number, digest: string): Promise<boolean> {
    const known = this.#latest;
    // The relays needn't know of a change of other settings.
    if (version < known.version || (version > known.version && digest === known.digest)) return true;
    this.#kv.put<Latest>("segments", { version, digest });
    const sent = await Promise.allSettled([...leases].map((lease) => this.#send(lease)));
    return sent.every(({ status }) => status === "fulfilled");
  }

  /** Notifies a relay whose report shows that it evaluates by an older version; a failure is repeated after its next report. */
  async catchUp(lease: Lease, reported: number | undefined): Promise<void> {
    if (lease.count > 0 && reported !== undefined && reported < this.#latest.version) await this.#send(lease);
  }

  /** How many open sockets are in a segment, by channel. Throws if a relay can't be reached. */
  async count(leases: Iterable<Lease>, slug: string): Promise<Map<string, number>> {
    const counted = [...leases].map(async (lease) => ({
      channelId: lease.channelId,
      count: await withTimeout(this.#relay(lease).count(slug), ASK_TIMEOUT_MS),
    }));
    const byChannel = new Map<string, number>();
    for (const { channelId, count } of await Promise.all(counted)) byChannel.set(channelId, (byChannel.get(channelId) ?? 0) + count);
    return byChannel;
  }

  #send(lease: Lease): Promise<void> {
    return withTimeout(this.#relay(lease).setSegments(this.#latest.version), ASK_TIMEOUT_MS);
  }

  get #latest(): Latest {
    return this.#kv.get<Latest>("segments") ?? { version: 0, digest: "" };
  }
}
