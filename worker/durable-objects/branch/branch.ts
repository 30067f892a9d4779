import { DurableObject } from "cloudflare:workers";
import type {
  AccountTags,
  Census,
  Delivered,
  PresenceReport,
  Push,
  Snapshot,
  VersionedGate,
} from "#worker/durable-objects/channel/channel.protocol.ts";
import { channelName, parseName, ReceiptPart, relayName } from "#worker/durable-objects/channel/channel.protocol.ts";
import type { ChatBatch, ChatDelivered, RoomPosition } from "#worker/durable-objects/chat-room/chat-room.protocol.ts";
import type { HiddenChange } from "#worker/durable-objects/relay/relay.protocol.ts";
import { GroupedCalls } from "#worker/lib/time/grouped-calls.ts";
import { withTimeout } from "#worker/lib/time/with-timeout.ts";
import { LATE_MS, type Outcome, type Recheck, type RelayCounts } from "./branch.protocol.ts";
import { outcomeOf } from "./outcome.ts";

const CHAT_MS = 2_000;
const ASK_MS = 2_000;
/** Reports and receipts of its relays are passed on at most this often. */
const REPORT_EVERY_MS = 500;
const PASS_ON_MS = 10_000;

type RelayStub = ReturnType<Env["RELAY"]["getByName"]>;

/**
 * Calls up to 32 relays of a large channel for it, and passes on what they ask and report in groups. Named `<siteId>:<channelId>:<branch>`. It
 * keeps nothing: the channel knows every relay's position, so a branch that dies costs nobody a frame.
 */
export class Branch extends DurableObject<Env> {
  readonly #channel: string;
  readonly #snapshots: GroupedCalls<number, Snapshot>;
  readonly #reports: GroupedCalls<PresenceReport, void>;
  readonly #receipts: GroupedCalls<RelayCounts, void>;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { siteId, channelId } = parseName(ctx.id.name);
    this.#channel = channelName(siteId, channelId);
    const channel = () => env.CHANNEL.getByName(this.#channel);
    const presence = () => env.SITE_PRESENCE.getByName(siteId);
    this.#snapshots = new GroupedCalls(async (relays) => own(await withTimeout(channel().snapshotFor(relays), PASS_ON_MS)));
    this.#receipts = new GroupedCalls((counts) => withTimeout(channel().takeCounts(counts), PASS_ON_MS), REPORT_EVERY_MS);
    this.#reports = new GroupedCalls((reports) => withTimeout(presence().reportAll(reports), PASS_ON_MS), REPORT_EVERY_MS);
  }

  /** For a relay: the channel's snapshot, one call for all that need one at the time. */
  snapshot(relay: number): Promise<Snapshot> {
    return this.#snapshots.add(relay);
  }

  /** For a relay: passes on its delivery counts. Throws if they haven't arrived. */
  takeReceipts(relay: number, parts: ReceiptPart[]): Promise<void> {
    return this.#receipts.add({ relay, parts });
  }

  /** For a relay: passes on its viewers. Throws if they haven't arrived. */
  report(report: PresenceReport): Promise<void> {
    return this.#reports.add(report);
  }

  deliver(relays: number[], push: Push): Promise<Outcome<Delivered>[]> {
    return this.#each(relays, (relay) => relay.deliver(push), LATE_MS);
  }

  deliverChat(relays: number[], batch: ChatBatch): Promise<Outcome<ChatDelivered>[]> {
    return this.#each(relays, (relay) => relay.deliverChat(batch), CHAT_MS);
  }

  chatPosition(relays: number[]): Promise<Outcome<RoomPosition | null>[]> {
    return this.#each(relays, (relay) => relay.chatPosition());
  }

  announce(relays: number[], concurrents: number): Promise<Outcome<void>[]> {
    return this.#each(relays, (relay) => relay.announce(concurrents));
  }

  notifyAccounts(relays: number[], accountIds: string[], change: HiddenChange): Promise<Outcome<void>[]> {
    return this.#each(relays, (relay) => relay.notifyAccounts(accountIds, change));
  }

  retag(relays: number[], accounts: AccountTags[]): Promise<Outcome<void>[]> {
    return this.#each(relays, (relay) => relay.retag(accounts));
  }

  setGate(relays: number[], gate: VersionedGate, isRestricted: boolean): Promise<Outcome<void>[]> {
    return this.#each(relays, (relay) => relay.setGate(gate, isRestricted));
  }

  setSegments(relays: number[], version: number): Promise<Outcome<void>[]> {
    return this.#each(relays, (relay) => relay.setSegments(version));
  }

  checkRights(asked: Recheck[]): Promise<Outcome<void>[]> {
    return Promise.all(asked.map(({ relay, ownerIds }) => outcomeOf(this.#relay(relay).checkRights(ownerIds), ASK_MS)));
  }

  count(relays: number[], segment?: string): Promise<Outcome<number>[]> {
    return this.#each(relays, (relay) => relay.count(segment));
  }

  takeCensus(relays: number[]): Promise<Outcome<Census>[]> {
    return this.#each(relays, (relay) => relay.takeCensus());
  }

  receipts(relays: number[], broadcastIds: string[]): Promise<Outcome<ReceiptPart[]>[]> {
    return this.#each(relays, async (relay) => ReceiptPart.array().parse(await relay.receipts(broadcastIds)));
  }

  drain(relays: number[], spread: number): Promise<Outcome<number>[]> {
    return this.#each(relays, (relay) => relay.drain(spread));
  }

  retire(relays: number[]): Promise<Outcome<boolean>[]> {
    return this.#each(relays, (relay) => relay.retire());
  }

  end(relays: number[]): Promise<Outcome<void>[]> {
    return this.#each(relays, (relay) => relay.end());
  }

  destroyRelays(relays: number[]): Promise<Outcome<void>[]> {
    return this.#each(relays, (relay) => relay.destroy());
  }

  #each<T>(relays: number[], call: (relay: RelayStub) => Promise<T>, ms = ASK_MS): Promise<Outcome<T>[]> {
    return Promise.all(relays.map((relay) => outcomeOf(call(this.#relay(relay)), ms)));
  }

  #relay(relay: number): RelayStub {
    return this.env.RELAY.getByName(relayName(this.#channel, relay));
  }
}

/** A copy, because passing on the result of a call would keep the call open. */
function own({ epoch, head, active, rules, states, gate, tail, concurrents }: Snapshot): Snapshot {
  return { epoch, head, active, rules, states, gate, tail, concurrents };
}
