import type { ConnectionState } from "../model/state.ts";
import { type ChannelAddress, connectionUrl, type Position } from "./address.ts";
import { reconnectDelay } from "./backoff.ts";
import { browserEnvironment, type Environment, type Timer } from "./environment.ts";
import type { ServerFrame, ServerFrameOf, ViewerFrame } from "./protocol.ts";
import { rejectionOf } from "./rejection.ts";
import { safely } from "./report.ts";
import { isJoinOrLeave, StreamChat } from "./stream-chat.ts";
import { eventsTransport, socketTransport, type Transport, type TransportEvents } from "./transport.ts";

export interface ChannelOptions extends ChannelAddress {
  /** Receives each frame once, in the channel's order; after a gap that can't be filled, a `welcome` with the full state. */
  onFrame(frame: ServerFrame): void;
  onState?(state: ConnectionState, reason?: string): void;
  onSent?(frame: ViewerFrame): void;
  /** Returns a single-use ticket for each connection (`POST /realtime/v1/tickets`). Null: anonymous. */
  getTicket?(): Promise<string | null>;
  /** Whether media is playing. A hidden page without it disconnects after half a minute, and resumes when it is visible or media plays. */
  playing?(): boolean;
  /** The position of an earlier visit: the frames missed since then follow. */
  resume?: Position;
  environment?: Partial<Environment>;
}

/** A connection to a channel, which reconnects by itself. */
export interface ChannelConnection {
  /** The position to resume from; null until the first welcome. */
  position(): Position | null;
  /** Sends a frame. Returns false if there is no open socket; where Server-Sent Events replace it, only the chat can be joined and left. */
  send(frame: ViewerFrame): boolean;
  /** Whether frames arrive as Server-Sent Events, so that nothing can be sent. */
  isReceiveOnly(): boolean;
  /** Whether it was left or rejected for good. */
  isClosed(): boolean;
  /** Call it when the viewer changes: reconnects with a new ticket and receives the full state. Does nothing after `leave`. */
  rejoin(): void;
  leave(): void;
}

// The server accepts 20 frames a second from a viewer, so a burst is acknowledged once, with its last `seq`.
const ACK_INTERVAL = 100;
// After this many sockets without any message, Server-Sent Events are tried.
const MAX_SILENT_SOCKETS = 2;
// Milliseconds after which a socket is tried again, because the network may have changed.
const SOCKET_RETRY_INTERVAL = 60_000;
// Milliseconds within which a socket must open.
const OPEN_TIMEOUT = 5_000;
// Milliseconds within which the welcome must arrive, including the request for a ticket.
const WELCOME_TIMEOUT = 20_000;
// Milliseconds within which a socket must reply to a ping after the device wakes up.
const WAKE_TIMEOUT = 5_000;
// How often a hidden page is checked for playing media, in milliseconds.
const HIDDEN_CHECK_INTERVAL = 30_000;

/**
 * Joins a channel and stays connected: reconnects with full jitter, resumes at its position, keeps the socket alive, acknowledges frames, and
 * falls back to Server-Sent Events where sockets are blocked. If a listener throws, the error is reported (`reportError`) and frames continue.
 */
export function joinChannel(options: ChannelOptions): ChannelConnection {
  const connection = new Connection(options);
  connection.start();
  return {
    position: () => connection.resumePosition,
    send: (frame) => connection.send(frame),
    isReceiveOnly: () => connection.isReceiveOnly,
    isClosed: () => connection.isClosed,
    rejoin: () => connection.rejoin(),
    leave: () => connection.leave(),
  };
}

