import { SiteObject } from "#worker/durable-objects/site-object.ts";
import { logError } from "#worker/lib/log.ts";
import { readGate } from "#worker/services/realtime/rights.ts";
import { ChannelLog } from "./log.ts";
import type {
  ChannelEvent,
  ChannelReceipt,
  Cleared,
  ClientRules,
  FramePage,
  LogFrame,
  Published,
  ReceiptPart,
  RecordingPage,
  RecordingQuery,
  SiteCommand,
  Snapshot,
  StateChange,
  TimelineEntry,
  VersionedGate,
} from "./channel.protocol.ts";
import { type Broadcast, type ClearTarget, parseName } from "./channel.protocol.ts";
import { ChannelRelays } from "./channel-relays.ts";
import { DIRECT_RELAYS, MAX_RELAYS, type RelayCounts } from "#worker/durable-objects/branch/branch.protocol.ts";
import { requireAll } from "#worker/durable-objects/branch/outcome.ts";
import { ChannelReceipts, latestParts, sumReceipts } from "./receipts.ts";
import { FanOut } from "./fan-out.ts";
import type { HiddenChange } from "#worker/durable-objects/relay/relay.protocol.ts";
import { timelineOf } from "./timeline.ts";
import { LatestStates } from "#worker/durable-objects/latest-states.ts";
import { numberOf } from "#worker/lib/variables.ts";

const TAIL = 256;
const RETRY_MS = 2_000;
const RETRIES = 8;
/** How often a channel with several relays checks whether fewer suffice, and how full those may be then. */
const SHRINK_MS = 300_000;
const TARGET_LOAD = 0.5;
/** Viewers of a surplus relay reconnect to another one within this time. */
const DRAIN_MS = 30_000;

