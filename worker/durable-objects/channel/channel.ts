import { DurableObject } from "cloudflare:workers";
import { logError } from "#worker/lib/log.ts";
import { withTimeout } from "#worker/lib/time/with-timeout.ts";
import { readGate } from "#worker/services/realtime/rights.ts";
import { ChannelLog } from "./log.ts";
import type {
  ChannelEvent,
  ChannelReceipt,
  Cleared,
  ClientRules,
  FramePage,
  LogFrame,
  Push,
  Published,
  SiteCommand,
  Snapshot,
  StateChange,
  VersionedGate,
} from "./channel.protocol.ts";
import { Broadcast, ClearTarget, parseName, ReceiptPart, relayName } from "./channel.protocol.ts";
import { ChannelReceipts, sumReceipts } from "./receipts.ts";
import { FanOut } from "./fan-out.ts";
import { LatestStates } from "#worker/durable-objects/latest-states.ts";

const TAIL = 256;
const MAX_RELAYS = 100;
const RETRY_MS = 2_000;
const ASK_TIMEOUT_MS = 2_000;
const RETRIES = 8;
/** How often a channel of several relays looks whether fewer would do, and how full those may then be. */
const SHRINK_MS = 300_000;
const COMFORTABLE = 0.5;
/** Viewers of a relay too many come back elsewhere within this. */
const DRAIN_MS = 30_000;