class Connection {
  resumePosition: Position | null;
  readonly #options: ChannelOptions;
  readonly #environment: Environment;
  readonly #removeWakeListener: () => void;
  readonly #removeHideListener: () => void;
  readonly #streamChat = new StreamChat();
  #transport: Transport | null = null;
  #attempt = 0;
  /** Consecutive sockets without any message, while online. */
  #silentSockets = 0;
  /** Whether sockets get through, according to the latest attempts. */
  #socketsWork = false;
  /** Milliseconds. */
  #socketTriedAt = 0;
  /** Whether nothing has been received on this connection yet. */
  #silent = false;
  /** Whether this connection uses Server-Sent Events. */
  #overEvents = false;
  /** Incremented per connection, so that callbacks of earlier ones are ignored. */
  #generation = 0;
  #left = false;
  #rejected = false;
  /** Disconnected because the page is hidden. */
  #suspended = false;
  #wasLive = false;
  #receivedSincePing = false;
  /** Milliseconds. */
  #pingEvery = 0;
  #acknowledged = 0;
  #rejectionReason: string | undefined;
  /** The stream that is about to replace the current one. */
  #nextStream: Transport | null = null;
  /** Incremented per such stream, so that callbacks of earlier ones are ignored. */
  #replacements = 0;
  #ackTimer: Timer | undefined;
  #openTimer: Timer | undefined;
  #welcomeTimer: Timer | undefined;
  #retryTimer: Timer | undefined;
  #pingTimer: Timer | undefined;
  #hiddenTimer: Timer | undefined;

  constructor(options: ChannelOptions) {
    this.#options = options;
    this.#environment = { ...browserEnvironment, ...options.environment };
    this.resumePosition = options.resume ?? null;
    this.#removeWakeListener = this.#environment.onWake(() => this.#wake());
    this.#removeHideListener = this.#environment.onHide(() => this.#watchHiddenPage());
  }

