import type { OverlayShow } from "../channel/index.ts";
import { isFrame } from "../channel/protocol.ts";
import { ok } from "../client/index.ts";
import type { Recording } from "../model/event-interface.ts";
import type { Session } from "./session.ts";

const PAGE_SIZE = 200;
/** What is kept for viewers who go back. */
const MAX_BROADCASTS = 2_000;
/** From this on, a timecode is a time since 1970 in seconds. */
const EPOCH_TIMECODE = 1_000_000_000;

/** Loads what the channel showed while the recording was made, page by page: playback doesn't wait for the end of a long one. */
export async function loadRecording(
  { client }: Session,
  channelId: string,
  { startsAt: from, endsAt: to }: Recording,
  onPage: (broadcasts: OverlayShow[]) => void,
): Promise<void> {
  let cursor: string | undefined;
  for (let count = 0; count < MAX_BROADCASTS; count += PAGE_SIZE) {
    const query = { from, limit: PAGE_SIZE, ...(to !== undefined && { to }), ...(cursor !== undefined && { cursor }) };
    const path = { channelId };
    const page = await ok(client.api.GET("/realtime/v1/channels/{channelId}/recording", { params: { path, query } }));
    onPage(page.results.filter(isShow).map((broadcast) => ({ ...broadcast, timecode: timecodeOf(broadcast, from) })));
    if (page.next === null) return;
    cursor = page.next;
  }
}

/** In seconds of the recording. */
function timecodeOf({ timecode, startsAt }: OverlayShow, from: number): number {
  return timecode !== undefined && timecode < EPOCH_TIMECODE ? timecode : (startsAt - from) / 1000;
}

/** Only checks the type, like any frame's: the server has validated the rest. */
function isShow(value: unknown): value is OverlayShow {
  return isFrame(value) && value.type === "overlay.show";
}
