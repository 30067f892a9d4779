import { SiteObject } from "#worker/durable-objects/site-object.ts";
import { logError } from "#worker/lib/log.ts";
import { segmentLabel } from "#worker/lib/segments.ts";
import { recordActivity, type Seen } from "#worker/services/realtime/activity.ts";
import type { ChatBatch, ChatDelivered, RoomPosition } from "#worker/durable-objects/chat-room/chat-room.protocol.ts";
import type {
  AccountTags,
  Census,
  Delivered,
  LogFrame,
  PresenceReport,
  Push,
  ReceiptPart,
  RelayRejection,
  VersionedGate,
} from "#worker/durable-objects/channel/channel.protocol.ts";
import { channelName, parseName, VIEWER_HEADER, ViewerIdentity } from "#worker/durable-objects/channel/channel.protocol.ts";
import { RelayParent } from "./relay-parent.ts";
import { RelayMetrics } from "./metrics.ts";
import { isChatFrame, RelayChat } from "./chat.ts";
import type { Position, RelayCache } from "./cache.ts";
import { RelayCensus } from "./census.ts";
import {
  concurrentsFrame,
  audienceOf,
  drainFrame,
  messageByAudience,
  messagesOf,
  pongFrame,
  hiddenChangeFrame,
  reaches,
  readViewerFrame,
  stateFrames,
  welcomeFrame,
} from "./frames.ts";
import { RelayStream, type StreamPorts } from "./relay-stream.ts";
import { rejection } from "./rejection.ts";
import { type Admission, RelayRights } from "./rights.ts";
import { newAttachment, takeToken, RelaySockets } from "./sockets.ts";
import { CLOSE, type HiddenChange, OUTPUT_FRAMES, PING, PONG } from "./relay.protocol.ts";
import { socketLimits } from "./socket-quota.ts";
import { UsedTicketStore } from "./used-ticket-store.ts";
import { castVoteFrame } from "./votes.ts";
import { numberOf } from "#worker/lib/variables.ts";

/**
 * Holds the sockets of some of a channel's viewers, named `<siteId>:<channelId>:<k>`. It stores no frames: the channel is the source of
 * truth, and anything missing here is requested again.
 */
