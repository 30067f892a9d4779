import type { ConnectionState } from "../model/state.ts";
import { type ChannelAddress, connectionUrl, type Position } from "./address.ts";
import { reconnectDelay } from "./backoff.ts";
import { browserEnvironment, type Environment, type Timer } from "./environment.ts";
import type { ServerFrame, ServerFrameOf, ViewerFrame } from "./protocol.ts";
import { safely } from "./report.ts";
import { eventsTransport, socketTransport, type Transport, type TransportEvents } from "./transport.ts";

export interface ChannelOptions extends ChannelAddress {
  /** Each frame once, in the channel's order; after a gap that can't be filled, a `welcome` with the full state. */
  onFrame(frame: ServerFrame): void;
  onState?(state: ConnectionState, reason?: string): void;
  onSent?(frame: ViewerFrame): void;
  /** A one-use ticket for each connection (`POST /realtime/v1/tickets`). Null: anonymous. */
  getTicket?(): Promise<string | null>;
  /** Whether a picture plays. A hidden page without one hangs up after half a minute, and resumes when it is looked at or one plays. */
  playing?(): boolean;
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
  isClosed(): boolean;
  /** The viewer is another now: comes back with a new ticket, and hears the whole state. Once it was left it does nothing. */
  rejoin(): void;
  leave(): void;
}

// The server takes 20 frames a second from a viewer; a burst is acknowledged by its last number.
const ACK_INTERVAL = 100;
// Sockets on which nothing ever came, after which Server-Sent Events are tried.
const MUTE_SOCKETS = 2;
// Milliseconds after a socket was tried, after which the next connection is one again: the network may have changed.
const SOCKET_AGAIN = 60_000;
// Milliseconds within which a socket opens.
const OPEN_PATIENCE = 5_000;
// Milliseconds within which a connection, its ticket included, says its first word.
const WELCOME_PATIENCE = 20_000;
// Milliseconds within which a socket answers a ping after the device has slept.
const WAKE_PATIENCE = 5_000;
// Milliseconds after which a hidden page is asked whether it plays, again and again.
const HIDDEN_GRACE = 30_000;

/**
 * Joins a channel and stays in it: reconnects with full jitter, resumes where it stopped, keeps the socket alive, acknowledges, and reads
 * Server-Sent Events where no socket gets through. A listener that throws is told to the page (`reportError`) and misses nothing by it.
 */
export function joinChannel(options: ChannelOptions): ChannelConnection {
  const connection = new Connection(options);
  connection.start();
  return {
    position: () => connection.held,
    send: (frame) => connection.send(frame),
    isClosed: () => connection.isClosed,
    rejoin: () => connection.rejoin(),
    leave: () => connection.leave(),
  };
}

class Connection {
  held: Position | null;
  readonly #options: ChannelOptions;
  readonly #environment: Environment;
  readonly #endWake: () => void;
  readonly #endHide: () => void;
  #transport: Transport | null = null;
  #attempt = 0;
  /** Sockets in a row on which nothing came, while the network was there. */
  #muteSockets = 0;
  /** Whether a socket got through, and no later trial has said otherwise. */
  #socketsWork = false;
  /** Milliseconds. */
  #socketTriedAt = 0;
  /** Whether nothing has come over this connection so far. */
  #mute = false;
  /** Whether this connection is one of Server-Sent Events. */
  #overEvents = false;
  /** Counts connections: what an older one still says is not heard. */
  #generation = 0;
  #left = false;
  #refused = false;
  /** Hung up because nobody looks. */
  #asleep = false;
  #everLive = false;
  #heard = false;
  /** Milliseconds. */
  #pingEvery = 0;
  #acknowledged = 0;
  #refusal: string | undefined;
  #ackTimer: Timer | undefined;
  #openTimer: Timer | undefined;
  #welcomeTimer: Timer | undefined;
  #retryTimer: Timer | undefined;
  #pingTimer: Timer | undefined;
  #hiddenTimer: Timer | undefined;

  constructor(options: ChannelOptions) {
    this.#options = options;
    this.#environment = { ...browserEnvironment, ...options.environment };
    this.held = options.resume ?? null;
    this.#endWake = this.#environment.onWake(() => this.#wake());
    this.#endHide = this.#environment.onHide(() => this.#whileHidden());
  }

