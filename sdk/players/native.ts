import type { VideoPlayer } from "../model/player.ts";
import { createAdapter, type PlayerOptions, seekableEnd } from "./adapter.ts";

/** Seconds behind the newest segment at which browsers play live streams: three segments of usual length. */
const LIVE_DELAY = 18;

/** A `<video>` element without a library, such as Safari's own HLS. `programmeStart` needs a browser that reports the stream's clock. */
export function videoElement(video: HTMLVideoElement, options?: PlayerOptions): VideoPlayer {
  return createAdapter(
    {
      video,
      programDateTime(time) {
        const start = startDate(video);
        return start === null ? null : start + time * 1000;
      },
      liveTime() {
        const end = video.duration === Infinity ? seekableEnd(video) : null;
        return end === null ? null : end - LIVE_DELAY;
      },
    },
    options,
  );
}

/** The stream's clock at the beginning of the video. Only Safari has it. */
function startDate(video: HTMLVideoElement & { getStartDate?: () => Date }): number | null {
  const date = video.getStartDate?.().getTime() ?? NaN;
  return Number.isNaN(date) ? null : date;
}
