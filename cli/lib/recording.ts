import type { Schemas } from "../../sdk/client/index.ts";
import { type Failure, wrongUsage } from "./failure.ts";
import { isRecord } from "./json.ts";

/** What a recording has at a time, in milliseconds. */
export type Entry =
  { at: number; broadcast: RecordedBroadcast } | { at: number; event: Record<string, unknown>; eventId: string | undefined };

/** The part of a frame `overlay.show` that is sent again. */
export interface RecordedBroadcast {
  contents: Record<string, unknown>[];
  cta: unknown;
  /** Seconds. */
  duration: number;
  priority: number;
  broadcastPayload: Record<string, unknown> | undefined;
}

/** Fields of a delivered element that are fields of an overlay's element too. */
const FIELDS: Record<string, readonly string[]> = {
  html: ["kind", "html", "position"],
  rive: ["kind", "mediaId", "fileName", "url", "position"],
  kit: ["kind", "template", "key", "variables", "position"],
};

/** The entries of a file of JSON lines, in order of their times. Frames other than broadcasts are skipped. */
export function parseRecording(text: string): Entry[] {
  const entries = text.split("\n").flatMap((line, index) => (line.trim() === "" ? [] : entryOf(line, index + 1)));
  return entries.sort((one, other) => one.at - other.at);
}

function entryOf(line: string, number: number): Entry[] {
  const value = parsed(line, number);
  if (value.type === "overlay.show") return [broadcastOf(value, number)];
  if (isRecord(value.event) && typeof value.at === "number") {
    return [{ at: value.at, event: value.event, eventId: typeof value.id === "string" ? value.id : undefined }];
  }
  if (typeof value.type === "string") return [];
  throw damaged(`Line ${number} is neither a frame nor an event with "at" and "event".`);
}

function damaged(message: string): Failure {
  return wrongUsage(message, {
    reason: "The file isn't a recording, or it was cut off.",
    fix: "Record again with tifo record <channel>, or tifo tail --channel <channel> --json.",
  });
}

function parsed(line: string, number: number): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (isRecord(value)) return value;
  } catch {
    // Reported below.
  }
  throw damaged(`Line ${number} isn't a JSON object.`);
}

function broadcastOf(frame: Record<string, unknown>, number: number): Entry {
  const { startsAt, endsAt, contents, cta = null, priority = 0, broadcastPayload } = frame;
  if (typeof startsAt !== "number" || typeof endsAt !== "number" || !Array.isArray(contents)) {
    throw damaged(`Line ${number} isn't a complete overlay.show frame.`);
  }
  const broadcast = {
    contents: contents.filter(isRecord).map(elementOf),
    cta,
    duration: (endsAt - startsAt) / 1000,
    priority: typeof priority === "number" ? priority : 0,
    broadcastPayload: isRecord(broadcastPayload) ? broadcastPayload : undefined,
  };
  return { at: startsAt, broadcast };
}

function elementOf(content: Record<string, unknown>): Record<string, unknown> {
  const fields = FIELDS[typeof content.kind === "string" ? content.kind : ""];
  return fields
    ? Object.fromEntries(fields.filter((field) => content[field] !== undefined).map((field) => [field, content[field]]))
    : content;
}

/** The overlay that shows a recorded broadcast. The server checks its elements. */
export function overlayOf({ contents, cta, duration }: RecordedBroadcast, siteId: string): Schemas["OverlayInput"] {
  const overlay = { siteId, name: "Replay", description: "", type: "instance", duration: secondsOf(duration, 1), cta, contents };
  if (!isOverlay(overlay)) throw damaged("A broadcast of the recording has no elements.");
  return overlay;
}

/** Only the fields that a recording could lack: everything else is the server's own. */
function isOverlay(overlay: { contents: unknown[] }): overlay is Schemas["OverlayInput"] {
  return overlay.contents.length > 0;
}

/** Whole seconds within the limits of a broadcast. */
export function secondsOf(duration: number, speed: number): number {
  return Math.min(86_400, Math.max(1, Math.round(duration / speed)));
}
