import { DurableObject } from "cloudflare:workers";
import { logError } from "#worker/lib/log.ts";
import { recordActivity, type Seen } from "#worker/services/realtime/activity.ts";
import { castVoteForViewer } from "#worker/services/polls/votes.ts";
import { CALL_CHARS, charsOf } from "#worker/durable-objects/call-size.ts";
import type {
  AccountTags,
  Census,
  Delivered,
  LogFrame,
  Push,
  ReceiptPart,
  RelayRefusal,
  StateChange,
  VersionedGate,
} from "#worker/durable-objects/channel/channel.protocol.ts";
import { channelName, parseName, VIEWER_HEADER, ViewerIdentity } from "#worker/durable-objects/channel/channel.protocol.ts";
import { RelayMetrics } from "./metrics.ts";
import { allActive, RelayCache } from "./cache.ts";
import { RelayCensus } from "./census.ts";
import {
  concurrentsFrame,
  drainFrame,
  messageByTags,
  messagesOf,
  pongFrame,
  readViewerFrame,
  reaches,
  stateFrames,
  type VoteOutcome,
  voteResultFrame,
  welcomeFrame,
} from "./frames.ts";
import { refusal } from "./refusal.ts";
import { RelayRights } from "./rights.ts";
import { maySpeak, RelaySockets, type Viewer } from "./sockets.ts";
import { CLOSE, PING, PONG, type ViewerFrame } from "./relay.protocol.ts";
import { socketLimits } from "./socket-quota.ts";
import { UsedTicketStore } from "./used-ticket-store.ts";

const PAGE = 1_000;
const SIGN_IN: VoteOutcome = { ok: false, code: "unauthenticated", message: "Connect with a ticket to vote" };
const NOBODY: Delivered = { head: null, sockets: 0, idle: true };

/** The log position that every socket of this relay holds. */
interface Position {
  epoch: string;
  seq: number;
}

/**
 * The sockets of one part of a channel's viewers, named `<siteId>:<channelId>:<k>`. It keeps no frames: the channel is the truth, and
 * whatever is missing here is asked for again.
 */