/** The truth of one channel's broadcasts: its log, what is on, and the relays that carry it to the viewers. Named `<siteId>:<channelId>`. */
export class Channel extends DurableObject<Env> {
  private readonly log: ChannelLog;
  private readonly receipts: ChannelReceipts;
  private readonly fanOut: FanOut;
  private readonly states: LatestStates;
  /** States that a relay has yet to take. */
  private readonly unsentStates = new Set<string>();
  private readonly name: string;
  private readonly siteId: string;
  private readonly channelId: string;
  private alarmAt: number | null = null;
  private failures = 0;
  private shrinkDue = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { siteId, channelId } = parseName(ctx.id.name);
    this.siteId = siteId;
    this.channelId = channelId;
    this.name = `${siteId}:${channelId}`;
    this.log = new ChannelLog(ctx.storage);
    this.receipts = new ChannelReceipts(ctx.storage);
    this.states = new LatestStates(ctx.storage.sql);
    const deliver = async (relay: number, push: Push) => await env.RELAY.getByName(relayName(this.name, relay)).deliver(push);
    this.fanOut = new FanOut(this.log, deliver, this.relayCount, this.pushed);
  }

  /** Shows a broadcast, once by its id: a repeat gets the first answer. One that has ended is recorded and not sent. */
  async publish(broadcast: Broadcast): Promise<Published> {
    const answer = this.log.publish(broadcast, Date.now());
    await this.spread();
    return { ...answer, sockets: this.fanOut.sockets };
  }

  /** Takes broadcasts off the screens, once by `id`. */
  async clear(command: { id: string; target: ClearTarget }): Promise<Cleared> {
    const now = Date.now();
    const answer = this.log.clear(command.id, command.target, now, now);
    await this.spread();
    return answer;
  }

  /** Puts an event into the log, once by `id`. `data` is the changed resource's public part. */
  async emit(event: { id: string; type: ChannelEvent; data: Record<string, unknown> }): Promise<{ seq: number }> {
    const seq = this.log.event(event.id, event.type, event.data, Date.now());
    await this.spread();
    return { seq };
  }

  /** Sends the viewers a state, and each who connects later: the latest of one key wins. Throws if a relay has not taken it. */
  async state(change: StateChange): Promise<void> {
    if (!this.states.put(change, Date.now()) && !this.unsentStates.has(change.key)) return;
    this.unsentStates.add(change.key);
    this.fanOut.state(change);
    if (!(await this.fanOut.push())) throw new Error("A relay has not taken the state");
    this.unsentStates.delete(change.key);
  }

  /** Bodies (`overlay.show`, JSON) of the broadcasts that are on, in order. */
  async active(): Promise<string[]> {
    await this.catchUpWithSite();
    return this.log.active(Date.now());
  }

  /** For a viewer further back than its relay remembers: the next frames, or null where the log no longer reaches. */
  framesAfter(epoch: string, seq: number, limit: number): LogFrame[] | null {
    return epoch === this.log.epoch ? this.log.framesAfter(seq, limit) : null;
  }

  /** All that a relay needs to take viewers; from then on it gets every push. */
  async snapshot(relay: number): Promise<Snapshot> {
    // For whoever comes before the Worker has heard of the end.
    if (this.ctx.storage.kv.get<boolean>("ended")) throw new Error("The channel has ended");
    const concurrents = await this.catchUpWithSite();
    if (relay >= this.relayCount) this.ctx.storage.kv.put("relays", relay + 1);
    this.fanOut.open(relay);
    const { epoch, head } = this.log;
    const active = this.log.offered(Date.now(), 0, head);
    return {
      epoch,
      head,
      active,
      rules: this.log.rules(),
      states: this.states.current(Date.now()),
      gate: this.gate,
      tail: this.log.tail(TAIL),
      concurrents,
    };
  }

  /** The next page of a snapshot's `active`: what stands in the log after `seq` and up to the snapshot's `head`. */
  offered(seq: number, head: number): FramePage {
    return this.log.offered(Date.now(), seq, head);
  }

  /** Makes the site's client rules known to the viewers, as far as they are this channel's. Safe to repeat, also out of order. */
  async setRules(clientRules: ClientRules): Promise<void> {
    this.applyRules(clientRules);
    await this.spread();
  }

  /** Applies what the site asked of all its channels; each command once. */
  async applyCommands(commands: SiteCommand[]): Promise<void> {
    for (const command of commands) this.apply(command);
    await this.spread();
  }

  /** The page has changed: has those viewers leave who don't pass its gate. Safe to repeat. Throws if a relay has not done so. */
  async checkGate(): Promise<void> {
    const read = await readGate(this.env, this.siteId, this.channelId);
    if (read && read.version >= (this.gate?.version ?? 0)) this.ctx.storage.kv.put("gate", read);
    const { gate } = this;
    // In the same turn as the write above: a relay that asks for its snapshot later gets this gate with it.
    if (gate) await Promise.all(this.allRelays().map((relay) => withTimeout(relay.setGate(gate), ASK_TIMEOUT_MS)));
  }

  /** The channel is no more: takes everything off and sends its viewers away. Safe to repeat. */
  async end(command: { id: string }): Promise<void> {
    this.ctx.storage.kv.put("ended", true);
    await this.clear({ id: command.id, target: { all: true } });
    await Promise.all(this.allRelays().map((relay) => relay.end()));
  }

  /** What a relay has counted of broadcasts, from the beginning on: a repeat changes nothing. */
  takeReceipts(relay: number, parts: ReceiptPart[]): void {
    this.receipts.take(relay, parts, Date.now());
  }

  /** What became of a broadcast, as each relay knows it now, or knew it last; null if it never came here. */
  async receipt(broadcastId: string): Promise<ChannelReceipt | null> {
    const seq = this.log.positionOf(broadcastId);
    if (seq === null) return null;
    const stored = this.receipts.of(broadcastId);
    // Those that were retired since are asked too: they keep their books.
    const relays = new Set([...Array.from({ length: this.relayCount }, (_, relay) => relay), ...stored.keys()]);
    const parts = await Promise.all(
      [...relays].map(async (relay) => (await this.askForReceipt(relay, broadcastId)) ?? stored.get(relay) ?? []),
    );
    return sumReceipts(seq, parts.flat());
  }

  /** Number of relays that new viewers are spread over. */
  relays(): number {
    return this.routed;
  }

  /** One relay more, unless somebody else who saw the same number came first; answers the number. */
  grow(seen: number): number {
    const relays = this.routed;
    if (relays !== seen || relays >= MAX_RELAYS) return relays;
    this.ctx.storage.kv.put("routed", relays + 1);
    this.ctx.storage.kv.put("relays", Math.max(relays + 1, this.relayCount));
    this.shrinkDue = Date.now() + SHRINK_MS;
    this.schedule();
    return relays + 1;
  }

  /**
   * Spreads new viewers over fewer relays where these have room for all, asks the viewers of the others to come back, and lets go of those
   * that are empty. Whoever still comes to one of them makes it ask for a snapshot, which takes it in again. Safe to run at any time.
   */
  async shrink(): Promise<void> {
    const relays = this.allRelays();
    const counts = await Promise.all(relays.map((relay) => withTimeout(relay.count(), ASK_TIMEOUT_MS)));
    const viewers = counts.reduce((sum, count) => sum + count, 0);
    const enough = Math.max(1, Math.ceil(viewers / (COMFORTABLE * Number(this.env.TIFO_RELAY_CAPACITY))));
    const routed = Math.min(this.routed, enough);
    this.ctx.storage.kv.put("routed", routed);
    const drained = relays.filter((_, k) => k >= routed && counts[k] !== 0);
    await Promise.all(drained.map((relay) => withTimeout(relay.drain(DRAIN_MS), ASK_TIMEOUT_MS)));
    while (this.relayCount > routed && (await this.retire(this.relayCount - 1))) this.ctx.storage.kv.put("relays", this.relayCount - 1);
  }

  /** Takes off what has ended, brings to the relays what they have not confirmed, forgets what is too old. Safe to run at any time. */
  override async alarm(): Promise<void> {
    this.alarmAt = null;
    const now = Date.now();
    this.log.expire(now);
    this.log.prune(now);
    this.receipts.prune(now);
    // Not awaited: a relay that does not answer must not hold up the next end.
    this.ctx.waitUntil(this.retry());
    if (this.relayCount > 1 && this.shrinkDue <= now) {
      this.shrinkDue = now + SHRINK_MS;
      this.ctx.waitUntil(this.shrink().catch((error: unknown) => logError("shrink_failed", error, { channel: this.name })));
    }
    this.schedule();
  }

  /** Lets go of a relay; false if it has viewers, or has asked for a snapshot meanwhile. */
  private async retire(relay: number): Promise<boolean> {
    const openings = this.fanOut.openings(relay);
    const isEmpty = await withTimeout(this.env.RELAY.getByName(relayName(this.name, relay)).retire(), ASK_TIMEOUT_MS);
    if (!isEmpty || this.fanOut.openings(relay) !== openings || relay !== this.relayCount - 1) return false;
    this.fanOut.close(relay);
    return true;
  }

  private async askForReceipt(relay: number, broadcastId: string): Promise<ReceiptPart | null> {
    try {
      return ReceiptPart.nullable().parse(
        await withTimeout(this.env.RELAY.getByName(relayName(this.name, relay)).receipt(broadcastId), ASK_TIMEOUT_MS),
      );
    } catch (error) {
      logError("relay_receipt_unknown", error, { channel: this.name, relay });
      return null;
    }
  }

  /** Brings the log to the relays. What has been written before is safe: if this fails, the alarm repeats it. */
  private async spread(): Promise<void> {
    if (this.pushed >= this.log.head) return;
    this.schedule();
    const target = this.log.head;
    if (await this.fanOut.push()) this.pushed = Math.max(this.pushed, target);
  }

  private async retry(): Promise<void> {
    await this.spread();
    this.countFailures();
    this.schedule();
  }

  /** Gives up on a relay that stays out of reach: should it come back, the next frame or viewer brings it up to date. */
  private countFailures(): void {
    this.failures = this.pushed < this.log.head ? this.failures + 1 : 0;
    if (this.failures > RETRIES) this.pushed = this.log.head;
  }

  /** Applies what the site asked of all its channels while this one was closed; answers the channel's viewers. */
  private async catchUpWithSite(): Promise<number> {
    try {
      const presence = this.env.SITE_PRESENCE.getByName(this.siteId);
      let opening = await presence.opening(this.channelId, 0);
      for (const command of opening.commands) this.apply(command);
      while (opening.next !== null) {
        opening = await presence.opening(this.channelId, opening.next);
        for (const command of opening.commands) this.apply(command);
      }
      if (opening.rules) this.applyRules(opening.rules);
      for (const change of opening.states) this.bringState(change);
      if (this.pushed < this.log.head) this.ctx.waitUntil(this.spread());
      return opening.concurrents;
    } catch (error) {
      // Viewers come first: the relay's first report makes the site repeat its commands.
      logError("site_commands_unknown", error, { channel: this.name });
      return 0;
    }
  }

  /** A state of the site, for this channel's viewers; who waits for it is the site's object. */
  private bringState(change: StateChange): void {
    if (!this.states.put(change, Date.now())) return;
    this.fanOut.state(change);
    this.ctx.waitUntil(this.fanOut.push());
  }

  private applyRules({ version, rules }: ClientRules): void {
    const own = rules.filter(({ channelId }) => channelId === null || channelId === this.channelId);
    this.log.setRules({ version, rules: own }, Date.now());
  }

  private apply(command: SiteCommand): void {
    const content: unknown = JSON.parse(command.body);
    if (command.kind === "publish") this.log.publish(Broadcast.parse(content), Date.now());
    else this.log.clear(command.id, ClearTarget.parse(content), Date.now(), command.at);
  }

  /** The next moment at which something is due: an end, or a push that no relay's answer has confirmed yet. Never moves the alarm later. */
  private schedule(): void {
    const retry = this.pushed < this.log.head ? Date.now() + RETRY_MS * 2 ** this.failures : null;
    const shrink = this.relayCount > 1 ? (this.shrinkDue ||= Date.now() + SHRINK_MS) : Infinity;
    const due = Math.min(this.log.nextEnd() ?? Infinity, retry ?? Infinity, shrink);
    if (due === Infinity || (this.alarmAt !== null && this.alarmAt <= due)) return;
    this.alarmAt = due;
    this.ctx.waitUntil(this.ctx.storage.setAlarm(due));
  }

  private allRelays() {
    return Array.from({ length: this.relayCount }, (_, relay) => this.env.RELAY.getByName(relayName(this.name, relay)));
  }

  /** As of the last change of the page that this object has heard of. */
  private get gate(): VersionedGate | null {
    return this.ctx.storage.kv.get<VersionedGate>("gate") ?? null;
  }

  private get routed(): number {
    return this.ctx.storage.kv.get<number>("routed") ?? this.relayCount;
  }

  /** With those that may still have viewers. */
  private get relayCount(): number {
    return this.ctx.storage.kv.get<number>("relays") ?? 1;
  }

  /** Position up to which every relay has confirmed. */
  private get pushed(): number {
    return this.ctx.storage.kv.get<number>("pushed") ?? 0;
  }

  private set pushed(seq: number) {
    this.ctx.storage.kv.put("pushed", seq);
  }
}
