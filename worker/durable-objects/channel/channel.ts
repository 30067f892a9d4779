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
  TimelineEntry,
  VersionedGate,
} from "./channel.protocol.ts";
import { Broadcast, ClearTarget, parseName, ReceiptPart, relayName } from "./channel.protocol.ts";
import { ChannelReceipts, sumReceipts } from "./receipts.ts";
import { FanOut } from "./fan-out.ts";
import type { HiddenChange } from "#worker/durable-objects/relay/relay.protocol.ts";
import { timelineOf } from "./timeline.ts";
import { LatestStates } from "#worker/durable-objects/latest-states.ts";

const TAIL = 256;
const MAX_RELAYS = 100;
const RETRY_MS = 2_000;
const ASK_TIMEOUT_MS = 2_000;
const RETRIES = 8;
/** How often a channel with several relays checks whether fewer suffice, and how full those may be then. */
const SHRINK_MS = 300_000;
const TARGET_LOAD = 0.5;
/** Viewers of a surplus relay reconnect to another one within this time. */
const DRAIN_MS = 30_000;

/** The source of truth for one channel: its log, active overlays, and the relays that deliver to viewers. Named `<siteId>:<channelId>`. */
export class Channel extends DurableObject<Env> {
  readonly #log: ChannelLog;
  readonly #receipts: ChannelReceipts;
  readonly #fanOut: FanOut;
  readonly #states: LatestStates;
  /** Keys of states that some relay hasn't accepted yet. */
  readonly #unsentStates = new Set<string>();
  readonly #name: string;
  readonly #siteId: string;
  readonly #channelId: string;
  #alarmAt: number | null = null;
  #failures = 0;
  #shrinkDue = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { siteId, channelId } = parseName(ctx.id.name);
    this.#siteId = siteId;
    this.#channelId = channelId;
    this.#name = `${siteId}:${channelId}`;
    this.#log = new ChannelLog(ctx.storage);
    this.#receipts = new ChannelReceipts(ctx.storage);
    this.#states = new LatestStates(ctx.storage);
    const deliver = async (relay: number, push: Push) => await env.RELAY.getByName(relayName(this.#name, relay)).deliver(push);
    this.#fanOut = new FanOut(this.#log, deliver, this.#relayCount, this.#pushed);
  }

  /** Shows a broadcast, idempotent by its id: a retry gets the first result. One that has already ended isn't sent. */
  async publish(broadcast: Broadcast): Promise<Published> {
    const published = this.#log.publish(broadcast, Date.now());
    await this.#pushLog();
    return { ...published, sockets: this.#fanOut.sockets };
  }

  /** Removes broadcasts from the screens, idempotent by `id`. */
  async clear(command: { id: string; target: ClearTarget }): Promise<Cleared> {
    const now = Date.now();
    const cleared = this.#log.clear(command.id, command.target, now, now);
    await this.#pushLog();
    return cleared;
  }

  /** Appends an event to the log, idempotent by `id`. `data` is the public part of the changed resource. */
  async emit(event: { id: string; type: ChannelEvent; data: Record<string, unknown> }): Promise<{ seq: number }> {
    // The page may have become restricted since the sender looked.
    const data = this.#isRestricted && "playbackUrl" in event.data ? { ...event.data, playbackUrl: null, gated: true } : event.data;
    const seq = this.#log.event(event.id, event.type, data, Date.now());
    await this.#pushLog();
    return { seq };
  }

  /** Sends a state to current and future viewers; the latest per key wins. Throws if a relay hasn't accepted it. */
  async state(change: StateChange): Promise<void> {
    if (!this.#states.put(change, Date.now()) && !this.#unsentStates.has(change.key)) return;
    this.#unsentStates.add(change.key);
    this.#fanOut.state(change);
    if (!(await this.#fanOut.push())) throw new Error("A relay did not accept the state");
    this.#unsentStates.delete(change.key);
  }

  /** Sends states to current viewers only, in one message. Throws if a relay hasn't accepted them. */
  async transientStates(changes: StateChange[]): Promise<void> {
    for (const change of changes) this.#fanOut.state(change);
    if (!(await this.#fanOut.push())) throw new Error("A relay did not accept the states");
  }

  /** Tells these accounts' viewers that something which only they see has changed. Throws if a relay hasn't done so. */
  async notifyAccounts(accountIds: string[], change: HiddenChange): Promise<void> {
    await Promise.all(this.#allRelays().map((relay) => withTimeout(relay.notifyAccounts(accountIds, change), ASK_TIMEOUT_MS)));
  }

  /** Bodies (`overlay.show`, JSON) of the active broadcasts, in order. */
  async active(): Promise<string[]> {
    await this.#catchUpWithSite();
    return this.#log.active(Date.now());
  }

  /** The broadcasts to everybody that were on at `since` (ms) or later, the latest first. */
  async timeline(since: number): Promise<TimelineEntry[]> {
    await this.#catchUpWithSite();
    return timelineOf(this.ctx.storage.sql, this.#log.head, since);
  }

  /** For a viewer further behind than its relay's cache: the next frames, or null if the log no longer reaches back that far. */
  framesAfter(epoch: string, seq: number, limit: number): LogFrame[] | null {
    return epoch === this.#log.epoch ? this.#log.framesAfter(seq, limit) : null;
  }

  /** All that a relay needs to accept viewers; from then on it receives every push. */
  async snapshot(relay: number): Promise<Snapshot> {
    // The Worker's cached gate may still admit viewers.
    if (this.ctx.storage.kv.get<boolean>("ended")) throw new Error("The channel has ended");
    const concurrents = await this.#catchUpWithSite();
    if (relay >= this.#relayCount) this.ctx.storage.kv.put("relays", relay + 1);
    this.#fanOut.open(relay);
    const { epoch, head } = this.#log;
    const active = this.#log.offered(Date.now(), 0, head);
    return {
      epoch,
      head,
      active,
      rules: this.#log.rules(),
      states: this.#states.current(Date.now()),
      gate: this.#gate,
      tail: this.#log.tail(TAIL),
      concurrents,
    };
  }

  /** The next page of a snapshot's `active`: frames after `seq`, up to the snapshot's `head`. */
  offered(seq: number, head: number): FramePage {
    return this.#log.offered(Date.now(), seq, head);
  }

  /** Sends the viewers the site's client rules that apply to this channel. Safe to repeat, also out of order. */
  async setRules(clientRules: ClientRules): Promise<void> {
    this.#applyRules(clientRules);
    await this.#pushLog();
  }

  /** Applies site-wide commands, each once. */
  async applyCommands(commands: SiteCommand[]): Promise<void> {
    for (const command of commands) this.#apply(command);
    await this.#pushLog();
  }

  /**
   * After a page change: disconnects viewers who don't pass the gate, and removes from the log the URLs that a restricted page gives to
   * nobody in frames. Safe to repeat. Throws if a relay hasn't done so.
   */
  async checkGate(): Promise<void> {
    const read = await readGate(this.env, this.#siteId, this.#channelId);
    if (read && read.gate.version >= (this.#gate?.version ?? 0)) {
      this.ctx.storage.kv.put("gate", read.gate);
      this.ctx.storage.kv.put("restricted", read.isRestricted);
    }
    const gate = this.#gate;
    const isRestricted = this.#isRestricted;
    if (isRestricted) this.#log.redactUrls();
    // In the same turn as the write above: a relay that requests its snapshot later receives this gate with it.
    if (gate) await Promise.all(this.#allRelays().map((relay) => withTimeout(relay.setGate(gate, isRestricted), ASK_TIMEOUT_MS)));
  }

  /** After the channel is deleted: clears everything and disconnects its viewers. Safe to repeat. */
  async end(command: { id: string }): Promise<void> {
    this.ctx.storage.kv.put("ended", true);
    await this.clear({ id: command.id, target: { all: true } });
    await Promise.all(this.#allRelays().map((relay) => relay.end()));
  }

  /** Stores a relay's delivery counts. They are absolute, so a retry changes nothing. */
  takeReceipts(relay: number, parts: ReceiptPart[]): void {
    this.#receipts.take(relay, parts, Date.now());
  }

  /** A broadcast's receipt from each relay's current counts, or its last reported ones; null if it never reached this channel. */
  async receipt(broadcastId: string): Promise<ChannelReceipt | null> {
    const seq = this.#log.positionOf(broadcastId);
    if (seq === null) return null;
    const stored = this.#receipts.of(broadcastId);
    // Retired relays are asked too: they keep their counts.
    const relays = new Set([...Array.from({ length: this.#relayCount }, (_, relay) => relay), ...stored.keys()]);
    const parts = await Promise.all(
      [...relays].map(async (relay) => (await this.#askForReceipt(relay, broadcastId)) ?? stored.get(relay) ?? []),
    );
    return sumReceipts(seq, parts.flat());
  }

  /** Number of relays that new viewers are distributed over. */
  relays(): number {
    return this.#routed;
  }

  /** Adds a relay, unless another caller that saw the same number already has; returns the number. */
  grow(seen: number): number {
    const relays = this.#routed;
    if (relays !== seen || relays >= MAX_RELAYS) return relays;
    this.ctx.storage.kv.put("routed", relays + 1);
    this.ctx.storage.kv.put("relays", Math.max(relays + 1, this.#relayCount));
    this.#shrinkDue = Date.now() + SHRINK_MS;
    this.#schedule();
    return relays + 1;
  }

  /**
   * Distributes new viewers over fewer relays if those have room for all, asks the viewers of the others to reconnect, and retires empty
   * ones. A viewer that still reaches a retired relay makes it request a snapshot, which adds it again. Safe to run at any time.
   */
  async shrink(): Promise<void> {
    const relays = this.#allRelays();
    const counts = await Promise.all(relays.map((relay) => withTimeout(relay.count(), ASK_TIMEOUT_MS)));
    const viewers = counts.reduce((sum, count) => sum + count, 0);
    const enough = Math.max(1, Math.ceil(viewers / (TARGET_LOAD * Number(this.env.TIFO_RELAY_CAPACITY))));
    const routed = Math.min(this.#routed, enough);
    this.ctx.storage.kv.put("routed", routed);
    const drained = relays.filter((_, k) => k >= routed && counts[k] !== 0);
    await Promise.all(drained.map((relay) => withTimeout(relay.drain(DRAIN_MS), ASK_TIMEOUT_MS)));
    while (this.#relayCount > routed && (await this.#retire(this.#relayCount - 1))) this.ctx.storage.kv.put("relays", this.#relayCount - 1);
  }

  /** Ends expired broadcasts, pushes what relays haven't confirmed, prunes old data. Safe to run at any time. */
  override async alarm(): Promise<void> {
    this.#alarmAt = null;
    const now = Date.now();
    this.#log.expire(now);
    this.#log.prune(now);
    this.#receipts.prune(now);
    // Not awaited: an unresponsive relay must not delay the next expiry.
    this.ctx.waitUntil(this.#retry());
    if (this.#relayCount > 1 && this.#shrinkDue <= now) {
      this.#shrinkDue = now + SHRINK_MS;
      this.ctx.waitUntil(this.shrink().catch((error: unknown) => logError("shrink_failed", error, { channel: this.#name })));
    }
    this.#schedule();
  }

  /** Retires a relay; false if it has viewers or has requested a snapshot in the meantime. */
  async #retire(relay: number): Promise<boolean> {
    const openings = this.#fanOut.openings(relay);
    const isEmpty = await withTimeout(this.env.RELAY.getByName(relayName(this.#name, relay)).retire(), ASK_TIMEOUT_MS);
    if (!isEmpty || this.#fanOut.openings(relay) !== openings || relay !== this.#relayCount - 1) return false;
    this.#fanOut.close(relay);
    return true;
  }

  async #askForReceipt(relay: number, broadcastId: string): Promise<ReceiptPart | null> {
    try {
      return ReceiptPart.nullable().parse(
        await withTimeout(this.env.RELAY.getByName(relayName(this.#name, relay)).receipt(broadcastId), ASK_TIMEOUT_MS),
      );
    } catch (error) {
      logError("relay_receipt_unknown", error, { channel: this.#name, relay });
      return null;
    }
  }

  /** Pushes the log to the relays. The log is already stored: if a push fails, the alarm retries it. */
  async #pushLog(): Promise<void> {
    if (this.#pushed >= this.#log.head) return;
    this.#schedule();
    const target = this.#log.head;
    if (await this.#fanOut.push()) this.#pushed = Math.max(this.#pushed, target);
  }

  async #retry(): Promise<void> {
    await this.#pushLog();
    this.#countFailures();
    this.#schedule();
  }

  /** Gives up on a relay that stays unreachable. If it comes back, the next frame or viewer brings it up to date. */
  #countFailures(): void {
    this.#failures = this.#pushed < this.#log.head ? this.#failures + 1 : 0;
    if (this.#failures > RETRIES) this.#pushed = this.#log.head;
  }

  /** Applies the site-wide commands given while this channel was closed; returns its number of viewers. */
  async #catchUpWithSite(): Promise<number> {
    try {
      const presence = this.env.SITE_PRESENCE.getByName(this.#siteId);
      let opening = await presence.opening(this.#channelId, 0);
      for (const command of opening.commands) this.#apply(command);
      while (opening.next !== null) {
        opening = await presence.opening(this.#channelId, opening.next);
        for (const command of opening.commands) this.#apply(command);
      }
      if (opening.rules) this.#applyRules(opening.rules);
      for (const change of opening.states) this.#applyState(change);
      if (this.#pushed < this.#log.head) this.ctx.waitUntil(this.#pushLog());
      return opening.concurrents;
    } catch (error) {
      // Don't keep viewers waiting: the relay's first report makes the site repeat its commands.
      logError("site_commands_unknown", error, { channel: this.#name });
      return 0;
    }
  }

  /** Sends a site-wide state to this channel's viewers without waiting: the site's object tracks delivery. */
  #applyState(change: StateChange): void {
    if (!this.#states.put(change, Date.now())) return;
    this.#fanOut.state(change);
    this.ctx.waitUntil(this.#fanOut.push());
  }

  #applyRules({ version, rules }: ClientRules): void {
    const own = rules.filter(({ channelId }) => channelId === null || channelId === this.#channelId);
    this.#log.setRules({ version, rules: own }, Date.now());
  }

  #apply(command: SiteCommand): void {
    const content: unknown = JSON.parse(command.body);
    if (command.kind === "publish") this.#log.publish(Broadcast.parse(content), Date.now());
    else this.#log.clear(command.id, ClearTarget.parse(content), Date.now(), command.at);
  }

  /** Sets the alarm for the next expiry, retry of an unconfirmed push, or shrink check. Never moves the alarm later. */
  #schedule(): void {
    const retry = this.#pushed < this.#log.head ? Date.now() + RETRY_MS * 2 ** this.#failures : null;
    const shrink = this.#relayCount > 1 ? (this.#shrinkDue ||= Date.now() + SHRINK_MS) : Infinity;
    const due = Math.min(this.#log.nextEnd() ?? Infinity, retry ?? Infinity, shrink);
    if (due === Infinity || (this.#alarmAt !== null && this.#alarmAt <= due)) return;
    this.#alarmAt = due;
    this.ctx.waitUntil(this.ctx.storage.setAlarm(due));
  }

  #allRelays() {
    return Array.from({ length: this.#relayCount }, (_, relay) => this.env.RELAY.getByName(relayName(this.#name, relay)));
  }

  /** As of the last page change that this object was notified of. */
  get #gate(): VersionedGate | null {
    return this.ctx.storage.kv.get<VersionedGate>("gate") ?? null;
  }

  /** Whether the page limits who may watch, when or where. */
  get #isRestricted(): boolean {
    return this.ctx.storage.kv.get<boolean>("restricted") ?? false;
  }

  get #routed(): number {
    return this.ctx.storage.kv.get<number>("routed") ?? this.#relayCount;
  }

  /** Includes relays that are being drained and may still have viewers. */
  get #relayCount(): number {
    return this.ctx.storage.kv.get<number>("relays") ?? 1;
  }

  /** Position that every relay has confirmed. */
  get #pushed(): number {
    return this.ctx.storage.kv.get<number>("pushed") ?? 0;
  }

  set #pushed(seq: number) {
    this.ctx.storage.kv.put("pushed", seq);
  }
}
