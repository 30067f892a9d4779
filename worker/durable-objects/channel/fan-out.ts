import { logError } from "#worker/lib/log.ts";
import { isTimeout, withTimeout } from "#worker/lib/time/with-timeout.ts";
import type { Delivered, LogFrame, Push, StateChange } from "./channel.protocol.ts";

/** Frames that arrive during a push are sent together, this long after it started. A send costs the same whatever its size. */
export const COALESCE_MS = 50;
/** After a burst, how long to wait for its publishers' next frames, at most `2 * COALESCE_MS` in total. */
const REGROUP_MS = 25;
/** Single frames that may be sent immediately within that time: a publisher that awaits each response isn't a burst. */
const LONE_PUSHES = 10;
/** A slower relay counts as failed. It skips frames that it has already received. */
const DELIVER_TIMEOUT_MS = 2_000;
const FRAMES_PER_PUSH = 256;

/** The part of the log that the fan-out reads. */
interface Source {
  readonly epoch: string;
  readonly head: number;
  framesAfter(seq: number, limit: number): LogFrame[] | null;
}

/** `alone`: the relay was slow before, and must not delay others that receive the same push. */
type Deliver = (relay: number, push: Push, alone: boolean) => Promise<Delivered>;

/** One relay, seen from the channel. */
interface Lane {
  relay: number;
  /** The position its sockets have reached; null while unknown (after a restart or a failure). */
  head: number | null;
  sockets: number;
  /** False while it has no viewers. */
  open: boolean;
  /** Counts snapshot requests, so that an `idle` response from before one is ignored. */
  openings: number;
  /** States for its next push, the latest per key. */
  states: Map<string, StateChange>;
  /** A push timed out: publishers don't wait for this relay until it responds again. */
  unresponsive: boolean;
  /** The push in flight, and the one queued behind it. */
  running: Promise<boolean>;
  queued: Promise<boolean> | null;
}

/** Pushes the log to the relays: in order, without gaps, one remote call per relay and window. */
export class FanOut {
  readonly #source: Source;
  readonly #deliver: Deliver;
  readonly #lanes = new Map<number, Lane>();
  #states = new Map<string, StateChange>();
  #next: Promise<boolean> | null = null;
  /** Publishers waiting for frames up to `target`, which a push already in flight may include. */
  #waiting: { target: number; resolve: (all: boolean) => void }[] = [];
  #flushing = 0;
  /** The push in flight, and when the last one ended. */
  #flight: Promise<unknown> = Promise.resolve();
  #ended = 0;
  /** When the last pushes started, newest first. */
  #startTimes: number[] = [];
  /** Where the last push ended, and whether it had more than one frame. */
  #last = { head: 0, burst: false };
  /** The last recorded position that every open relay had reached; lanes of unknown position start here. */
  #floor: number;
  /** The last push, which the relays at the same position share. */
  #shared: { after: number; head: number; push: Push } | null = null;

  constructor(source: Source, deliver: Deliver, relays: number, floor: number) {
    this.#source = source;
    this.#deliver = deliver;
    this.#floor = floor;
    this.#last.head = source.head;
    for (let relay = 0; relay < relays; relay++) this.#lane(relay);
  }

