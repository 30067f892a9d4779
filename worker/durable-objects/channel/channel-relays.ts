import { z } from "@hono/zod-openapi";
import { BRANCH_MS, branchName, type Outcome } from "#worker/durable-objects/branch/branch.protocol.ts";
import { callRelays } from "#worker/durable-objects/branch/relay-calls.ts";
import { SharedDeliveries } from "#worker/durable-objects/branch/shared-deliveries.ts";
import type { HiddenChange } from "#worker/durable-objects/relay/relay.protocol.ts";
import { logError } from "#worker/lib/log.ts";
import { type Delivered, type Push, ReceiptPart, relayName, type VersionedGate } from "./channel.protocol.ts";

const Receipts = z.array(
  z.union([
    z.object({ ok: z.literal(true), value: ReceiptPart.array() }),
    z.object({ ok: z.literal(false), late: z.boolean(), error: z.string() }),
  ]),
);

/** What a channel asks of its relays, directly or through their branches. One outcome per relay, in their order. */
export class ChannelRelays {
  readonly #env: Pick<Env, "RELAY" | "BRANCH">;
  readonly #channel: string;
  readonly #deliveries: SharedDeliveries<Push, Delivered>;

  constructor(env: Pick<Env, "RELAY" | "BRANCH">, channel: string) {
    this.#env = env;
    this.#channel = channel;
    const direct = async (relay: number, push: Push) => await env.RELAY.getByName(relayName(channel, relay)).deliver(push);
    const through = async (branch: number, relays: number[], push: Push) =>
      await env.BRANCH.getByName(branchName(channel, branch)).deliver(relays, push);
    this.#deliveries = new SharedDeliveries({ direct, through }, BRANCH_MS);
  }

  deliver(relay: number, push: Push, alone: boolean): Promise<Delivered> {
    return this.#deliveries.deliver(relay, push, alone);
  }

  notifyAccounts(relays: number[], accountIds: string[], change: HiddenChange): Promise<Outcome<void>[]> {
    return callRelays(this.#env, this.#channel, relays, {
      direct: async (stub) => await stub.notifyAccounts(accountIds, change),
      through: async (stub, members) => await stub.notifyAccounts(members, accountIds, change),
    });
  }

  setGate(relays: number[], gate: VersionedGate, isRestricted: boolean): Promise<Outcome<void>[]> {
    return callRelays(this.#env, this.#channel, relays, {
      direct: async (stub) => await stub.setGate(gate, isRestricted),
      through: async (stub, members) => await stub.setGate(members, gate, isRestricted),
    });
  }

  end(relays: number[]): Promise<Outcome<void>[]> {
    return callRelays(this.#env, this.#channel, relays, {
      direct: async (stub) => await stub.end(),
      through: async (stub, members) => await stub.end(members),
    });
  }

  destroy(relays: number[]): Promise<Outcome<void>[]> {
    return callRelays(this.#env, this.#channel, relays, {
      direct: async (stub) => await stub.destroy(),
      through: async (stub, members) => await stub.destroyRelays(members),
    });
  }

  count(relays: number[]): Promise<Outcome<number>[]> {
    return callRelays(this.#env, this.#channel, relays, {
      direct: async (stub) => await stub.count(),
      through: async (stub, members) => await stub.count(members),
    });
  }

  drain(relays: number[], spread: number): Promise<Outcome<number>[]> {
    return callRelays(this.#env, this.#channel, relays, {
      direct: async (stub) => await stub.drain(spread),
      through: async (stub, members) => await stub.drain(members, spread),
    });
  }

  /** Whether each relay is empty, and doesn't accept viewers without a new snapshot. */
  async retire(relays: number[]): Promise<boolean[]> {
    const outcomes = await callRelays(this.#env, this.#channel, relays, {
      direct: async (stub) => await stub.retire(),
      through: async (stub, members) => await stub.retire(members),
    });
    return outcomes.map((outcome) => outcome.ok && outcome.value);
  }

  /** Each relay's counts for those of these broadcasts that it knows; none if it can't be reached. */
  async receipts(relays: number[], broadcastIds: string[]): Promise<ReceiptPart[][]> {
    const outcomes = await callRelays(this.#env, this.#channel, relays, {
      direct: async (stub) => ReceiptPart.array().parse(await stub.receipts(broadcastIds)),
      through: async (stub, members) => Receipts.parse(await stub.receipts(members, broadcastIds)),
    });
    return outcomes.map((outcome, i) => {
      if (outcome.ok) return outcome.value;
      logError("relay_receipt_unknown", new Error(outcome.error), { channel: this.#channel, relay: relays[i] });
      return [];
    });
  }
}
