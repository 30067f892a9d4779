import type { Broadcast, LogFrame } from "./channel.protocol.ts";

// Broadcasts that show what viewers wrote, or their names. People and moderators can delete it, so it stays in the log only as long as
// viewers may still have to show it, and never gets into the recording. A broadcast that is retracted leaves the log the same way.

/** The kit's templates for it. */
const TEMPLATES: ReadonlySet<string> = new Set(["question", "chat-message"]);

/** Whether a broadcast is personal by what it shows, also if it isn't marked so. */
export function isPersonal(contents: Broadcast["contents"]): boolean {
  return contents.some((content) => content.kind === "kit" && TEMPLATES.has(content.template));
}

/** Marks the frames that show it, and finds those of earlier releases. */
export const PERSONAL_FRAMES = `ALTER TABLE frames ADD COLUMN personal INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX frames_personal ON frames (until) WHERE personal = 1;
  UPDATE frames SET personal = 1 WHERE shows IS NOT NULL AND (instr(body, 'class=\\"tifo-question\\"') > 0
    OR instr(body, '"template":"question"') > 0 OR instr(body, '"template":"chat-message"') > 0);
  DELETE FROM recording WHERE instr(body, 'class=\\"tifo-question\\"') > 0`;

/** What is left of a frame says that the broadcast is over. */
const END = `UPDATE frames SET personal = 0, shows = NULL, until = NULL,
    body = '{"type":"overlay.clear","seq":' || seq || ',"upTo":' || seq || ',"broadcastIds":["' || shows || '"],"ended":true}'
  WHERE personal = 1`;

/** For those that no viewer may still have to show, and those that were cleared. */
export const END_ENDED = `${END} AND until <= ?`;
export const END_CLEARED = `${END} AND shows IN (SELECT value FROM json_each(?))`;

/** The frame as a viewer receives it who was away: without what is over. */
export function withoutEnded(frame: LogFrame, now: number): LogFrame {
  if (!frame.shows?.personal || frame.shows.until > now) return frame;
  const { seq, shows } = frame;
  const body = JSON.stringify({ type: "overlay.clear", seq, upTo: seq, broadcastIds: [shows.broadcastId], ended: true });
  return { ...frame, body, shows: null };
}
