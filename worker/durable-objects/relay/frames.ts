import type { AccountTags, LogFrame, StateChange } from "#worker/durable-objects/channel/channel.protocol.ts";
import type { VotePayment } from "#worker/durable-objects/poll-counter/poll-counter.protocol.ts";
import { isSegmentLabel } from "#worker/lib/segments.ts";
import { wellFormedJson } from "#worker/lib/well-formed.ts";
import { type HiddenChange, ViewerFrame } from "./relay.protocol.ts";

/** A chat message of 500 characters may be escaped to 12 characters each. */
const MAX_VIEWER_FRAME = 8_192;
const FRAMES_PER_MESSAGE = 200;

// Texts that a relay sends. Log frames are never serialised again: messages are joined from the channel's texts.

/** One frame is sent as is, several as a list. */
export function joinBodies(bodies: string[]): string {
  return bodies.length === 1 ? (bodies[0] ?? "") : `[${bodies.join(",")}]`;
}

/** Splits any number of frames into messages of limited size. */
export function messagesOf(bodies: string[]): string[] {
  const count = Math.ceil(bodies.length / FRAMES_PER_MESSAGE);
  return Array.from({ length: count }, (_, i) => joinBodies(bodies.slice(i * FRAMES_PER_MESSAGE, (i + 1) * FRAMES_PER_MESSAGE)));
}

/** The outcome of a vote. */
export type VoteOutcome = { ok: true; payment?: VotePayment } | { ok: false; code: string; message: string };

export function welcomeFrame(welcome: {
  epoch: string;
  seq: number;
  upTo: number;
  now: number;
  recovered: boolean;
  overlays: string[];
  rules: string[];
  concurrents: number;
  heartbeat: number;
}): string {
  const { overlays, rules, ...rest } = welcome;
  const head = JSON.stringify({ type: "welcome", ...rest });
  return `${head.slice(0, -1)},"overlays":[${overlays.join(",")}],"rules":[${rules.join(",")}]}`;
}

export function concurrentsFrame(upTo: number, count: number): string {
  return JSON.stringify({ type: "concurrents", upTo, count });
}

/** The field with a state's data. */
const STATE_FIELD: Record<StateChange["type"], string> = {
  "poll.updated": "data",
  "question.updated": "question",
  "leaderboard.updated": "leaderboard",
  "entity.updated": "entity",
  "keyPlay.updated": "keyPlay",
};

/** The frames of existing states; deleted ones have none. */
export function stateFrames(upTo: number, changes: StateChange[]): string[] {
  return changes.flatMap(({ type, data }) =>
    data === null ? [] : [`{"type":${JSON.stringify(type)},"upTo":${upTo},"${STATE_FIELD[type]}":${data}}`],
  );
}

export function voteResultFrame(upTo: number, id: string, outcome: VoteOutcome): string {
  const details = outcome.ok ? outcome.payment : { code: outcome.code, message: outcome.message };
  return JSON.stringify({ type: "vote.result", upTo, id, ok: outcome.ok, ...details });
}

export function pongFrame(upTo: number): string {
  return JSON.stringify({ type: "pong", upTo });
}

export function accountChangedFrame(upTo: number, { accountId, tags }: AccountTags): string {
  return JSON.stringify({ type: "account.changed", upTo, data: { _id: accountId, tags } });
}

export function hiddenChangeFrame(upTo: number, { type, ...what }: HiddenChange): string {
  return JSON.stringify({ type, upTo, ...what });
}

export function audienceChangedFrame(upTo: number): string {
  return JSON.stringify({ type: "audience.changed", upTo });
}

export function drainFrame(upTo: number, reconnectIn: number): string {
  return JSON.stringify({ type: "drain", upTo, reconnectIn });
}

/** `close` is the code that the socket closes with after this frame. */
export function errorFrame(code: string, message: string, close?: number): string {
  return JSON.stringify({ type: "error", code, message, close });
}

/** What frames can address a viewer by: its account's tags, and the labels of its segments. */
export function audienceOf(tags: string[], segments: string[]): string[] {
  return [...tags.filter((tag) => !isSegmentLabel(tag)), ...segments];
}

/** Whether a viewer of this audience receives the frame. */
export function reaches(frame: Pick<LogFrame, "tags">, audience: string[]): boolean {
  return frame.tags === null || frame.tags.some((tag) => audience.includes(tag));
}

/** A message for one audience. `upTo` is the position that it brings them to. */
export interface Message {
  text: string;
  upTo: number;
}

/** Builds the message of one push for any viewer's audience; the text for each distinct set of frames is joined once. */
export function messageByAudience(frames: LogFrame[], states: string[], head: number): (audience: string[]) => Message | null {
  const compose = (visible: LogFrame[]): Message | null => {
    const bodies = [...visible.map((frame) => frame.body), ...states];
    if (bodies.length === 0) return null;
    return { text: joinBodies(bodies), upTo: states.length > 0 ? head : (visible.at(-1)?.seq ?? head) };
  };
  if (frames.every((frame) => frame.tags === null)) {
    const forAll = compose(frames);
    return () => forAll;
  }
  const byFrames = new Map<string, Message | null>();
  return (audience) => {
    const visible = frames.filter((frame) => reaches(frame, audience));
    const key = visible.map((frame) => frame.seq).join(",");
    const known = byFrames.get(key);
    if (known !== undefined) return known;
    const message = compose(visible);
    byFrames.set(key, message);
    return message;
  };
}

/** The viewer's frame, or null for anything else. */
export function readViewerFrame(message: string | ArrayBuffer): ViewerFrame | null {
  if (typeof message !== "string" || message.length > MAX_VIEWER_FRAME) return null;
  try {
    return ViewerFrame.parse(JSON.parse(wellFormedJson(message)));
  } catch {
    return null;
  }
}