  start(): void {
    if (this.#environment.hidden()) this.#whileHidden();
    void this.#open();
    this.#setState("connecting");
  }

  get isClosed(): boolean {
    return this.#left || this.#refused;
  }

  rejoin(): void {
    if (this.#left) return;
    this.#refused = false;
    this.#asleep = false;
    this.held = null;
    this.#attempt = 0;
    this.#reopen();
  }

  leave(): void {
    this.#left = true;
    this.#endWake();
    this.#endHide();
    this.#environment.clearTimer(this.#hiddenTimer);
    this.#hangUp();
  }

  send(frame: ViewerFrame): boolean {
    const sent = this.#transport?.send(JSON.stringify(frame)) ?? false;
    if (sent) safely(() => this.#options.onSent?.(frame));
    return sent;
  }

  #setState(state: ConnectionState, reason?: string): void {
    safely(() => this.#options.onState?.(state, reason));
  }

  async #open(): Promise<void> {
    this.#environment.clearTimer(this.#retryTimer);
    const generation = ++this.#generation;
    this.#refusal = undefined;
    this.#welcomeTimer = this.#environment.setTimer(() => this.#lost(false), WELCOME_PATIENCE);
    try {
      const ticket = (await this.#options.getTicket?.()) ?? null;
      if (generation === this.#generation) this.#connect(ticket);
    } catch (error) {
      if (generation !== this.#generation) return;
      const rejection = rejectionOf(error);
      this.#refusal = rejection;
      this.#lost(rejection !== undefined);
    }
  }

  #connect(ticket: string | null): void {
    const generation = this.#generation;
    const events: TransportEvents = {
      onOpen: () => generation === this.#generation && this.#environment.clearTimer(this.#openTimer),
      onMessage: (frames) => generation === this.#generation && this.#take(frames),
      onClose: ({ final }) => generation === this.#generation && this.#lost(final),
    };
    const url = (kind: "socket" | "events") => connectionUrl(this.#options, kind, ticket, this.held);
    this.#mute = true;
    const now = this.#environment.now();
    const wantsEvents = this.#muteSockets >= MUTE_SOCKETS && Math.abs(now - this.#socketTriedAt) < SOCKET_AGAIN;
    this.#transport = wantsEvents ? eventsTransport(this.#environment, url("events"), events) : null;
    this.#overEvents = this.#transport !== null;
    if (this.#overEvents) return;
    this.#socketTriedAt = now;
    this.#openTimer = this.#environment.setTimer(() => this.#lost(false), OPEN_PATIENCE);
    this.#transport = socketTransport(this.#environment, url("socket"), events);
  }

  #take(frames: ServerFrame[]): void {
    const generation = this.#generation;
    this.#heard = true;
    if (this.#mute && !this.#overEvents) this.#socketCameThrough();
    this.#mute = false;
    for (const frame of frames) {
      if (frame.type === "error") this.#refusal = frame.message;
      if (frame.type === "drain") this.#leaveSoon(frame.reconnectIn);
      this.#takeOne(frame);
      // Whoever hears a frame may leave, or become another viewer.
      if (generation !== this.#generation) return;
    }
    this.#acknowledge();
  }

  #socketCameThrough(): void {
    this.#muteSockets = 0;
    this.#socketsWork = true;
  }

  #takeOne(frame: ServerFrame): void {
    if (frame.type === "welcome") this.#begin(frame);
    // What came before is not told twice.
    else if ("seq" in frame && frame.seq <= (this.held?.seq ?? 0)) return;
    safely(() => this.#options.onFrame(frame));
    if ("upTo" in frame && this.held) this.held = { ...this.held, seq: Math.max(this.held.seq, frame.upTo) };
  }

  /** Counts on from the welcome's position: where we stopped if what we missed follows, else where the channel stands. */
  #begin({ epoch, upTo, heartbeat }: ServerFrameOf<"welcome">): void {
    this.#environment.clearTimer(this.#welcomeTimer);
    this.#attempt = 0;
    this.#everLive = true;
    this.held = { epoch, seq: upTo };
    this.#acknowledged = upTo;
    this.#keepAlive(heartbeat);
    // Sockets worked before the server was away, so they are likely to work again.
    if (this.#overEvents && this.#socketsWork) this.#leaveSoon(SOCKET_AGAIN);
    this.#setState("live");
  }

  /** Acknowledges at once, and what comes within the next interval with one more acknowledgement at its end. */
  #acknowledge(): void {
    const seq = this.held?.seq ?? 0;
    if (seq <= this.#acknowledged || this.#ackTimer !== undefined) return;
    if (!this.send({ type: "ack", seq })) return;
    this.#acknowledged = seq;
    this.#ackTimer = this.#environment.setTimer(() => {
      this.#ackTimer = undefined;
      this.#acknowledge();
    }, ACK_INTERVAL);
  }

  /** Pings at two thirds of the heartbeat; a connection on which nothing came back by the next ping is dead, whatever the platform thinks. */
  #keepAlive(heartbeat: number): void {
    this.#pingEvery = (heartbeat * 2000) / 3;
    this.#heard = true;
    this.#pingAfter(this.#pingEvery);
  }

  #pingAfter(delay: number): void {
    this.#environment.clearTimer(this.#pingTimer);
    this.#pingTimer = this.#environment.setTimer(() => {
      if (!this.#heard) return this.#lost(false);
      this.#ping();
      this.#pingAfter(this.#pingEvery);
    }, delay);
  }

  #ping(): void {
    this.#heard = !(this.#transport?.ping() ?? false);
  }