  start(): void {
    if (this.#environment.hidden()) this.#watchHiddenPage();
    void this.#open();
    this.#setState("connecting");
  }

  get isClosed(): boolean {
    return this.#left || this.#rejected;
  }

  rejoin(): void {
    if (this.#left) return;
    this.#rejected = false;
    this.#suspended = false;
    this.resumePosition = null;
    this.#streamChat.reset();
    this.#attempt = 0;
    this.#reopen();
  }

  leave(): void {
    this.#left = true;
    this.#removeWakeListener();
    this.#removeHideListener();
    this.#environment.clearTimer(this.#hiddenTimer);
    this.#disconnect();
  }

  /** Whether Server-Sent Events arrive. */
  get isReceiveOnly(): boolean {
    return this.#transport !== null && this.#overEvents && !this.#silent;
  }

  send(frame: ViewerFrame): boolean {
    const sent = this.#transport?.send(JSON.stringify(frame)) ?? false;
    if (sent) safely(() => this.#options.onSent?.(frame));
    if (!isJoinOrLeave(frame) || !(sent || this.isReceiveOnly)) return sent;
    if (this.#streamChat.change(frame, sent)) void this.#replaceStream();
    return true;
  }

  #setState(state: ConnectionState, reason?: string): void {
    safely(() => this.#options.onState?.(state, reason));
  }

  async #open(): Promise<void> {
    this.#environment.clearTimer(this.#retryTimer);
    const generation = ++this.#generation;
    this.#rejectionReason = undefined;
    this.#welcomeTimer = this.#environment.setTimer(() => this.#handleDisconnect(false), WELCOME_TIMEOUT);
    try {
      const ticket = (await this.#options.getTicket?.()) ?? null;
      if (generation === this.#generation) this.#connect(ticket);
    } catch (error) {
      if (generation !== this.#generation) return;
      const rejection = rejectionOf(error);
      this.#rejectionReason = rejection;
      this.#handleDisconnect(rejection !== undefined);
    }
  }

  #connect(ticket: string | null): void {
    const generation = this.#generation;
    const events: TransportEvents = {
      onOpen: () => generation === this.#generation && this.#environment.clearTimer(this.#openTimer),
      onMessage: (frames) => generation === this.#generation && this.#handleMessage(frames),
      onClose: ({ final }) => generation === this.#generation && this.#handleDisconnect(final),
    };
    const url = (kind: "socket" | "events") =>
      connectionUrl(this.#options, kind, ticket, this.resumePosition, kind === "events" ? this.#streamChat.open() : null);
    this.#silent = true;
    const now = this.#environment.now();
    const wantsEvents = this.#silentSockets >= MAX_SILENT_SOCKETS && Math.abs(now - this.#socketTriedAt) < SOCKET_RETRY_INTERVAL;
    this.#transport = wantsEvents ? eventsTransport(this.#environment, url("events"), events) : null;
    this.#overEvents = this.#transport !== null;
    if (this.#overEvents) return;
    this.#socketTriedAt = now;
    this.#openTimer = this.#environment.setTimer(() => this.#handleDisconnect(false), OPEN_TIMEOUT);
    this.#transport = socketTransport(this.#environment, url("socket"), events);
  }

  /**
   * Opens another stream, which joins the chat or doesn't, beside the current one. That one is used until the other delivers, so the viewer
   * notices nothing and misses nothing: what both deliver counts once.
   */
  async #replaceStream(): Promise<void> {
    const replacement = ++this.#replacements;
    const isWanted = () => replacement === this.#replacements;
    this.#dropNextStream();
    const ticket = await this.#options.getTicket?.().catch(() => undefined);
    if (!isWanted()) return;
    // Opening it instead of the current one handles what went wrong.
    const giveUp = () => void (isWanted() && this.#reopen());
    if (ticket === undefined && this.#options.getTicket) return giveUp();
    this.#environment.setTimer(giveUp, WELCOME_TIMEOUT);
    const url = connectionUrl(this.#options, "events", ticket ?? null, this.resumePosition, this.#streamChat.open());
    let generation: number | undefined;
    this.#nextStream = eventsTransport(this.#environment, url, {
      onOpen: () => undefined,
      onMessage: (frames) => {
        if (generation === undefined && isWanted() && frames.some(({ type }) => type === "welcome")) generation = this.#adopt();
        if (generation === this.#generation) this.#handleMessage(frames);
      },
      onClose: ({ final }) => {
        if (generation === undefined) giveUp();
        else if (generation === this.#generation) this.#handleDisconnect(final);
      },
    });
  }

  #dropNextStream(): void {
    this.#nextStream?.close();
    this.#nextStream = null;
  }

  /** The next stream replaces the current one. */
  #adopt(): number {
    const next = this.#nextStream;
    this.#nextStream = null;
    this.#disconnect();
    this.#transport = next;
    return this.#generation;
  }

  #handleMessage(frames: ServerFrame[]): void {
    const generation = this.#generation;
    this.#receivedSincePing = true;
    if (this.#silent && !this.#overEvents) this.#markSocketsWorking();
    this.#silent = false;
    for (const frame of frames) {
      if (frame.type === "error") this.#rejectionReason = frame.message;
      if (frame.type === "drain") this.#reconnectLater(frame.reconnectIn);
      this.#handleFrame(frame);
      // The listener may have left or rejoined.
      if (generation !== this.#generation) return;
    }
    this.#acknowledge();
  }

  #markSocketsWorking(): void {
    this.#silentSockets = 0;
    this.#socketsWork = true;
  }

  #handleFrame(frame: ServerFrame): void {
    if (frame.type === "welcome") this.#handleWelcome(frame);
    // Already delivered.
    else if ("seq" in frame && frame.seq <= (this.resumePosition?.seq ?? 0)) return;
    this.#streamChat.receive(frame);
    safely(() => this.#options.onFrame(frame));
    if ("upTo" in frame && this.resumePosition)
      this.resumePosition = { ...this.resumePosition, seq: Math.max(this.resumePosition.seq, frame.upTo) };
  }

  /** Continues from the welcome's position: the previous one if missed frames follow, otherwise the channel's current one. */
  #handleWelcome({ epoch, upTo, recovered, heartbeat }: ServerFrameOf<"welcome">): void {
    this.#environment.clearTimer(this.#welcomeTimer);
    this.#attempt = 0;
    this.#wasLive = true;
    // A stream that replaces another one may start before what the other has delivered since.
    const seq = recovered && epoch === this.resumePosition?.epoch ? Math.max(upTo, this.resumePosition.seq) : upTo;
    this.resumePosition = { epoch, seq };
    this.#acknowledged = seq;
    this.#keepAlive(heartbeat);
    // Sockets worked before the outage, so they will probably work again.
    if (this.#overEvents && this.#socketsWork) this.#reconnectLater(SOCKET_RETRY_INTERVAL);
    this.#setState("live");
  }

  /** Acknowledges immediately; frames of the next interval are acknowledged together at its end. */
  #acknowledge(): void {
    const seq = this.resumePosition?.seq ?? 0;
    if (seq <= this.#acknowledged || this.#ackTimer !== undefined) return;
    if (!this.send({ type: "ack", seq })) return;
    this.#acknowledged = seq;
    this.#ackTimer = this.#environment.setTimer(() => {
      this.#ackTimer = undefined;
      this.#acknowledge();
    }, ACK_INTERVAL);
  }

  /** Pings at two thirds of the heartbeat. A connection that received nothing by the next ping is dead, even if it still looks open. */
  #keepAlive(heartbeat: number): void {
    this.#pingEvery = (heartbeat * 2000) / 3;
    this.#receivedSincePing = true;
    this.#pingAfter(this.#pingEvery);
  }

  #pingAfter(delay: number): void {
    this.#environment.clearTimer(this.#pingTimer);
    this.#pingTimer = this.#environment.setTimer(() => {
      if (!this.#receivedSincePing) return this.#handleDisconnect(false);
      this.#ping();
      this.#pingAfter(this.#pingEvery);
    }, delay);
  }

  #ping(): void {
    this.#receivedSincePing = !(this.#transport?.ping() ?? false);
  }

  /** Reconnects after a random delay between `within` milliseconds and twice as many, so that viewers spread out. */
  #reconnectLater(within: number): void {
    const generation = this.#generation;
    const delay = within * (1 + this.#environment.random());
    this.#retryTimer = this.#environment.setTimer(() => generation === this.#generation && this.#reopen(), delay);
  }

  #reopen(): void {
    this.#disconnect();
    // Open first: a state listener may call `leave`, which must also end the new connection.
    void this.#open();
    this.#setState(this.#wasLive ? "resuming" : "connecting");
  }

