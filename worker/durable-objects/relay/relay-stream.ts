import { CALL_CHARS, charsOf } from "#worker/durable-objects/call-size.ts";
import type { Delivered, FramePage, LogFrame, Push, Snapshot, StateChange } from "#worker/durable-objects/channel/channel.protocol.ts";
import { allActive, type Position, RelayCache } from "./cache.ts";

const PAGE = 1_000;
const NOBODY: Delivered = { head: null, sockets: 0, idle: true };

/** What the stream needs from its relay. */
export interface StreamPorts {
  snapshot(): Promise<Snapshot>;
  offered(seq: number, head: number): Promise<FramePage>;
  framesAfter(epoch: string, seq: number, limit: number): Promise<LogFrame[] | null>;
  /** Open sockets. */
  sockets(): number;
  /** Viewers that are being admitted. */
  joining(): number;
  /** Sends all sockets what follows their position, and brings them to `upTo`. */
  forward(frames: LogFrame[], states: StateChange[], upTo: number): void;
  disconnectAll(): void;
  store(position: Position): void;
  /** A snapshot has arrived; called before it is used. */
  loaded(snapshot: Snapshot): void;
}

/** Brings a relay's sockets the channel's log: in order, without gaps, each frame once, whatever is lost on the way. */
export class RelayStream {
  readonly #ports: StreamPorts;
  #position: Position | null;
  #cache: RelayCache | null = null;
  #loading: Promise<RelayCache> | null = null;
  #isRestricted = false;
  #pushedFrames: LogFrame[] = [];
  #pushedStates: StateChange[] = [];

  constructor(ports: StreamPorts, position: Position | null) {
    this.#ports = ports;
    this.#position = position;
  }

  /** Null after hibernation, until a viewer needs it. */
  get cache(): RelayCache | null {
    return this.#cache;
  }

  /** The log position that every socket has reached. */
  get seq(): number {
    return this.#position?.seq ?? 0;
  }

  /** Makes sure that the cache is there. */
  async open(): Promise<void> {
    if (!this.#cache) await this.#load();
  }

  /** The cache is no longer kept up to date. */
  close(): void {
    this.#cache = null;
  }

  /** Whether streams' URLs are removed from what viewers receive. */
  restrict(isRestricted: boolean): void {
    this.#isRestricted = isRestricted;
    if (isRestricted) this.#cache?.redactUrls();
  }

  /** Forwards the channel's frames, skipping those already sent. After a gap it sends none and returns the position it needs to continue. */
  deliver(push: Push): Delivered {
    const sockets = this.#ports.sockets();
    if (sockets + this.#ports.joining() === 0) {
      this.#cache = null;
      return NOBODY;
    }
    if (push.lost || (sockets > 0 && this.#position?.epoch !== push.epoch)) return this.#startOver();
    if (this.#loading) {
      this.#pushedFrames.push(...push.frames);
      this.#pushedStates.push(...push.states);
    }
    this.#cache?.applyStates(push.states);
    const follows = sockets > 0 || this.#cache !== null;
    if (follows) this.#send(push);
    return { head: follows ? this.seq : null, sockets: this.#ports.sockets(), idle: false };
  }

  /** All frames that a returning viewer missed, or null if they are no longer available or don't fit into one call. */
  async missedSince(held: Position): Promise<LogFrame[] | null> {
    // Ahead of this cache: the viewer comes from a relay that received a frame earlier.
    if (held.epoch === this.#cache?.epoch && held.seq > this.#cache.head) await this.#load();
    if (held.epoch !== this.#cache?.epoch || held.seq > this.#cache.head) return null;
    const missed: LogFrame[] = [];
    let chars = 0;
    for (let from = held.seq; ;) {
      const near = this.#cache?.after(from);
      const page = near ?? (await this.#ports.framesAfter(held.epoch, from, PAGE));
      chars += charsOf(page ?? []);
      if (!page || chars > CALL_CHARS) return null;
      missed.push(...page);
      if (near) return missed;
      const last = page.at(-1);
      if (!last) return null;
      from = last.seq;
    }
  }

  /** Loads the channel's snapshot, one at a time, and brings the open sockets up to date with it. */
  #load(): Promise<RelayCache> {
    this.#loading ??= this.#loadOnce().finally(() => {
      this.#loading = null;
      this.#pushedFrames = [];
      this.#pushedStates = [];
    });
    return this.#loading;
  }

  async #loadOnce(): Promise<RelayCache> {
    const snapshot = await this.#ports.snapshot();
    this.#ports.loaded(snapshot);
    const cache = new RelayCache(snapshot, await allActive(snapshot, (seq, head) => this.#ports.offered(seq, head)));
    // First, because the frames that the sockets missed include these.
    cache.apply(this.#pushedFrames);
    cache.applyStates(this.#pushedStates);
    const behind = this.#ports.sockets() > 0 && this.#position !== null;
    if (behind && this.#position?.epoch !== cache.epoch) this.#startOver();
    const missed = behind ? cache.after(this.seq) : [];
    if (missed === null) this.#startOver();
    else if (missed.length > 0) this.#forward(missed, []);
    if (this.#ports.sockets() > 0 && cache.head < this.seq) throw new Error("The channel's log is behind this relay");
    // The snapshot may be older than the restriction.
    if (this.#isRestricted) cache.redactUrls();
    this.#cache = cache;
    this.#moveTo({ epoch: cache.epoch, seq: cache.head });
    return cache;
  }

  #send(push: Push): void {
    const fresh = push.frames.filter((frame) => frame.seq > this.seq);
    const last = fresh.at(-1);
    const inOrder = fresh[0]?.seq === this.seq + 1;
    this.#forward(inOrder ? fresh : [], push.states);
    if (!inOrder || !last) return;
    this.#cache?.apply(fresh);
    // Stored after the sends, which would otherwise wait for the write.
    this.#moveTo({ epoch: push.epoch, seq: last.seq });
  }

  #forward(frames: LogFrame[], states: StateChange[]): void {
    if (frames.length > 0 || states.length > 0) this.#ports.forward(frames, states, frames.at(-1)?.seq ?? this.seq);
  }

  #moveTo(position: Position): void {
    if (this.#position?.epoch === position.epoch && this.#position.seq === position.seq) return;
    this.#position = position;
    this.#ports.store(position);
  }

  /** Closes all sockets because their position can't be continued: viewers reconnect and receive the full state. */
  #startOver(): Delivered {
    this.#ports.disconnectAll();
    this.#cache = null;
    return NOBODY;
  }
}