export class Relay extends DurableObject<Env> {
  private readonly channel: string;
  private readonly siteId: string;
  private readonly relay: number;
  private readonly heartbeatMs: number;
  private readonly sockets: RelaySockets;
  private position: Position | null;
  private cache: RelayCache | null = null;
  private loading: Promise<RelayCache> | null = null;
  /** Frames that were pushed while a snapshot was under way. */
  private arrived: LogFrame[] = [];
  private arrivedStates: StateChange[] = [];
  private readonly spent: UsedTicketStore;
  /** Viewers on their way in. */
  private joining = 0;
  private concurrents = 0;
  private alarmAt: number | null = null;
  private readonly metrics: RelayMetrics;
  private readonly census: RelayCensus;
  private readonly rights: RelayRights;
  /** When it is to be noted next who is here, ms. */
  private presentDue = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { siteId, channelId, relay } = parseName(ctx.id.name);
    this.siteId = siteId;
    this.relay = relay;
    this.channel = channelName(siteId, channelId);
    this.heartbeatMs = Number(env.TIFO_HEARTBEAT_SECONDS) * 1000;
    this.position = ctx.storage.kv.get<Position>("position") ?? null;
    this.sockets = new RelaySockets(ctx, socketLimits(env), (gone) => {
      this.ctx.waitUntil(this.wakeBy(this.census.changed()));
      if (gone) this.metrics.visited(gone.viewer, gone.until);
    });
    const ledger = {
      receipts: async (parts: ReceiptPart[]) => await env.CHANNEL.getByName(this.channel).takeReceipts(relay, parts),
      activity: (seen: Seen[]) => recordActivity(env, siteId, seen),
      failed: (error: unknown) => this.logFailure("relay_books_failed", error),
    };
    this.metrics = new RelayMetrics(ctx.storage.sql, channelId, this.sockets, ledger, (at) => this.ctx.waitUntil(this.wakeBy(at)));
    this.census = new RelayCensus({ channelId, relay }, this.sockets, this.heartbeatMs, (report) =>
      env.SITE_PRESENCE.getByName(siteId).report(report),
    );
    this.rights = new RelayRights(env, { siteId, channelId }, this.sockets, ctx.storage.kv, (at) => this.ctx.waitUntil(this.wakeBy(at)));
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
    this.spent = new UsedTicketStore(ctx.storage.sql);
  }

  /** How many sockets it takes. */
  get capacity(): number {
    return Number(this.env.TIFO_RELAY_CAPACITY);
  }

  /** Takes a viewer. Where it doesn't, the Worker tells the viewer why, in its own way. */
  override async fetch(request: Request): Promise<Response> {
    const viewer = ViewerIdentity.parse(JSON.parse(decodeURIComponent(request.headers.get(VIEWER_HEADER) ?? "")));
    if (viewer.nonce && !(await this.spent.spend(viewer.nonce))) return refusal("spent");
    if (this.sockets.size + this.joining >= this.capacity) return refusal("full");
    if (!this.sockets.reserve(viewer)) return refusal("crowded");
    this.joining++;
    let entered: Response | RelayRefusal | null = null;
    try {
      entered = await this.rights.enter(viewer, {
        open: async () => void (this.cache ?? (await this.load())),
        // Last, so that no frame comes between these and those that follow.
        prepare: () => (viewer.resume ? this.missedSince(viewer.resume) : null),
        admit: (missed, until) => {
          if (!this.cache) throw new Error("All viewers were sent away while this one came in");
          return this.welcome(viewer, this.cache, missed, until);
        },
      });
      return entered instanceof Response ? entered : refusal(entered);
    } finally {
      this.joining--;
      if (!(entered instanceof Response)) this.sockets.release(viewer);
    }
  }

  /** Sends the channel's frames on. What the sockets hold already is skipped; after a gap nothing is sent, and the answer says from where. */
  deliver(push: Push): Delivered {
    if (this.sockets.size + this.joining === 0) {
      this.cache = null;
      return NOBODY;
    }
    if (push.lost || (this.sockets.size > 0 && this.position?.epoch !== push.epoch)) return this.startOver();
    if (this.loading) {
      this.arrived.push(...push.frames);
      this.arrivedStates.push(...push.states);
    }
    this.cache?.applyStates(push.states);
    const follows = this.sockets.size > 0 || this.cache !== null;
    if (follows) this.send(push);
    return { head: follows ? (this.position?.seq ?? 0) : null, sockets: this.sockets.size, idle: false };
  }

  /** The channel's viewers, over all relays. */
  announce(concurrents: number): void {
    if (concurrents === this.concurrents) return;
    this.concurrents = concurrents;
    const head = this.position?.seq ?? 0;
    const text = concurrentsFrame(head, concurrents);
    this.sockets.broadcast(() => ({ text, upTo: head }), Date.now());
  }

  count(): number {
    return this.sockets.size;
  }

  /** The channel lets go of this relay, if nobody is here or on the way in; whoever comes afterwards makes it ask for a snapshot. */
  retire(): boolean {
    if (this.sockets.size + this.joining > 0) return false;
    this.cache = null;
    return true;
  }

  takeCensus(): Census {
    return this.census.current();
  }

  /** Asks the viewers to come back within `spread` ms, each at its own moment, and answers how many were asked. */
  drain(spread: number): number {
    this.sockets.sendEach(() => drainFrame(this.position?.seq ?? 0, Math.floor(Math.random() * spread)));
    return this.sockets.size;
  }

  /** What is known here of a broadcast; null where it is not one of the last. */
  receipt(broadcastId: string): ReceiptPart | null {
    return this.metrics.receipt(broadcastId);
  }

  /** Gives the viewers of these accounts their tags, from the next frame on, and tells them. */
  retag(accounts: AccountTags[]): void {
    this.sockets.retag(accounts, this.position?.seq ?? 0);
  }

  /** Has those viewers of these accounts leave who have lost the right to be here. Throws if that can't be looked up. */
  async checkRights(accountIds: string[]): Promise<void> {
    await this.rights.check(accountIds);
  }

  /** Has those viewers leave who don't pass the channel's gate as it is now. Throws if that can't be looked up; the alarm tries again. */
  async setGate(gate: VersionedGate): Promise<void> {
    await this.rights.setGate(gate);
  }

  /** Writes down what has been counted and is still in memory alone; the alarm does so by itself. */
  settle(): Promise<void> {
    return this.metrics.settle();
  }

  /** Sends every viewer away because the channel is no more. */
  end(): void {
    this.cache = null;
    this.sockets.expelAll(CLOSE.notFound, "not_found", "The site has no such channel");
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void | Promise<void> {
    const viewer = this.sockets.get(socket);
    if (!viewer) return;
    const now = Date.now();
    this.sockets.heard(socket, viewer, now, this.heartbeatMs / 6);
    if (!maySpeak(viewer, now)) return this.sockets.expel(socket, CLOSE.tooMany, "too_many_frames", "Too many frames in too short a time");
    const frame = readViewerFrame(message);
    if (!frame) return this.sockets.complain(socket, viewer, "Not a frame that a viewer can send");
    if (frame.type === "vote") return this.vote(socket, viewer, frame);
    if (frame.type === "ping") return this.sockets.tell(socket, pongFrame(this.position?.seq ?? 0));
    this.metrics.heard(socket, viewer, frame, this.position?.seq ?? 0, now);
  }

  override webSocketClose(socket: WebSocket): void {
    this.sockets.close(socket, 1000, "");
  }

  override webSocketError(socket: WebSocket): void {
    this.sockets.close(socket, 1000, "");
  }

  /**
   * Closes silent sockets and those whose right has ended, reports who is here, and writes down what has been counted.
   * Safe to run at any time.
   */
  override async alarm(): Promise<void> {
    const now = Date.now();
    this.alarmAt = null;
    this.sockets.closeSilent(now - this.heartbeatMs);
    this.spent.forget(now);
    if (this.presentDue <= now) {
      this.presentDue = now + this.heartbeatMs;
      this.metrics.present(now);
    }
    if (this.metrics.due <= now) await this.metrics.settle();
    await this.rights.checkDue(now).catch((error: unknown) => this.logFailure("rights_unknown", error));
    await this.census.reportDueNow(now, async (error, retryAt) => {
      this.logFailure("presence_report_failed", error);
      await this.wakeBy(retryAt);
    });
    const due = Math.min(this.census.due, this.metrics.due, this.rights.due);
    if (due !== Infinity) await this.wakeBy(due);
  }

  /** Hands a vote on, and tells the viewer what became of it. */
  private async vote(
    socket: WebSocket,
    { accountId }: Viewer,
    { id, pollId, answerId }: Extract<ViewerFrame, { type: "vote" }>,
  ): Promise<void> {
    const cast = (voter: string) => castVoteForViewer(this.env, this.siteId, { pollId, accountId: voter, answerId, requestId: id });
    const outcome = accountId === null ? SIGN_IN : await cast(accountId);
    this.sockets.tell(socket, voteResultFrame(this.position?.seq ?? 0, id, outcome));
  }

  private logFailure(event: string, error: unknown): void {
    logError(event, error, { relay: this.ctx.id.name });
  }

  /** Accepts and welcomes in one turn, so that no frame can slip in between. */
  private welcome(viewer: ViewerIdentity, cache: RelayCache, missed: LogFrame[] | null, until: number | null): Response {
    const now = Date.now();
    const { 0: client, 1: server } = new WebSocketPair();
    const { accountId, sessionId, device, network, tags } = viewer;
    const bodiesOf = (frames: LogFrame[]) => frames.filter((frame) => reaches(frame, tags)).map((frame) => frame.body);
    const overlays = missed ? [] : cache.overlays(now);
    const attachment = {
      accountId,
      sessionId,
      until,
      device,
      network,
      tags,
      counted: cache.head,
      watching: null,
      joinedAt: now,
      heardAt: now,
    };
    this.sockets.accept(server, attachment, cache.head);
    if (until !== null) this.ctx.waitUntil(this.wakeBy(until));
    this.metrics.joined(viewer, missed ?? overlays, now);
    const welcome = welcomeFrame({
      epoch: cache.epoch,
      seq: cache.head,
      upTo: missed && viewer.resume ? viewer.resume.seq : cache.head,
      now,
      recovered: missed !== null,
      overlays: bodiesOf(overlays),
      rules: missed ? [] : bodiesOf(cache.rules()),
      concurrents: Math.max(this.concurrents, this.sockets.size),
      heartbeat: this.heartbeatMs / 1000,
    });
    for (const message of messagesOf([welcome, ...bodiesOf(missed ?? []), ...stateFrames(cache.head, cache.states())]))
      server.send(message);
    return new Response(null, { status: 101, webSocket: client });
  }

  /** All frames after what a returning viewer holds, or null where they can't be had any more or are more than one call carries. */
  private async missedSince(held: Position): Promise<LogFrame[] | null> {
    // Ahead of the memory: it comes from a relay that got a frame before this one.
    if (held.epoch === this.cache?.epoch && held.seq > this.cache.head) await this.load();
    if (held.epoch !== this.cache?.epoch || held.seq > this.cache.head) return null;
    const missed: LogFrame[] = [];
    let chars = 0;
    for (let from = held.seq; ;) {
      const near = this.cache?.after(from);
      const page = near ?? (await this.env.CHANNEL.getByName(this.channel).framesAfter(held.epoch, from, PAGE));
      chars += charsOf(page ?? []);
      if (!page || chars > CALL_CHARS) return null;
      missed.push(...page);
      if (near) return missed;
      const last = page.at(-1);
      if (!last) return null;
      from = last.seq;
    }
  }

  /** Gets the channel's snapshot, one at a time, and brings the sockets that are here up to it. */
  private load(): Promise<RelayCache> {
    this.loading ??= this.loadOnce().finally(() => {
      this.loading = null;
      this.arrived = [];
      this.arrivedStates = [];
    });
    return this.loading;
  }

  private async loadOnce(): Promise<RelayCache> {
    const channel = this.env.CHANNEL.getByName(this.channel);
    const snapshot = await channel.snapshot(this.relay);
    if (snapshot.gate) this.rights.noteGate(snapshot.gate);
    this.concurrents ||= snapshot.concurrents;
    const cache = new RelayCache(snapshot, await allActive(snapshot, (seq, head) => channel.offered(seq, head)));
    // First, since what the sockets have missed reaches up to these.
    cache.apply(this.arrived);
    cache.applyStates(this.arrivedStates);
    const behind = this.sockets.size > 0 && this.position !== null;
    if (behind && this.position?.epoch !== cache.epoch) this.startOver();
    const missed = behind ? cache.after(this.position?.seq ?? 0) : [];
    if (missed === null) this.startOver();
    else if (missed.length > 0) this.forward(missed, []);
    if (this.sockets.size > 0 && cache.head < (this.position?.seq ?? 0)) throw new Error("The channel's log lies behind this relay");
    this.cache = cache;
    this.moveTo({ epoch: cache.epoch, seq: cache.head });
    return cache;
  }

  private send(push: Push): void {
    const head = this.position?.seq ?? 0;
    const fresh = push.frames.filter((frame) => frame.seq > head);
    const last = fresh.at(-1);
    const inOrder = fresh[0]?.seq === head + 1;
    this.forward(inOrder ? fresh : [], stateFrames(inOrder && last ? last.seq : head, push.states));
    if (!inOrder || !last) return;
    this.cache?.apply(fresh);
    // Noted after the sends, which would otherwise wait for the write.
    this.moveTo({ epoch: push.epoch, seq: last.seq });
  }

  private forward(frames: LogFrame[], states: string[]): void {
    if (frames.length === 0 && states.length === 0) return;
    const messageFor = messageByTags(frames, states, frames.at(-1)?.seq ?? this.position?.seq ?? 0);
    this.metrics.sending(frames, () => this.sockets.broadcast(messageFor, Date.now()));
  }

  private moveTo(position: Position): void {
    if (this.position?.epoch === position.epoch && this.position.seq === position.seq) return;
    this.position = position;
    this.ctx.storage.kv.put("position", position);
  }

  /** The viewers hold something that can't be continued: they come back and get the full state. */
  private startOver(): Delivered {
    this.sockets.closeAll(CLOSE.startOver, "reconnect");
    this.cache = null;
    return NOBODY;
  }

  private async wakeBy(at: number): Promise<void> {
    if (this.alarmAt !== null && this.alarmAt <= at) return;
    this.alarmAt = at;
    await this.ctx.storage.setAlarm(at);
  }
}
