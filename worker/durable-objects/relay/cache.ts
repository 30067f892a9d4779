import { CALL_CHARS, charsOf, pageOf } from "#worker/durable-objects/call-size.ts";
import type { FramePage, LogFrame, Snapshot, StateChange } from "#worker/durable-objects/channel/channel.protocol.ts";

const RING = 256;

/** What a relay remembers of its channel: the end of the log and what is on. Gone with every hibernation, rebuilt from a snapshot. */
export class RelayCache {
  readonly epoch: string;
  private ring: LogFrame[];
  private chars: number;
  private readonly active = new Map<string, LogFrame>();
  private readonly clientRules = new Map<string, LogFrame>();
  private readonly latest = new Map<string, StateChange>();
  private position: number;

  /** `active`: all pages of what is on. */
  constructor(snapshot: Omit<Snapshot, "active">, active: LogFrame[]) {
    this.epoch = snapshot.epoch;
    this.position = snapshot.head;
    this.ring = [...snapshot.tail];
    this.chars = charsOf(this.ring);
    for (const frame of snapshot.rules) this.setRule(frame);
    for (const frame of active) if (frame.shows) this.active.set(frame.shows.broadcastId, frame);
    this.applyStates(snapshot.states);
  }

  get head(): number {
    return this.position;
  }

  /** Takes the frames that follow the head; those it has already are skipped. */
  apply(frames: LogFrame[]): void {
    for (const frame of frames) {
      if (frame.seq !== this.position + 1) continue;
      this.position = frame.seq;
      this.ring.push(frame);
      this.chars += frame.body.length;
      if (frame.shows) this.active.set(frame.shows.broadcastId, frame);
      for (const broadcastId of frame.clears) this.active.delete(broadcastId);
      this.setRule(frame);
    }
    if (this.ring.length <= 2 * RING && this.chars <= 2 * CALL_CHARS) return;
    this.ring = pageOf(this.ring.slice(-RING).reverse()).page.reverse();
    this.chars = charsOf(this.ring);
    this.forgetOver(Date.now());
  }

  /** Takes the states that are newer than those it has. */
  applyStates(changes: StateChange[]): void {
    for (const change of changes) {
      const known = this.latest.get(change.key);
      if (!known || known.at <= change.at) this.latest.set(change.key, change);
    }
  }

  /** The states that a new viewer receives. */
  states(): StateChange[] {
    return [...this.latest.values()];
  }

  /** All frames after `seq`, or null where the memory does not reach back that far. */
  after(seq: number): LogFrame[] | null {
    if (seq >= this.position) return [];
    const first = this.ring[0]?.seq ?? Infinity;
    return first <= seq + 1 ? this.ring.slice(seq + 1 - first) : null;
  }

  /** What whoever comes now gets, in order. */
  overlays(now: number): LogFrame[] {
    this.forgetOver(now);
    return [...this.active.values()];
  }

  /** The client rules that hold now. */
  rules(): LogFrame[] {
    return [...this.clientRules.values()];
  }

  private forgetOver(now: number): void {
    for (const [broadcastId, frame] of this.active) if ((frame.shows?.until ?? 0) <= now) this.active.delete(broadcastId);
  }

  private setRule(frame: LogFrame): void {
    if (frame.rule?.active) this.clientRules.set(frame.rule.id, frame);
    else if (frame.rule) this.clientRules.delete(frame.rule.id);
  }
}

/** All that is on, of which a snapshot brings the first page; what has changed since, arrives as frames. */
export async function allActive(
  { active, head }: Pick<Snapshot, "active" | "head">,
  readPage: (seq: number, head: number) => Promise<FramePage>,
): Promise<LogFrame[]> {
  const frames = [...active.frames];
  for (let { more } = active; more;) {
    const page = await readPage(frames.at(-1)?.seq ?? 0, head);
    frames.push(...page.frames);
    more = page.more;
  }
  return frames;
}
