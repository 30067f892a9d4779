import { type Source, seekableEnd } from "./adapter.ts";

/** Seconds behind the newest segment at which browsers play live streams: three segments of usual length. */
const LIVE_DELAY = 18;

/** A `<video>` element that plays by itself, without the cues in its stream. */
export function nativeSource(video: HTMLVideoElement): Source {
  return {
    video,
    programDateTime(time) {
      const start = startDate(video);
      return start === null ? null : start + time * 1000;
    },
    liveTime() {
      const end = video.duration === Infinity ? seekableEnd(video) : null;
      return end === null ? null : end - LIVE_DELAY;
    },
  };
}

/** The stream's clock at the beginning of the video. Only Safari has it. */
function startDate(video: HTMLVideoElement & { getStartDate?: () => Date }): number | null {
  const date = video.getStartDate?.().getTime() ?? NaN;
  return Number.isNaN(date) ? null : date;
}
