import type { ConnectionState } from "../model/state.ts";
import { type ChannelAddress, connectionUrl, type Position } from "./address.ts";
import { reconnectDelay } from "./backoff.ts";
import { browserEnvironment, type Environment, type Timer } from "./environment.ts";
import { PING, type ServerFrame, type ServerFrameOf, type ViewerFrame } from "./protocol.ts";
import { eventsTransport, socketTransport, type Transport, type TransportEvents } from "./transport.ts";

export interface ChannelOptions extends ChannelAddress {
  /** Each frame once, in the channel's order; after a gap that can't be filled, a `welcome` with the full state. */
  onFrame(frame: ServerFrame): void;
  onState?(state: ConnectionState, reason?: string): void;
  onSent?(frame: ViewerFrame): void;
  /** A one-use ticket for each connection (`POST /realtime/v1/tickets`). Null: anonymous. */
  getTicket?(): Promise<string | null>;
  /** Where an earlier visit stopped: what was missed since then follows. */
  resume?: Position;
  environment?: Partial<Environment>;
}

/** A channel that was joined. */
export interface ChannelConnection {
  /** Position to resume from; null until the first welcome. */
  position(): Position | null;
  /** Sends a frame now; false when there is no socket that takes it. */
  send(frame: ViewerFrame): boolean;
  /** Whether it was left, or refused for good. */
  isOver(): boolean;
  /** The viewer is another now: comes back with a new ticket, and hears the whole state. Once it was left it does nothing. */
  rejoin(): void;
  leave(): void;
}

// The server takes 20 frames a second from a viewer; a burst is acknowledged by its last number.
const ACK_INTERVAL = 100;
// Sockets that never opened, after which Server-Sent Events are tried.
const UNOPENED = 2;
// Milliseconds within which a connection says its first word.
const WELCOME_PATIENCE = 20_000;
// Milliseconds within which a socket answers a ping after the device has slept.
const WAKE_PATIENCE = 5_000;

/**
 * Joins a channel and stays in it: reconnects with full jitter, resumes where it stopped, keeps the socket alive, acknowledges, and reads
 * Server-Sent Events where no socket gets through.
 */
export function joinChannel(options: ChannelOptions): ChannelConnection {
  const connection = new Connection(options);
  connection.start();
  return {
    position: () => connection.held,
    send: (frame) => connection.send(frame),
    isOver: () => connection.isOver,
    rejoin: () => connection.rejoin(),
    leave: () => connection.leave(),
  };
}

class Connection {
  held: Position | null;
  private readonly options: ChannelOptions;
  private readonly environment: Environment;
  private readonly endWake: () => void;
  private transport: Transport | null = null;
  private attempt = 0;
  /** Sockets in a row that never opened. */
  private unopened = 0;
  /** Counts connections: what an older one still says is not heard. */
  private generation = 0;
  private left = false;
  private refused = false;
  private everLive = false;
  private heard = false;
  /** Milliseconds. */
  private pingEvery = 0;
  private acknowledged = 0;
  private refusal: string | undefined;
  private ackTimer: Timer | undefined;
  private welcomeTimer: Timer | undefined;
  private retryTimer: Timer | undefined;
  private pingTimer: Timer | undefined;

  constructor(options: ChannelOptions) {
    this.options = options;
    this.environment = { ...browserEnvironment, ...options.environment };
    this.held = options.resume ?? null;
    this.endWake = this.environment.onWake(() => this.wake());
  }

  start(): void {
    this.options.onState?.("connecting");
    void this.open();
  }

  get isOver(): boolean {
    return this.left || this.refused;
  }

  rejoin(): void {
    if (this.left) return;
    this.refused = false;
    this.held = null;
    this.attempt = 0;
    this.reopen();
  }

  leave(): void {
    this.left = true;
    this.endWake();
    this.hangUp();
  }

  send(frame: ViewerFrame): boolean {
    const sent = this.transport?.send(JSON.stringify(frame)) ?? false;
    if (sent) this.options.onSent?.(frame);
    return sent;
  }

  private async open(): Promise<void> {
    this.environment.clearTimer(this.retryTimer);
    const generation = ++this.generation;
    this.refusal = undefined;
    let ticket: string | null = null;
    try {
      ticket = (await this.options.getTicket?.()) ?? null;
    } catch {
      if (generation === this.generation) this.lost(false);
      return;
    }
    if (this.left || generation !== this.generation) return;
    let opened = false;
    const events: TransportEvents = {
      onOpen: () => {
        opened = true;
        this.unopened = 0;
      },
      onMessage: (frames) => generation === this.generation && this.take(frames),
      onClose: ({ final }) => {
        if (generation !== this.generation) return;
        if (!opened) this.unopened++;
        this.lost(final);
      },
    };
    const url = (kind: "socket" | "events") => connectionUrl(this.options, kind, ticket, this.held);
    // Every third try is a socket again, should the network have changed.
    const overEvents = this.unopened >= UNOPENED && this.attempt % 3 !== 2;
    this.welcomeTimer = this.environment.setTimer(() => this.lost(false), WELCOME_PATIENCE);
    this.transport = (overEvents ? eventsTransport(this.environment, url("events"), events) : null) ?? this.socket(url("socket"), events);
  }