  /** Open sockets of all relays, as last confirmed. */
  get sockets(): number {
    let sum = 0;
    for (const lane of this.#lanes.values()) sum += lane.sockets;
    return sum;
  }

  /** Marks a relay as listening; its snapshot brings it to the head of the log. */
  open(relay: number): void {
    const lane = this.#lane(relay);
    lane.open = true;
    lane.openings++;
    lane.head = this.#source.head;
  }

  /** How often a relay has requested a snapshot. */
  openings(relay: number): number {
    return this.#lane(relay).openings;
  }

  /** Stops pushing to a relay until it requests a snapshot. */
  close(relay: number): void {
    const lane = this.#lane(relay);
    lane.open = false;
    lane.sockets = 0;
  }

  /** Call when frames in the log have changed: pushes from now on contain the new ones. */
  reread(): void {
    this.#shared = null;
  }

  /** Sets the state of that key for the next push. */
  state(change: StateChange): void {
    this.#states.set(change.key, change);
  }

  /** Pushes the whole log. Resolves once every open relay has confirmed or failed; true if none failed. */
  push(): Promise<boolean> {
    this.#next ??= this.#nextFlush();
    if (this.#states.size > 0) return this.#next;
    // Frames included in a push in flight needn't wait for the next one: this groups publishers that await their responses.
    const target = this.#source.head;
    return Promise.race([this.#next, new Promise<boolean>((resolve) => this.#waiting.push({ target, resolve }))]);
  }

  async #nextFlush(): Promise<boolean> {
    await this.#waitForWindow();
    this.#next = null;
    if (this.#states.size === 0 && this.#confirmed() >= this.#source.head && !this.#listening().some((lane) => lane.states.size > 0)) {
      this.#last.head = this.#source.head;
      this.#resolveWaiting(this.#source.head, true);
      return true;
    }
    this.#startTimes = [Date.now(), ...this.#startTimes].slice(0, LONE_PUSHES);
    this.#last = { head: this.#source.head, burst: this.#source.head > this.#last.head + 1 };
    this.#flushing++;
    const flight = this.#flush();
    this.#flight = flight;
    try {
      return await flight;
    } finally {
      this.#flushing--;
      this.#ended = Date.now();
      if (this.#flushing === 0) this.#shared = null;
    }
  }

  async #flush(): Promise<boolean> {
    const target = this.#source.head;
    const states = this.#states;
    this.#states = new Map();
    const open = this.#listening();
    for (const lane of open) for (const [key, change] of states) lane.states.set(key, change);
    const sent = await Promise.all(open.map((lane) => this.#enqueue(lane)));
    const all = sent.every(Boolean);
    if (all) this.#floor = Math.max(this.#floor, target);
    this.#resolveWaiting(all ? Math.max(target, this.#confirmed()) : target, all);
    return all;
  }

  /** Position that every open relay is known to have reached. */
  #confirmed(): number {
    const open = this.#listening();
    return open.length === 0 ? this.#floor : Math.min(...open.map((lane) => lane.head ?? this.#floor));
  }

  #resolveWaiting(upTo: number, all: boolean): void {
    const reached = this.#waiting.filter(({ target }) => target <= upTo);
    this.#waiting = this.#waiting.filter(({ target }) => target > upTo);
    for (const { resolve } of reached) resolve(all);
  }

  async #waitForWindow(): Promise<void> {
    const alone = this.#flushing === 0 && !this.#last.burst && (this.#startTimes[LONE_PUSHES - 1] ?? 0) + COALESCE_MS <= Date.now();
    if (alone) return;
    const lastStart = this.#startTimes[0] ?? 0;
    await until(lastStart + COALESCE_MS);
    if (!this.#last.burst) return;
    // A slow relay delays the others no longer than this.
    const latest = lastStart + 2 * COALESCE_MS;
    await Promise.race([this.#flight, until(latest)]);
    await until(Math.min(latest, this.#ended + REGROUP_MS));
  }

  #listening(): Lane[] {
    return [...this.#lanes.values()].filter((lane) => lane.open);
  }

  /** At most one push in flight and one queued, which takes all frames up to its start: pushes to a hung relay don't pile up. */
  #enqueue(lane: Lane): Promise<boolean> {
    lane.queued ??= lane.running.then(() => {
      lane.queued = null;
      lane.running = this.#catchUp(lane);
      return lane.unresponsive ? false : lane.running;
    });
    return lane.unresponsive ? Promise.resolve(false) : lane.queued;
  }

  async #catchUp(lane: Lane): Promise<boolean> {
    const target = this.#source.head;
    let { states } = lane;
    let started = Date.now();
    try {
      while (lane.open && ((lane.head ?? this.#floor) < target || lane.states.size > 0)) {
        started = Date.now();
        states = lane.states;
        lane.states = new Map();
        await this.#step(lane, [...states.values()]);
        lane.unresponsive = false;
      }
      if (!lane.open) lane.states.clear();
      return true;
    } catch (error) {
      logError("relay_push_failed", error, { relay: lane.relay });
      lane.head = null;
      lane.unresponsive = isTimeout(error) || Date.now() - started >= DELIVER_TIMEOUT_MS;
      lane.states = new Map([...states, ...lane.states]);
      return false;
    }
  }

  /** Makes one remote call and sets `lane.head` to the position that the relay reports. */
  async #step(lane: Lane, states: StateChange[]): Promise<void> {
    const after = lane.head ?? this.#floor;
    const { openings } = lane;
    const push = this.#pushAfter(after, states);
    const delivered = await withTimeout(this.#deliver(lane.relay, push, lane.unresponsive), DELIVER_TIMEOUT_MS);
    lane.sockets = delivered.sockets;
    if (push.lost) {
      // It has disconnected its viewers; the next one makes it request a snapshot.
      lane.head = this.#source.head;
      return;
    }
    if (delivered.idle) {
      if (lane.openings === openings) lane.open = false;
      return;
    }
    if (push.frames.length > 0 && delivered.head === after)
      throw new Error("The relay does not accept the frames that follow its position");
    lane.head = delivered.head ?? push.frames.at(-1)?.seq ?? after;
  }

  /** The frames that follow a position, read once for all relays at it. */
  #pushAfter(after: number, states: StateChange[]): Push {
    const { head, epoch } = this.#source;
    const last = this.#shared;
    if (last?.after === after && last.head === head && isSameList(last.push.states, states)) return last.push;
    const frames = this.#source.framesAfter(after, FRAMES_PER_PUSH);
    const push = { epoch, frames: frames ?? [], states, lost: frames === null };
    this.#shared = { after, head, push };
    return push;
  }

  #lane(relay: number): Lane {
    const known = this.#lanes.get(relay);
    if (known) return known;
    const running = Promise.resolve(true);
    const lane: Lane = {
      relay,
      head: null,
      sockets: 0,
      open: true,
      openings: 0,
      states: new Map(),
      unresponsive: false,
      running,
      queued: null,
    };
    this.#lanes.set(relay, lane);
    return lane;
  }
}

function isSameList<T>(some: T[], others: T[]): boolean {
  return some.length === others.length && some.every((each, i) => each === others[i]);
}

/** Waits until a moment (ms), which may have passed. */
async function until(moment: number): Promise<void> {
  const wait = moment - Date.now();
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
}
