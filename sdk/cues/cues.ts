import { safely } from "../channel/report.ts";
import { type Id3Frame, parseId3 } from "./id3.ts";
import { bytesOf } from "./reader.ts";
import { MAX_SECTION_BYTES, parseSplice, type Splice } from "./scte35.ts";

/** Cues that wait for their time, or may be played again, at most. */
const MAX_CUES = 1_000;

/** A cue in the stream, when this viewer's video reaches it. It concerns this page alone: no server and no other viewer learns of it. */
export interface StreamCue {
  kind: "daterange" | "id3" | "scte35";
  /** The stream's own id, or one that is the same for the same cue. */
  id: string;
  /** The class of a date range, the scheme of an event message. */
  scheme: string | null;
  /** Seconds; null if it isn't known. */
  duration: number | null;
  /** A date range's attributes, such as `X-COM-EXAMPLE-AD-ID`. */
  attributes: Record<string, string>;
  /** The frames of an ID3 tag. */
  frames: Id3Frame[];
  /** What a SCTE 35 message says, also one in a date range. */
  splice: Splice | null;
}

/** Where the video is. */
export interface CuePosition {
  /** Seconds on the player's own timeline, such as `video.currentTime`; null if it has none yet. */
  time: number | null;
  /** The stream's date there, such as `hls.playingDate`; null if it has none. */
  date: Date | null;
}

/** A date range as hls.js has it in `details.dateRanges`. */
export interface DateRangeLike {
  id: string;
  class?: string;
  startDate: Date;
  duration?: number | null;
  plannedDuration?: number | null;
  attr: { [name: string]: unknown };
}

/** A sample of timed metadata, as in hls.js's `FRAG_PARSING_METADATA`. */
export interface MetadataSample {
  data: Uint8Array;
  /** Seconds on the player's timeline. */
  pts: number;
  duration?: number;
  /** Such as `org.id3` or `scte35`. */
  type?: string;
}

/** An event message of DASH, as dash.js dispatches it for a subscribed scheme. */
export interface EventMessage {
  id: string | number;
  schemeIdUri: string;
  messageData: unknown;
  /** Seconds on the player's timeline. */
  calculatedPresentationTime: number;
  duration?: number;
}

/** A cue that the player has read itself, such as a browser's `DataCue`. */
export interface ParsedCue extends Omit<StreamCue, "splice"> {
  /** When it begins, in seconds on the player's timeline. */
  time: number;
}

/** Collects the cues that a player finds, and passes each on when the video reaches it. */
export interface Cues {
  /** The date ranges of the playlist: all that it has now. */
  dateRanges(ranges: Readonly<Record<string, DateRangeLike | undefined>>): void;
  samples(samples: readonly MetadataSample[]): void;
  eventMessage(message: EventMessage): void;
  parsed(cues: readonly ParsedCue[]): void;
  /** Passes on what is due. Call it on the video's `timeupdate` and `seeked`. */
  update: () => void;
  /** Forgets all cues, as for another stream. */
  clear(): void;
}

export interface CueOptions {
  position: () => CuePosition;
  onCue: (cue: StreamCue) => void;
}

interface Held {
  cue: StreamCue;
  /** What `from` and `to` are: seconds on the player's timeline, or the stream's date in ms since 1970 UTC. */
  clock: "time" | "date";
  from: number;
  to: number;
  passed: boolean;
}

/**
 * Creates a collector of cues. A cue is passed on once, when the position reaches it, or at once if it is already under way; again only
 * after the viewer has gone back to before it. Those that were over before they were found are left out.
 */
