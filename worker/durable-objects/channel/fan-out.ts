import { logError } from "#worker/lib/log.ts";
import { withTimeout } from "#worker/lib/time/with-timeout.ts";
import type { Delivered, LogFrame, Push, StateChange } from "./channel.protocol.ts";

/** What comes while a push is on its way goes together, this long after that push began. A send costs the same whatever its size. */
export const COALESCE_MS = 50;
/** After a burst, how long its publishers are given to come with the next one together; within twice `COALESCE_MS` in all. */
const REGATHER_MS = 25;
/** Single frames that may go at once within that time, each when the one before has arrived: a publisher who waits is no burst. */
const LONE_PUSHES = 10;
/** A relay that takes longer counts as failed; what it did receive it will not send twice. */
const DELIVER_TIMEOUT_MS = 2_000;
const FRAMES_PER_PUSH = 256;

/** The part of the log that the fan-out reads. */
interface Source {
  readonly epoch: string;
  readonly head: number;
  framesAfter(seq: number, limit: number): LogFrame[] | null;
}

type Deliver = (relay: number, push: Push) => Promise<Delivered>;

/** One relay, seen from the channel. */
interface Lane {
  relay: number;
  /** What its sockets hold; null while that is unknown (after a restart or a failure). */
  head: number | null;
  sockets: number;
  /** False while nobody listens there. */
  open: boolean;
  /** Counts the snapshots asked for, so that an answer "idle" from before one is not believed. */
  openings: number;
  /** What goes with its next push; the latest of each key. */
  states: Map<string, StateChange>;
  /** It has let a push go unanswered: nobody waits for it until it answers one. */
  silent: boolean;
  /** The push on its way, and the one that follows it. */
  running: Promise<boolean>;
  queued: Promise<boolean> | null;
}

/** Brings the log to the relays: in order, without a gap, one remote call per relay and window. */
export class FanOut {
  private readonly source: Source;
  private readonly deliver: Deliver;
  private readonly lanes = new Map<number, Lane>();
  private states = new Map<string, StateChange>();
  private next: Promise<boolean> | null = null;
  /** Who waits for frames up to `target`, which a push on its way may take along. */
  private waiting: { target: number; arrived: (all: boolean) => void }[] = [];
  private flushing = 0;
  /** The push on its way, and when the last one ended. */
  private flight: Promise<unknown> = Promise.resolve();
  private ended = 0;
  /** When the last pushes began, the newest first. */
  private begun: number[] = [];
  /** Where the last push ended, and whether it brought more than one frame. */
  private last = { head: 0, burst: false };
  /** Every open relay held at least this when the object last noted it; where an unknown lane starts. */
  private floor: number;

  constructor(source: Source, deliver: Deliver, relays: number, floor: number) {
    this.source = source;
    this.deliver = deliver;
    this.floor = floor;
    this.last.head = source.head;
    for (let relay = 0; relay < relays; relay++) this.lane(relay);
  }

  /** Open sockets of all relays, as last confirmed. */
  get sockets(): number {
    let sum = 0;
    for (const lane of this.lanes.values()) sum += lane.sockets;
    return sum;
  }

  /** Notes that a relay listens and is about to hold all of the log. */
  open(relay: number): void {
    const lane = this.lane(relay);
    lane.open = true;
    lane.openings++;
    lane.head = this.source.head;
  }

  /** How often a relay has asked for a snapshot. */
  openings(relay: number): number {
    return this.lane(relay).openings;
  }

  /** Pushes no more to a relay until it asks for a snapshot. */
  close(relay: number): void {
    const lane = this.lane(relay);
    lane.open = false;
    lane.sockets = 0;
  }

  /** Replaces the state of that key in the next push. */
  state(change: StateChange): void {
    this.states.set(change.key, change);
  }

  /** Pushes all that is in the log; answers, once every open relay has confirmed or failed, whether none failed. */
  push(): Promise<boolean> {
    this.next ??= this.nextFlush();
    if (this.states.size > 0) return this.next;
    // What a push on its way has taken along needn't wait for the next: publishers who wait for their answers come together so.
    const target = this.source.head;
    return Promise.race([this.next, new Promise<boolean>((arrived) => this.waiting.push({ target, arrived }))]);
  }

  private async nextFlush(): Promise<boolean> {
    await this.window();
    this.next = null;
    if (this.states.size === 0 && this.confirmed() >= this.source.head && !this.listening().some((lane) => lane.states.size > 0)) {
      this.last.head = this.source.head;
      this.tell(this.source.head, true);
      return true;
    }
    this.begun = [Date.now(), ...this.begun].slice(0, LONE_PUSHES);
    this.last = { head: this.source.head, burst: this.source.head > this.last.head + 1 };
    this.flushing++;
    const flight = this.flush();
    this.flight = flight;
    try {
      return await flight;
    } finally {
      this.flushing--;
      this.ended = Date.now();
    }
  }

