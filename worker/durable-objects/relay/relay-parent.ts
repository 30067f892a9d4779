import { branchName, branchOf } from "#worker/durable-objects/branch/branch.protocol.ts";
import { channelName, type PresenceReport, type ReceiptPart, type Snapshot } from "#worker/durable-objects/channel/channel.protocol.ts";

/** Where a relay gets its channel's state and sends its counts: to the channel and the site, or to its branch, which groups them. */
export class RelayParent {
  readonly #env: Pick<Env, "BRANCH" | "CHANNEL" | "SITE_PRESENCE">;
  readonly #siteId: string;
  readonly #channel: string;
  readonly #relay: number;
  readonly #branch: number | null;

  constructor(
    env: Pick<Env, "BRANCH" | "CHANNEL" | "SITE_PRESENCE">,
    { siteId, channelId, relay }: { siteId: string; channelId: string; relay: number },
  ) {
    this.#env = env;
    this.#siteId = siteId;
    this.#channel = channelName(siteId, channelId);
    this.#relay = relay;
    this.#branch = branchOf(relay);
  }

  async snapshot(): Promise<Snapshot> {
    return this.#branch === null
      ? await this.#channelStub().snapshot(this.#relay)
      : await this.#branchStub(this.#branch).snapshot(this.#relay);
  }

  async takeReceipts(parts: ReceiptPart[]): Promise<void> {
    if (this.#branch === null) await this.#channelStub().takeReceipts(this.#relay, parts);
    else await this.#branchStub(this.#branch).takeReceipts(this.#relay, parts);
  }

  async report(report: PresenceReport): Promise<void> {
    if (this.#branch === null) await this.#env.SITE_PRESENCE.getByName(this.#siteId).report(report);
    else await this.#branchStub(this.#branch).report(report);
  }

  #channelStub() {
    return this.#env.CHANNEL.getByName(this.#channel);
  }

  #branchStub(branch: number) {
    return this.#env.BRANCH.getByName(branchName(this.#channel, branch));
  }
}