  private socket(url: string, events: TransportEvents): Transport {
    return socketTransport(this.environment, url, events);
  }

  private take(frames: ServerFrame[]): void {
    this.heard = true;
    for (const frame of frames) {
      if (frame.type === "error") this.refusal = frame.message;
      if (frame.type === "drain") this.leaveSoon(frame.reconnectIn);
      this.takeOne(frame);
    }
    this.acknowledge();
  }

  private takeOne(frame: ServerFrame): void {
    if (frame.type === "welcome") this.begin(frame);
    // What came before is not told twice.
    else if ("seq" in frame && frame.seq <= (this.held?.seq ?? 0)) return;
    this.options.onFrame(frame);
    if ("upTo" in frame && this.held) this.held = { ...this.held, seq: Math.max(this.held.seq, frame.upTo) };
  }

  /** Counts on from the welcome's position: where we stopped if what we missed follows, else where the channel stands. */
  private begin({ epoch, upTo, heartbeat }: ServerFrameOf<"welcome">): void {
    this.environment.clearTimer(this.welcomeTimer);
    this.attempt = 0;
    this.everLive = true;
    this.held = { epoch, seq: upTo };
    this.acknowledged = upTo;
    this.keepAlive(heartbeat);
    this.options.onState?.("live");
  }

  /** Acknowledges at once, and what comes within the next interval with one more acknowledgement at its end. */
  private acknowledge(): void {
    const seq = this.held?.seq ?? 0;
    if (seq <= this.acknowledged || this.ackTimer !== undefined) return;
    if (!this.send({ type: "ack", seq })) return;
    this.acknowledged = seq;
    this.ackTimer = this.environment.setTimer(() => {
      this.ackTimer = undefined;
      this.acknowledge();
    }, ACK_INTERVAL);
  }

  /** Pings at two thirds of the heartbeat; a connection on which nothing came back by the next ping is dead, whatever the platform thinks. */
  private keepAlive(heartbeat: number): void {
    this.pingEvery = (heartbeat * 2000) / 3;
    this.heard = true;
    this.pingAfter(this.pingEvery);
  }

  private pingAfter(delay: number): void {
    this.environment.clearTimer(this.pingTimer);
    this.pingTimer = this.environment.setTimer(() => {
      if (!this.heard) return this.lost(false);
      this.ping();
      this.pingAfter(this.pingEvery);
    }, delay);
  }

  private ping(): void {
    this.heard = !(this.transport?.ping() ?? false);
  }

  /** The server asks its viewers to come back elsewhere, each at a moment of its own within `within` milliseconds and as long again. */
  private leaveSoon(within: number): void {
    const generation = this.generation;
    const delay = within * (1 + this.environment.random());
    this.retryTimer = this.environment.setTimer(() => generation === this.generation && this.reopen(), delay);
  }

  private reopen(): void {
    this.hangUp();
    this.options.onState?.(this.everLive ? "resuming" : "connecting");
    void this.open();
  }

  private lost(final: boolean): void {
    this.hangUp();
    if (this.left) return;
    if (final) {
      this.refused = true;
      return this.options.onState?.("offline", this.refusal ?? "The server refused the connection.");
    }
    if (!this.environment.online()) this.options.onState?.("offline", "There is no network.");
    else this.options.onState?.(this.everLive ? "resuming" : "connecting");
    this.retryTimer = this.environment.setTimer(
      () => void this.open(),
      reconnectDelay(this.attempt++, () => this.environment.random()),
    );
  }

  private hangUp(): void {
    this.generation++;
    for (const timer of [this.pingTimer, this.retryTimer, this.ackTimer, this.welcomeTimer]) this.environment.clearTimer(timer);
    this.ackTimer = undefined;
    this.pingTimer = undefined;
    this.transport?.close();
    this.transport = null;
  }

  /** The network is back or the page is looked at again: no reason to wait any longer, and a dead socket shows at once. */
  private wake(): void {
    if (this.isOver) return;
    if (this.transport === null) return this.reopen();
    if (this.pingTimer === undefined) return;
    if (!this.transport.send(PING)) return this.reopen();
    this.heard = false;
    this.pingAfter(WAKE_PATIENCE);
  }
}