  private async flush(): Promise<boolean> {
    const target = this.source.head;
    const { states } = this;
    this.states = new Map();
    const open = this.listening();
    for (const lane of open) for (const [key, change] of states) lane.states.set(key, change);
    const sent = await Promise.all(open.map((lane) => this.enqueue(lane)));
    const all = sent.every(Boolean);
    if (all) this.floor = Math.max(this.floor, target);
    this.tell(all ? Math.max(target, this.confirmed()) : target, all);
    return all;
  }

  /** Position that every open relay is known to hold. */
  private confirmed(): number {
    const open = this.listening();
    return open.length === 0 ? this.floor : Math.min(...open.map((lane) => lane.head ?? this.floor));
  }

  private tell(upTo: number, all: boolean): void {
    const reached = this.waiting.filter(({ target }) => target <= upTo);
    this.waiting = this.waiting.filter(({ target }) => target > upTo);
    for (const { arrived } of reached) arrived(all);
  }

  private async window(): Promise<void> {
    const alone = this.flushing === 0 && !this.last.burst && (this.begun[LONE_PUSHES - 1] ?? 0) + COALESCE_MS <= Date.now();
    if (alone) return;
    const begun = this.begun[0] ?? 0;
    await until(begun + COALESCE_MS);
    if (!this.last.burst) return;
    // A slow relay holds up the others no longer than this.
    const latest = begun + 2 * COALESCE_MS;
    await Promise.race([this.flight, until(latest)]);
    await until(Math.min(latest, this.ended + REGATHER_MS));
  }

  private listening(): Lane[] {
    return [...this.lanes.values()].filter((lane) => lane.open);
  }

  /** One push on its way and one after it, which takes all that has come until it leaves: what a relay that hangs owes doesn't add up. */
  private enqueue(lane: Lane): Promise<boolean> {
    lane.queued ??= lane.running.then(() => {
      lane.queued = null;
      lane.running = this.bring(lane);
      return lane.silent ? false : lane.running;
    });
    return lane.silent ? Promise.resolve(false) : lane.queued;
  }

  private async bring(lane: Lane): Promise<boolean> {
    const target = this.source.head;
    let { states } = lane;
    let begun = Date.now();
    try {
      while (lane.open && ((lane.head ?? this.floor) < target || lane.states.size > 0)) {
        begun = Date.now();
        states = lane.states;
        lane.states = new Map();
        await this.step(lane, [...states.values()]);
        lane.silent = false;
      }
      if (!lane.open) lane.states.clear();
      return true;
    } catch (error) {
      logError("relay_push_failed", error, { relay: lane.relay });
      lane.head = null;
      lane.silent = Date.now() - begun >= DELIVER_TIMEOUT_MS;
      lane.states = new Map([...states, ...lane.states]);
      return false;
    }
  }

  /** One remote call; afterwards `lane.head` is what the relay says that it holds. */
  private async step(lane: Lane, states: StateChange[]): Promise<void> {
    const after = lane.head ?? this.floor;
    const frames = this.source.framesAfter(after, FRAMES_PER_PUSH);
    const { openings } = lane;
    const push = { epoch: this.source.epoch, frames: frames ?? [], states, lost: frames === null };
    const answer = await withTimeout(this.deliver(lane.relay, push), DELIVER_TIMEOUT_MS);
    lane.sockets = answer.sockets;
    if (push.lost) {
      // It has sent its viewers away; who comes next makes it ask for a snapshot.
      lane.head = this.source.head;
      return;
    }
    if (answer.idle) {
      if (lane.openings === openings) lane.open = false;
      return;
    }
    if (push.frames.length > 0 && answer.head === after) throw new Error("The relay does not take the frames that follow its position");
    lane.head = answer.head ?? push.frames.at(-1)?.seq ?? after;
  }

  private lane(relay: number): Lane {
    const known = this.lanes.get(relay);
    if (known) return known;
    const running = Promise.resolve(true);
    const lane: Lane = { relay, head: null, sockets: 0, open: true, openings: 0, states: new Map(), silent: false, running, queued: null };
    this.lanes.set(relay, lane);
    return lane;
  }
}

/** Waits for a moment (ms) that may have passed. */
async function until(moment: number): Promise<void> {
  const wait = moment - Date.now();
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
}
