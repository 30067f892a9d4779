import type { Outcome } from "#worker/durable-objects/branch/branch.protocol.ts";
import { callRelays, type RelayCall } from "#worker/durable-objects/branch/relay-calls.ts";
import { type AccountTags, type Census, channelName } from "#worker/durable-objects/channel/channel.protocol.ts";
import type { Lease } from "./lease.ts";

type Place = Pick<Lease, "channelId" | "relay">;

/** What a site asks of the relays of its channels, directly or through their branches. One outcome per lease, in their order. */
export class SiteRelays {
  readonly #env: Pick<Env, "RELAY" | "BRANCH">;
  readonly #siteId: string;

  constructor(env: Pick<Env, "RELAY" | "BRANCH">, siteId: string) {
    this.#env = env;
    this.#siteId = siteId;
  }

  retag(leases: Place[], accounts: AccountTags[]): Promise<Outcome<void>[]> {
    return this.#call(leases, () => ({
      direct: async (stub) => await stub.retag(accounts),
      through: async (stub, relays) => await stub.retag(relays, accounts),
    }));
  }

  setSegments(leases: Place[], version: number): Promise<Outcome<void>[]> {
    return this.#call(leases, () => ({
      direct: async (stub) => await stub.setSegments(version),
      through: async (stub, relays) => await stub.setSegments(relays, version),
    }));
  }

  count(leases: Place[], segment: string): Promise<Outcome<number>[]> {
    return this.#call(leases, () => ({
      direct: async (stub) => await stub.count(segment),
      through: async (stub, relays) => await stub.count(relays, segment),
    }));
  }

  takeCensus(leases: Place[]): Promise<Outcome<Census>[]> {
    return this.#call(leases, () => ({
      direct: async (stub) => await stub.takeCensus(),
      through: async (stub, relays) => await stub.takeCensus(relays),
    }));
  }

  /** Sends each relay the total of its channel. */
  announce(leases: Place[], totals: ReadonlyMap<string, number>): Promise<Outcome<void>[]> {
    return this.#call(leases, (channelId) => {
      const total = totals.get(channelId) ?? 0;
      return {
        direct: async (stub) => await stub.announce(total),
        through: async (stub, relays) => await stub.announce(relays, total),
      };
    });
  }

  /** Each relay rechecks the accounts and outputs that it may have. */
  checkRights(asked: { lease: Place; ownerIds: string[] }[]): Promise<Outcome<void>[]> {
    const ownersOf = new Map(asked.map(({ lease, ownerIds }) => [`${lease.channelId}:${lease.relay}`, ownerIds]));
    return this.#call(
      asked.map(({ lease }) => lease),
      (channelId) => {
        const owners = (relay: number) => ownersOf.get(`${channelId}:${relay}`) ?? [];
        return {
          direct: async (stub, relay) => await stub.checkRights(owners(relay)),
          through: async (stub, relays) => await stub.checkRights(relays.map((relay) => ({ relay, ownerIds: owners(relay) }))),
        };
      },
    );
  }

  async #call<T>(leases: Place[], callOf: (channelId: string) => RelayCall<T>): Promise<Outcome<T>[]> {
    const byChannel = Map.groupBy([...leases.entries()], ([, { channelId }]) => channelId);
    const outcomes: Outcome<T>[] = [];
    const calls = [...byChannel].map(async ([channelId, members]) => {
      const relays = members.map(([, { relay }]) => relay);
      const returned = await callRelays(this.#env, channelName(this.#siteId, channelId), relays, callOf(channelId));
      for (const [i, outcome] of returned.entries()) {
        const index = members[i]?.[0];
        if (index !== undefined) outcomes[index] = outcome;
      }
    });
    await Promise.all(calls);
    return outcomes;
  }
}