export class Relay extends SiteObject {
  readonly #channel: string;
  readonly #parent: RelayParent;
  readonly #heartbeatMs: number;
  readonly #sockets: RelaySockets;
  readonly #stream: RelayStream;
  readonly #usedTickets: UsedTicketStore;
  #joining = 0;
  #concurrents = 0;
  #alarmAt: number | null = null;
  readonly #metrics: RelayMetrics;
  readonly #census: RelayCensus;
  readonly #rights: RelayRights;
  readonly #chat: RelayChat;
  /** When to record next that the viewers are still connected, ms. */
  #presenceDue = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { siteId, channelId, relay } = parseName(ctx.id.name);
    this.#channel = channelName(siteId, channelId);
    this.#parent = new RelayParent(env, { siteId, channelId, relay });
    this.#heartbeatMs = numberOf(env, "TIFO_HEARTBEAT_SECONDS") * 1000;
    this.#stream = new RelayStream(this.#streamPorts(), ctx.storage.kv.get<Position>("position") ?? null);
    this.#sockets = new RelaySockets(ctx, socketLimits(env), (gone) => {
      this.ctx.waitUntil(this.#wakeBy(this.#census.markChanged()));
      if (gone) this.#metrics.visited(gone.viewer, gone.until);
    });
    const sink = {
      receipts: (parts: ReceiptPart[]) => this.#parent.takeReceipts(parts),
      activity: (seen: Seen[]) => recordActivity(env, siteId, seen),
      failed: (error: unknown) => this.#logFailure("relay_metrics_failed", error),
    };
    this.#metrics = new RelayMetrics(ctx.storage, channelId, this.#sockets, sink, (at) => this.ctx.waitUntil(this.#wakeBy(at)));
    const report = (one: PresenceReport) => this.#parent.report({ ...one, segments: this.#rights.segmentsVersion });
    this.#census = new RelayCensus({ channelId, relay }, this.#sockets, this.#heartbeatMs, report);
    this.#rights = new RelayRights(env, { siteId, channelId }, this.#sockets, ctx.storage.kv, {
      wakeBy: (at) => this.ctx.waitUntil(this.#wakeBy(at)),
      position: () => this.#stream.seq,
    });
    this.#chat = new RelayChat(env, { siteId, channelId, relay }, this.#sockets, ctx.storage.kv);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG));
    this.#usedTickets = new UsedTicketStore(ctx.storage);
  }

  get capacity(): number {
    return numberOf(this.env, "TIFO_RELAY_CAPACITY");
  }

  /** Accepts a viewer, or rejects it with a reason that the Worker turns into the viewer's error. */
  override async fetch(request: Request): Promise<Response> {
    const viewer = ViewerIdentity.parse(JSON.parse(decodeURIComponent(request.headers.get(VIEWER_HEADER) ?? "")));
    if (viewer.nonce && !(await this.#usedTickets.use(viewer.nonce))) return rejection("ticket_used");
    if (this.#sockets.size + this.#joining >= this.capacity) return rejection("full");
    if (!this.#sockets.reserve(viewer)) return rejection("over_quota");
    this.#joining++;
    let entered: Response | RelayRejection | null = null;
    try {
      entered = await this.#rights.enter(viewer, {
        open: () => this.#stream.open(),
        // Last, so that no frame is sent between these and those that follow.
        prepare: () => (viewer.resume ? this.#stream.missedSince(viewer.resume) : null),
        admit: (missed, right) => {
          const { cache } = this.#stream;
          if (!cache) throw new Error("All viewers were disconnected while this one was being admitted");
          return this.#welcome(viewer, cache, missed, right);
        },
      });
      return entered instanceof Response ? entered : rejection(entered);
    } finally {
      this.#joining--;
      if (!(entered instanceof Response)) this.#sockets.release(viewer);
    }
  }

  /** Forwards the channel's frames, skipping those already sent. After a gap it sends none and returns the position it needs to continue. */
  deliver(push: Push): Delivered {
    return this.#stream.deliver(push);
  }

  /** Hands a batch of the chat to the sockets that have joined it. */
  deliverChat(batch: ChatBatch): Promise<ChatDelivered> {
    return this.#chat.deliver(batch);
  }

  /** The chat position that those sockets have reached; null if none has joined. */
  chatPosition(): RoomPosition | null {
    return this.#chat.position;
  }

  /** Sends the viewers the channel's total number of viewers over all relays. */
  announce(concurrents: number): void {
    if (concurrents === this.#concurrents) return;
    this.#concurrents = concurrents;
    const head = this.#stream.seq;
    const text = concurrentsFrame(head, concurrents);
    this.#sockets.broadcast(() => ({ text, upTo: head }), Date.now());
  }

  count(segment?: string): number {
    return this.#sockets.countReached(segment === undefined ? null : [segmentLabel(segment)]);
  }

  /** Retires this relay if it has no viewers and admits none; a later viewer makes it request a snapshot. */
  retire(): boolean {
    if (this.#sockets.size + this.#joining > 0) return false;
    this.#stream.close();
    return true;
  }

  takeCensus(): Census {
    return this.#census.current();
  }

  /** Asks the viewers to reconnect within `spread` ms, each at a random moment; returns how many were asked. */
  drain(spread: number): number {
    this.#sockets.sendEach(() => drainFrame(this.#stream.seq, Math.floor(Math.random() * spread)));
    return this.#sockets.size;
  }

  /** This relay's counts for a broadcast; null if it isn't a recent one. */
  receipts(broadcastIds: string[]): ReceiptPart[] {
    return this.#metrics.receipts(broadcastIds);
  }

  /** Sets the tags of these accounts' viewers, from the next frame on, and notifies them. */
  retag(accounts: AccountTags[]): void {
    this.#sockets.retag(accounts, this.#stream.seq);
  }

  /** Tells these accounts' viewers that something which only they see has changed. */
  notifyAccounts(accountIds: string[], change: HiddenChange): void {
    this.#sockets.sendToAccounts(new Set(accountIds), hiddenChangeFrame(this.#stream.seq, change));
  }

  /** Disconnects viewers of these accounts and outputs that have lost access. Throws if the lookup fails. */
  async checkRights(ownerIds: string[]): Promise<void> {
    await this.#rights.check(ownerIds);
    await this.#chat.recheck(ownerIds);
  }

  /** Evaluates the site's segments again, unless all sockets already are by this version of the site. Throws if the lookup fails. */
  setSegments(version: number): Promise<void> {
    return this.#rights.setSegments(version);
  }

  /** Disconnects viewers that don't pass the channel's new gate. Throws if the lookup fails; the alarm retries it. */
  async setGate(gate: VersionedGate, isRestricted = false): Promise<void> {
    this.#stream.restrict(isRestricted);
    await this.#rights.setGate(gate);
  }

  /** Writes the counts that are only in memory; the alarm does so on its own. */
  settle(): Promise<void> {
    return this.#metrics.settle();
  }

  /** Disconnects every viewer because the channel was deleted. */
  end(): void {
    this.#stream.close();
    this.#sockets.rejectAll(CLOSE.notFound, "not_found", "The site has no such channel");
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void | Promise<void> {
    const viewer = this.#sockets.get(socket);
    if (!viewer) return;
    const now = Date.now();
    this.#sockets.markActive(socket, viewer, now, this.#heartbeatMs / 6);
    if (!takeToken(viewer, now)) return this.#sockets.reject(socket, CLOSE.tooMany, "too_many_frames", "Too many frames in a short time");
    const frame = readViewerFrame(message);
    if (!frame) return this.#sockets.reportBadFrame(socket, viewer, "Not a valid viewer frame");
    if (viewer.outputId !== null && !OUTPUT_FRAMES.has(frame.type))
      return this.#sockets.reportBadFrame(socket, viewer, "An output only reads");
    if (frame.type === "vote") {
      const result = castVoteFrame(this.env, parseName(this.#channel), viewer.accountId, frame, () => this.#stream.seq);
      return result.then((text) => this.#sockets.sendTo(socket, text));
    }
    if (isChatFrame(frame)) return this.#chat.handle(socket, viewer, frame);
    if (frame.type === "ping") return this.#sockets.sendTo(socket, pongFrame(this.#stream.seq));
    this.#metrics.record(socket, viewer, frame, this.#stream.seq, now);
  }

  override webSocketClose(socket: WebSocket): void {
    this.#sockets.close(socket, 1000, "");
  }

  override webSocketError(socket: WebSocket): void {
    this.#sockets.close(socket, 1000, "");
  }

  /** Closes silent sockets and those that have lost access, reports presence, and writes metrics. Safe to run at any time. */
  override async alarm(): Promise<void> {
    const now = Date.now();
    this.#alarmAt = null;
    this.#sockets.closeSilent(now - this.#heartbeatMs);
    this.#usedTickets.prune(now);
    if (this.#presenceDue <= now) {
      this.#presenceDue = now + this.#heartbeatMs;
      this.#metrics.recordPresence(now);
    }
    if (this.#metrics.due <= now) await this.#metrics.settle();
    await this.#rights.checkDue(now).catch((error: unknown) => this.#logFailure("access_check_failed", error));
    await this.#census.reportDueNow(now, async (error, retryAt) => {
      this.#logFailure("presence_report_failed", error);
      await this.#wakeBy(retryAt);
    });
    const due = Math.min(this.#census.due, this.#metrics.due, this.#rights.due);
    if (due !== Infinity) await this.#wakeBy(due);
  }

  #logFailure(event: string, error: unknown): void {
    logError(event, error, { relay: this.ctx.id.name });
  }

  /** Accepts and welcomes in one turn, so that no frame is sent in between. */
  #welcome(viewer: ViewerIdentity, cache: RelayCache, missed: LogFrame[] | null, { until, segments }: Admission): Response {
    const now = Date.now();
    const { 0: client, 1: server } = new WebSocketPair();
    const audience = audienceOf(viewer.tags, segments);
    const bodiesOf = (frames: LogFrame[]) => frames.filter((frame) => reaches(frame, audience)).map((frame) => frame.body);
    const overlays = missed ? [] : cache.overlays(now);
    this.#sockets.accept(server, newAttachment(viewer, { head: cache.head, until, segments, now }), cache.head);
    this.#metrics.joined({ accountId: viewer.accountId, audience }, missed ?? overlays, now);
    const welcome = welcomeFrame({
      epoch: cache.epoch,
      seq: cache.head,
      upTo: missed && viewer.resume ? viewer.resume.seq : cache.head,
      now,
      recovered: missed !== null,
      overlays: bodiesOf(overlays),
      rules: missed ? [] : bodiesOf(cache.rules()),
      concurrents: Math.max(this.#concurrents, this.#sockets.size),
      heartbeat: this.#heartbeatMs / 1000,
    });
    for (const message of messagesOf([welcome, ...bodiesOf(missed ?? []), ...stateFrames(cache.head, cache.states())]))
      server.send(message);
    return new Response(null, { status: 101, webSocket: client });
  }

  #streamPorts(): StreamPorts {
    const channel = () => this.env.CHANNEL.getByName(this.#channel);
    return {
      snapshot: () => this.#parent.snapshot(),
      offered: async (seq, head) => await channel().offered(seq, head),
      framesAfter: async (epoch, seq, limit) => await channel().framesAfter(epoch, seq, limit),
      sockets: () => this.#sockets.size,
      joining: () => this.#joining,
      forward: (frames, states, upTo) => this.#forward(frames, stateFrames(upTo, states), upTo),
      disconnectAll: () => this.#sockets.closeAll(CLOSE.startOver, "reconnect"),
      store: (position) => this.ctx.storage.kv.put("position", position),
      loaded: ({ gate, concurrents }) => {
        if (gate) this.#rights.noteGate(gate);
        this.#concurrents ||= concurrents;
      },
    };
  }

  #forward(frames: LogFrame[], states: string[], upTo: number): void {
    const messageFor = messageByAudience(frames, states, upTo);
    this.#metrics.sending(frames, () => this.#sockets.broadcast(messageFor, Date.now()));
    this.#chat.yieldToOverlay();
  }

  async #wakeBy(at: number): Promise<void> {
    if (this.#alarmAt !== null && this.#alarmAt <= at) return;
    this.#alarmAt = at;
    // What is overdue is due at 0, which setAlarm rejects.
    await this.ctx.storage.setAlarm(Math.max(at, Date.now()));
  }
}
