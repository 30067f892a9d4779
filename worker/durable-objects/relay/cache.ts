import { z } from "@hono/zod-openapi";
import { CALL_CHARS, charsOf, pageOf } from "#worker/durable-objects/call-size.ts";
import {
  type FramePage,
  type LogFrame,
  type Snapshot,
  type StateChange,
  TRANSIENT_STATES,
} from "#worker/durable-objects/channel/channel.protocol.ts";

import { withoutEnded } from "#worker/durable-objects/channel/personal.ts";

/** The log position that every socket of a relay has reached. */
export interface Position {
  epoch: string;
  seq: number;
}

const RING = 256;

/** A relay's copy of its channel: the end of the log and the active overlays. Lost on hibernation and rebuilt from a snapshot. */
export class RelayCache {
  readonly epoch: string;
  #ring: LogFrame[];
  #chars: number;
  readonly #active = new Map<string, LogFrame>();
  readonly #clientRules = new Map<string, LogFrame>();
  readonly #latest = new Map<string, StateChange>();
  #position: number;

  /** `active`: all pages of active overlays. */
  constructor(snapshot: Omit<Snapshot, "active">, active: LogFrame[]) {
    this.epoch = snapshot.epoch;
    this.#position = snapshot.head;
    this.#ring = [...snapshot.tail];
    this.#chars = charsOf(this.#ring);
    for (const frame of snapshot.rules) this.#setRule(frame);
    for (const frame of active) if (frame.shows) this.#active.set(frame.shows.broadcastId, frame);
    this.applyStates(snapshot.states);
  }

  get head(): number {
    return this.#position;
  }

  /** Applies the frames that follow the head and skips those it already has. */
  apply(frames: LogFrame[]): void {
    for (const frame of frames) {
      if (frame.seq !== this.#position + 1) continue;
      this.#position = frame.seq;
      this.#ring.push(frame);
      this.#chars += frame.body.length;
      if (frame.shows) this.#active.set(frame.shows.broadcastId, frame);
      for (const broadcastId of frame.clears) this.#active.delete(broadcastId);
      if (frame.clears.length > 0) this.#endPersonal(new Set(frame.clears));
      this.#setRule(frame);
    }
    if (this.#ring.length <= 2 * RING && this.#chars <= 2 * CALL_CHARS) return;
    this.#ring = pageOf(this.#ring.slice(-RING).reverse()).page.reverse();
    this.#chars = charsOf(this.#ring);
    this.#deleteExpired(Date.now());
  }

  /** Applies states that are newer than the cached ones, for viewers who connect later. */
  applyStates(changes: StateChange[]): void {
    for (const change of changes) {
      if (TRANSIENT_STATES.has(change.type)) continue;
      const known = this.#latest.get(change.key);
      if (!known || known.at <= change.at) this.#latest.set(change.key, change);
    }
  }

  /** The states that a new viewer receives. */
  states(): StateChange[] {
    return [...this.#latest.values()];
  }

  /** All frames after `seq`, without what viewers wrote and is over; null if the cache doesn't reach back that far. */
  after(seq: number): LogFrame[] | null {
    if (seq >= this.#position) return [];
    const first = this.#ring[0]?.seq ?? Infinity;
    const now = Date.now();
    return first <= seq + 1 ? this.#ring.slice(seq + 1 - first).map((frame) => withoutEnded(frame, now)) : null;
  }

  /** Removes streams' URLs from the frames, as the channel does in its log. */
  redactUrls(): void {
    this.#ring = this.#ring.map((frame) =>
      frame.body.startsWith('{"type":"stream.') ? { ...frame, body: withoutUrl(frame.body) } : frame,
    );
  }

  /** The overlays for a new viewer, in order. */
  overlays(now: number): LogFrame[] {
    this.#deleteExpired(now);
    return [...this.#active.values()];
  }

  /** The active client rules. */
  rules(): LogFrame[] {
    return [...this.#clientRules.values()];
  }

  #endPersonal(cleared: Set<string>): void {
    this.#ring = this.#ring.map((frame) =>
      frame.shows?.personal && cleared.has(frame.shows.broadcastId) ? { ...frame, shows: { ...frame.shows, until: 0 } } : frame,
    );
  }

  #deleteExpired(now: number): void {
    for (const [broadcastId, frame] of this.#active) if ((frame.shows?.until ?? 0) <= now) this.#active.delete(broadcastId);
  }

  #setRule(frame: LogFrame): void {
    if (frame.rule?.active) this.#clientRules.set(frame.rule.id, frame);
    else if (frame.rule) this.#clientRules.delete(frame.rule.id);
  }
}

/** All active overlays, starting with the snapshot's first page; later changes arrive as frames. */
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

const StreamFrame = z.looseObject({ data: z.looseObject({}) });

function withoutUrl(body: string): string {
  const frame = StreamFrame.parse(JSON.parse(body));
  return JSON.stringify({ ...frame, data: { ...frame.data, playbackUrl: null, gated: true } });
}
