import type { ViewerIdentity } from "#worker/durable-objects/channel/channel.protocol.ts";
import { numberOf } from "#worker/lib/variables.ts";

/** Sockets that one relay accepts per device, per account, and per network of anonymous viewers; 0 for no limit. */
export interface SocketLimits {
  device: number;
  account: number;
  network: number;
}

/** The limits that the deployment configures. */
export function socketLimits(env: Env): SocketLimits {
  return {
    device: numberOf(env, "TIFO_SOCKETS_PER_DEVICE"),
    account: numberOf(env, "TIFO_SOCKETS_PER_ACCOUNT"),
    network: numberOf(env, "TIFO_SOCKETS_PER_ADDRESS"),
  };
}

export type SocketHolder = Pick<ViewerIdentity, "accountId" | "outputId" | "device" | "network">;

/** Counts the sockets of each device, account and network at a relay. The Worker always routes the same one to the same relay. */
export class SocketQuota {
  readonly #limits: SocketLimits;
  readonly #counts = new Map<string, number>();

  constructor(limits: SocketLimits) {
    this.#limits = limits;
  }

  /** Takes one for each of them, or none if one has reached its limit. */
  take(holder: SocketHolder): boolean {
    const keys = this.#keysOf(holder);
    if (keys.some(([key, limit]) => limit > 0 && (this.#counts.get(key) ?? 0) >= limit)) return false;
    this.count(holder);
    return true;
  }

  /** Counts a socket that is already open. */
  count(holder: SocketHolder): void {
    for (const [key] of this.#keysOf(holder)) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  giveBack(holder: SocketHolder): void {
    for (const [key] of this.#keysOf(holder)) {
      const left = (this.#counts.get(key) ?? 0) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    }
  }

  #keysOf({ accountId, outputId, device, network }: SocketHolder): [key: string, limit: number][] {
    // A studio's mixers aren't its audience, and a link that leaks has a limit of its own.
    if (outputId !== null) return [[`output ${outputId}`, this.#limits.account]];
    const keys: [string, number][] = [];
    if (device !== null) keys.push([`device ${device}`, this.#limits.device]);
    // Signed-in viewers are counted by account: a stadium's Wi-Fi is one network.
    if (accountId !== null) keys.push([`account ${accountId}`, this.#limits.account]);
    else if (network !== null) keys.push([`network ${network}`, this.#limits.network]);
    return keys;
  }
}