  /** Comes back by a new connection, each viewer at a moment of its own between `within` milliseconds and twice as many. */
  #leaveSoon(within: number): void {
    const generation = this.#generation;
    const delay = within * (1 + this.#environment.random());
    this.#retryTimer = this.#environment.setTimer(() => generation === this.#generation && this.#reopen(), delay);
  }

  #reopen(): void {
    this.#hangUp();
    // A listener may leave, which ends what was begun.
    void this.#open();
    this.#setState(this.#everLive ? "resuming" : "connecting");
  }

  #lost(final: boolean): void {
    if (this.#mute && this.#environment.online()) this.#heardNothing();
    this.#hangUp();
    if (final) {
      this.#refused = true;
      return this.#setState("offline", this.#refusal ?? "The server refused the connection.");
    }
    this.#retryTimer = this.#environment.setTimer(
      () => void this.#open(),
      reconnectDelay(this.#attempt++, () => this.#environment.random()),
    );
    if (!this.#environment.online()) this.#setState("offline", "There is no network.");
    else this.#setState(this.#everLive ? "resuming" : "connecting");
  }

  #heardNothing(): void {
    // Where nothing comes over events either, it is not the sockets that are held back.
    this.#muteSockets = this.#overEvents ? 0 : this.#muteSockets + 1;
    if (this.#muteSockets > MUTE_SOCKETS) this.#socketsWork = false;
  }

  #hangUp(): void {
    this.#generation++;
    for (const timer of [this.#pingTimer, this.#retryTimer, this.#ackTimer, this.#welcomeTimer, this.#openTimer])
      this.#environment.clearTimer(timer);
    this.#mute = false;
    this.#ackTimer = undefined;
    this.#pingTimer = undefined;
    this.#transport?.close();
    this.#transport = null;
  }

  /** The network is back or the page is looked at again: no reason to wait any longer, and a dead connection shows soon. */
  #wake(): void {
    if (this.isClosed || (this.#asleep && this.#environment.hidden())) return;
    this.#asleep = false;
    if (this.#transport === null) return this.#reopen();
    if (this.#pingTimer === undefined) return;
    if (!this.#transport.ping()) return this.#reopen();
    this.#heard = false;
    this.#pingAfter(this.#transport.repliesToPings ? WAKE_PATIENCE : this.#pingEvery);
  }

  /** A hidden page's timers are held back, so that its pings come too late: it hangs up unless a picture plays, and comes back for one. */
  #whileHidden(): void {
    this.#environment.clearTimer(this.#hiddenTimer);
    this.#hiddenTimer = this.#environment.setTimer(() => {
      if (!this.#environment.hidden()) return;
      const playing = safely(() => this.#options.playing?.()) ?? false;
      if (!this.#refused && playing === this.#asleep) this.#setAsleep(!playing);
      if (!this.#left) this.#whileHidden();
    }, HIDDEN_GRACE);
  }

  #setAsleep(asleep: boolean): void {
    this.#asleep = asleep;
    if (!asleep) return this.#reopen();
    this.#hangUp();
    this.#setState("offline", "The page is hidden.");
  }
}

// Responses to the request for a ticket that another attempt won't change.
const FINAL_STATUSES: readonly unknown[] = [400, 401, 403, 404];

/** Why the API rejects the viewer for good, such as a session that has ended; undefined where another attempt may succeed. */
function rejectionOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("status" in error) || !FINAL_STATUSES.includes(error.status)) return undefined;
  return error.message;
}
