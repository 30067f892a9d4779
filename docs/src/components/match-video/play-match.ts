import { hlsJs, videoElement, type VideoPlayer } from "#sdk/players/index.ts";

/** The demo's live stream, whose media time is in seconds since 1970. */
export const LIVE_MATCH = { source: "/demo/match/live.m3u8", programmeStart: 0 };
/** The match as a recording, on every deployment. */
export const RECORDED_MATCH = { source: "/match/match.m3u8", programmeStart: undefined };

export interface PlayedMatch {
  player: VideoPlayer;
  stop: () => void;
}

/** Loads the match into a video element, with hls.js, which is loaded now, or the browser's own HLS. hls.js calls `onFailed` if it gives up. */
export async function playMatch(
  video: HTMLVideoElement,
  { source, programmeStart }: typeof LIVE_MATCH | typeof RECORDED_MATCH,
  onFailed?: () => void,
): Promise<PlayedMatch> {
  const options = programmeStart === undefined ? {} : { programmeStart };
  const { default: Hls } = await import("hls.js/light");
  if (Hls.isSupported()) {
    const hls = new Hls({ maxBufferLength: 20, backBufferLength: 240 });
    hls.on(Hls.Events.ERROR, (_, { fatal }) => fatal && onFailed?.());
    hls.attachMedia(video);
    hls.loadSource(source);
    return { player: hlsJs(hls, options), stop: () => hls.destroy() };
  }
  // iPhones without Managed Media Source.
  video.src = source;
  return {
    player: videoElement(video, options),
    stop() {
      video.removeAttribute("src");
      video.load();
    },
  };
}