  #handleDisconnect(final: boolean): void {
    if (this.#silent && this.#environment.online()) this.#countSilentConnection();
    this.#disconnect();
    if (final) {
      this.#rejected = true;
      return this.#setState("offline", this.#rejectionReason ?? "The server rejected the connection.");
    }
    this.#retryTimer = this.#environment.setTimer(
      () => void this.#open(),
      reconnectDelay(this.#attempt++, () => this.#environment.random()),
    );
    if (!this.#environment.online()) this.#setState("offline", "There is no network.");
    else this.#setState(this.#wasLive ? "resuming" : "connecting");
  }

  #countSilentConnection(): void {
    // If Server-Sent Events don't arrive either, sockets aren't the problem.
    this.#silentSockets = this.#overEvents ? 0 : this.#silentSockets + 1;
    if (this.#silentSockets > MAX_SILENT_SOCKETS) this.#socketsWork = false;
  }

  #disconnect(): void {
    this.#generation++;
    this.#replacements++;
    this.#dropNextStream();
    for (const timer of [this.#pingTimer, this.#retryTimer, this.#ackTimer, this.#welcomeTimer, this.#openTimer])
      this.#environment.clearTimer(timer);
    this.#silent = false;
    this.#ackTimer = undefined;
    this.#pingTimer = undefined;
    this.#transport?.close();
    this.#transport = null;
  }

  /** The network is back or the page is visible again: reconnects without further delay, or checks the connection with a short timeout. */
  #wake(): void {
    if (this.isClosed || (this.#suspended && this.#environment.hidden())) return;
    this.#suspended = false;
    if (this.#transport === null) return this.#reopen();
    if (this.#pingTimer === undefined) return;
    if (!this.#transport.ping()) return this.#reopen();
    this.#receivedSincePing = false;
    this.#pingAfter(this.#transport.repliesToPings ? WAKE_TIMEOUT : this.#pingEvery);
  }

  /** Browsers throttle timers of hidden pages, so pings would be late: disconnects unless media plays, and reconnects when it does. */
  #watchHiddenPage(): void {
    this.#environment.clearTimer(this.#hiddenTimer);
    this.#hiddenTimer = this.#environment.setTimer(() => {
      if (!this.#environment.hidden()) return;
      const playing = safely(() => this.#options.playing?.()) ?? false;
      if (!this.#rejected && playing === this.#suspended) this.#setSuspended(!playing);
      if (!this.#left) this.#watchHiddenPage();
    }, HIDDEN_CHECK_INTERVAL);
  }

  #setSuspended(suspended: boolean): void {
    this.#suspended = suspended;
    if (!suspended) return this.#reopen();
    this.#disconnect();
    this.#setState("offline", "The page is hidden.");
  }
}
