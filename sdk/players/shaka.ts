import type { VideoPlayer } from "../model/player.ts";
import { createAdapter, isVideo, type PlayerOptions } from "./adapter.ts";

/** The part of Shaka Player that the adapter uses. */
export interface ShakaPlayer {
  getMediaElement(): HTMLMediaElement | null;
  getPlayheadTimeAsDate(): Date | null;
  isLive(): boolean;
  seekRange(): { start: number; end: number };
}

/** Shaka Player 4 or newer, after `attach`. */
export function shakaPlayer(player: ShakaPlayer, options?: PlayerOptions): VideoPlayer {
  const video = player.getMediaElement();
  if (!isVideo(video)) throw new TypeError("Tifo: call player.attach with a video element first");
  return createAdapter(
    {
      video,
      programDateTime(time) {
        const date = player.getPlayheadTimeAsDate();
        // Recordings without a clock count from 1970.
        return date === null || date.getTime() < 1e11 ? null : date.getTime() + (time - video.currentTime) * 1000;
      },
      liveTime: () => (player.isLive() ? player.seekRange().end : null),
    },
    options,
  );
}