export function createCues({ position, onCue }: CueOptions): Cues {
  const held = new Map<string, Held>();

  function hold(cue: StreamCue, clock: Held["clock"], from: number, length: number): void {
    const key = `${cue.kind} ${cue.id}`;
    const known = held.get(key);
    const { passed = false } = known ?? {};
    held.delete(key);
    held.set(key, { cue, clock, from, to: from + length, passed });
    for (const [oldest] of held) {
      if (held.size <= MAX_CUES) break;
      held.delete(oldest);
    }
  }

  function update(): void {
    const { time, date } = position();
    const due = [...held.values()].filter((one) => {
      const now = one.clock === "date" ? (date?.getTime() ?? null) : time;
      if (now === null) return false;
      // Going back before a cue makes it due again.
      if (now < one.from) one.passed = false;
      return !one.passed && now >= one.from && now <= one.to;
    });
    for (const one of due.sort((first, second) => first.from - second.from)) {
      one.passed = true;
      safely(() => onCue(one.cue));
    }
  }

  return {
    dateRanges(ranges) {
      for (const range of Object.values(ranges)) {
        if (!range || Number.isNaN(range.startDate.getTime())) continue;
        const cue = cueOfRange(range);
        hold(cue, "date", range.startDate.getTime(), Math.max((cue.duration ?? 0) * 1000, GRACE_MS));
      }
      update();
    },
    samples(samples) {
      for (const sample of samples) {
        const cue = cueOfSample(sample);
        if (cue) hold(cue, "time", sample.pts, Math.max(cue.duration ?? 0, GRACE_MS / 1000));
      }
      update();
    },
    eventMessage(message) {
      const cue = cueOfMessage(message);
      if (cue) hold(cue, "time", message.calculatedPresentationTime, Math.max(cue.duration ?? 0, GRACE_MS / 1000));
      update();
    },
    parsed(cues) {
      for (const { time, ...cue } of cues)
        hold({ ...cue, splice: spliceIn(cue.attributes) }, "time", time, Math.max(cue.duration ?? 0, GRACE_MS / 1000));
      update();
    },
    update,
    clear: () => held.clear(),
  };
}

/** How late a cue without a duration may be found, and still be passed on. */
const GRACE_MS = 2_000;

function cueOfRange({ id, class: scheme, duration, plannedDuration, attr }: DateRangeLike): StreamCue {
  const attributes: Record<string, string> = {};
  for (const [name, value] of Object.entries(attr)) if (typeof value === "string") attributes[name] = value;
  return {
    ...{ kind: "daterange", id, scheme: scheme ?? null, attributes, frames: [], splice: spliceIn(attributes) },
    duration: finite(duration) ?? finite(plannedDuration),
  };
}

function cueOfSample({ data, pts, duration, type }: MetadataSample): StreamCue | null {
  const shared = { id: `${type ?? ""} ${pts}`, scheme: type ?? null, duration: finite(duration), attributes: {} };
  if (type !== undefined && /scte.?35/i.test(type)) {
    const splice = parseSplice(data);
    return splice && { kind: "scte35", ...shared, frames: [], splice };
  }
  const frames = parseId3(data);
  return frames.length === 0 ? null : { kind: "id3", ...shared, frames, splice: null };
}

function cueOfMessage({ id, schemeIdUri, messageData, duration }: EventMessage): StreamCue | null {
  const data = typeof messageData === "string" ? bytesOf(messageData, MAX_SECTION_BYTES) : messageData;
  if (!(data instanceof Uint8Array)) return null;
  const shared = { id: `${schemeIdUri} ${id}`, scheme: schemeIdUri, duration: finite(duration), attributes: {} };
  if (schemeIdUri.startsWith("urn:scte:scte35")) {
    const splice = parseSplice(data);
    return splice && { kind: "scte35", ...shared, frames: [], splice };
  }
  const frames = parseId3(data);
  return frames.length === 0 ? null : { kind: "id3", ...shared, frames, splice: null };
}

/** Of a date range. */
function spliceIn({ "SCTE35-OUT": out, "SCTE35-IN": back, "SCTE35-CMD": command }: Record<string, string>): Splice | null {
  const text = out ?? back ?? command;
  const section = text === undefined ? null : bytesOf(text, MAX_SECTION_BYTES);
  return section && parseSplice(section);
}

function finite(seconds: number | null | undefined): number | null {
  return typeof seconds === "number" && Number.isFinite(seconds) && seconds > 0 ? seconds : null;
}