/** The source of truth for one channel: its log, active overlays, and the relays that deliver to viewers. Named `<siteId>:<channelId>`. */
export class Channel extends SiteObject {
  readonly #log: ChannelLog;
  readonly #receipts: ChannelReceipts;
  readonly #fanOut: FanOut;
  readonly #relays: ChannelRelays;
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
    this.#relays = new ChannelRelays(env, this.#name);
    this.#fanOut = new FanOut(this.#log, (relay, push, alone) => this.#relays.deliver(relay, push, alone), this.#relayCount, this.#pushed);
  }

  /** Shows a broadcast, idempotent by its id: a retry gets the first result. One that has already ended isn't sent. */
  async publish(broadcast: Broadcast): Promise<Published> {
    const published = this.#log.publish(broadcast, Date.now());
    await this.#pushLog();
    return { ...published, sockets: this.#fanOut.sockets };
  }

  /** Removes broadcasts from the screens, idempotent by `id`. */
  async clear(command: { id: string; target: ClearTarget }): Promise<Cleared> {
    const cleared = this.#log.clear(command.id, command.target, Date.now());
    await this.#pushLog();
    return cleared;
  }

  /** Whether it shows a broadcast, or its recording has it. */
  async has(broadcastId: string): Promise<boolean> {
    await this.#catchUpWithSite();
    return this.#log.has(broadcastId);
  }

  /** Removes a broadcast from the screens and the recording, idempotent by `id`. */
  async retract(command: { id: string; broadcastId: string }): Promise<void> {
    this.#log.retract(command.id, command.broadcastId, Date.now());
    await this.#pushLog();
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
    requireAll(await this.#relays.notifyAccounts(this.#all, accountIds, change));
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

  /** A page of the broadcasts to everybody, for a recording of the channel's video. */
  async recording(query: RecordingQuery): Promise<RecordingPage> {
    await this.#catchUpWithSite();
    return this.#log.recording.page(query, Date.now());
  }

  /** For a viewer further behind than its relay's cache: the next frames, or null if the log no longer reaches back that far. */
  framesAfter(epoch: string, seq: number, limit: number): LogFrame[] | null {
    return epoch === this.#log.epoch ? this.#log.framesAfter(seq, limit) : null;
  }

  /** All that a relay needs to accept viewers; from then on it receives every push. */
  snapshot(relay: number): Promise<Snapshot> {
    return this.snapshotFor([relay]);
  }

  /** The same for several relays at once. */
  async snapshotFor(relays: number[]): Promise<Snapshot> {
    // The Worker's cached gate may still admit viewers.
    if (this.ctx.storage.kv.get<boolean>("ended")) throw new Error("The channel has ended");
    const concurrents = await this.#catchUpWithSite();
    const last = Math.max(...relays);
    if (last >= this.#relayCount) this.ctx.storage.kv.put("relays", last + 1);
    for (const relay of relays) this.#fanOut.open(relay);
    const { epoch, head } = this.#log;
    return {
      epoch,
      head,
      active: this.#log.offered(Date.now(), 0, head),
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
    for (const command of commands) this.#log.apply(command, Date.now());
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
    const [gate, isRestricted] = [this.#gate, this.#isRestricted];
    if (isRestricted) {
      this.#log.redactUrls();
      this.#fanOut.reread();
    }
    // In the same turn as the write above: a relay that requests its snapshot later receives this gate with it.
    if (gate) requireAll(await this.#relays.setGate(this.#all, gate, isRestricted));
  }

  /** After the channel is deleted: clears everything and disconnects its viewers. Safe to repeat. */
  async end(command: { id: string }): Promise<void> {
    this.ctx.storage.kv.put("ended", true);
    await this.clear({ id: command.id, target: { all: true } });
    this.#log.recording.deleteAll();
    requireAll(await this.#relays.end(this.#all));
  }

  /** Its relays first, because they would ask it for their snapshots. */
  override async destroy(): Promise<void> {
    requireAll(await this.#relays.destroy(this.#all));
    return super.destroy();
  }

  /** Stores a relay's delivery counts. They are absolute, so a retry changes nothing. */
  takeReceipts(relay: number, parts: ReceiptPart[]): void {
    this.#receipts.take(relay, parts, Date.now());
  }

  /** The same for several relays at once. */
  takeCounts(counts: RelayCounts[]): void {
    for (const { relay, parts } of counts) this.takeReceipts(relay, parts);
  }

  /** Each broadcast's receipt from each relay's current counts, or its last reported ones; null if it never reached this channel. */
  async receipts(broadcastIds: string[]): Promise<(ChannelReceipt | null)[]> {
    const known = broadcastIds.map((id) => ({ id, seq: this.#log.positionOf(id) }));
    const sent = known.flatMap(({ id, seq }) => (seq === null ? [] : id));
    if (sent.length === 0) return known.map(() => null);
    const stored = this.#receipts.of(sent);
    // Retired relays are asked too: they keep their counts.
    const relays = [...new Set([...this.#all, ...stored.map(({ relay }) => relay)])];
    const parts = latestParts(stored, relays, await this.#relays.receipts(relays, sent));
    return known.map(({ id, seq }) => (seq === null ? null : sumReceipts(seq, parts.get(id) ?? [])));
  }

  /** Number of relays that new viewers are distributed over. */
  relays(): number {
    return this.#routed;
  }

  /** Adds relays, a few if it has many, unless another caller that saw the same number already has; returns the number. */
  grow(seen: number): number {
    const relays = this.#routed;
    if (relays !== seen || relays >= MAX_RELAYS) return relays;
    // A large audience fills one relay in a moment.
    const grown = Math.min(MAX_RELAYS, relays + Math.ceil(relays / DIRECT_RELAYS));
    this.ctx.storage.kv.put("routed", grown);
    this.ctx.storage.kv.put("relays", Math.max(grown, this.#relayCount));
    this.#shrinkDue = Date.now() + SHRINK_MS;
    this.#schedule();
    return grown;
  }

  /**
   * Distributes new viewers over fewer relays if those have room for all, asks the viewers of the others to reconnect, and retires empty
   * ones. A viewer that still reaches a retired relay makes it request a snapshot, which adds it again. Safe to run at any time.
   */
  async shrink(): Promise<void> {
    const relays = this.#all;
    const counts = requireAll(await this.#relays.count(relays));
    const viewers = counts.reduce((sum, count) => sum + count, 0);
    const enough = Math.max(1, Math.ceil(viewers / (TARGET_LOAD * numberOf(this.env, "TIFO_RELAY_CAPACITY"))));
    const routed = Math.min(this.#routed, enough);
    this.ctx.storage.kv.put("routed", routed);
    const surplus = relays.filter((relay) => relay >= routed);
    const occupied = surplus.filter((relay) => counts[relay] !== 0);
    requireAll(await this.#relays.drain(occupied, DRAIN_MS));
    await this.#retire(surplus);
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

  /** Retires the last of these relays, up to the first that has viewers or has requested a snapshot in the meantime. */
  async #retire(relays: number[]): Promise<void> {
    const openings = relays.map((relay) => this.#fanOut.openings(relay));
    const retired = await this.#relays.retire(relays);
    for (const [i, relay] of [...relays.entries()].reverse()) {
      if (!retired[i] || this.#fanOut.openings(relay) !== openings[i] || relay !== this.#relayCount - 1) return;
      this.#fanOut.close(relay);
      this.ctx.storage.kv.put("relays", relay);
    }
  }

  /** Pushes the log to the relays. The log is already stored: if a push fails, the alarm retries it. */
  async #pushLog(): Promise<void> {
    const target = this.#log.head;
    if (this.#pushed >= target) return;
    this.#schedule();
    if (await this.#fanOut.push()) this.#pushed = Math.max(this.#pushed, target);
  }

  async #retry(): Promise<void> {
    await this.#pushLog();
    this.#failures = this.#pushed < this.#log.head ? this.#failures + 1 : 0;
    // Gives up on a relay that stays unreachable. If it comes back, the next frame or viewer brings it up to date.
    if (this.#failures > RETRIES) this.#pushed = this.#log.head;
    this.#schedule();
  }

  /** Applies the site-wide commands given while this channel was closed; returns its number of viewers. */
  async #catchUpWithSite(): Promise<number> {
    try {
      const presence = this.env.SITE_PRESENCE.getByName(this.#siteId);
      let opening = await presence.opening(this.#channelId, 0);
      for (; ; opening = await presence.opening(this.#channelId, opening.next)) {
        for (const command of opening.commands) this.#log.apply(command, Date.now());
        if (opening.next === null) break;
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

  #applyRules({ version, rules, paused }: ClientRules): void {
    const active = paused.includes(this.#channelId) ? [] : rules;
    const own = active.filter(({ channelId }) => channelId === null || channelId === this.#channelId);
    this.#log.setRules({ version, rules: own }, Date.now());
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

  get #all(): number[] {
    return Array.from({ length: this.#relayCount }, (_, relay) => relay);
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
