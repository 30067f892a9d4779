import type { VideoPlayer } from "../model/player.ts";
import { createAdapter, type PlayerOptions } from "./adapter.ts";

/** The part of dash.js that the adapter uses. */
export interface DashPlayer {
  getVideoElement(): HTMLVideoElement;
  isReady(): boolean;
  isDynamic(): boolean;
  timeAsUTC(): number;
  getCurrentLiveLatency(): number;
  getTargetLiveDelay(): number;
}

/** dash.js 4 or newer, after `initialize` or `attachView`. Only live streams have a clock of their own. */
export function dashJs(player: DashPlayer, options?: PlayerOptions): VideoPlayer {
  const video = player.getVideoElement();
  const isLive = () => player.isReady() && video.readyState > 0 && player.isDynamic();
  return createAdapter(
    {
      video,
      programDateTime(time) {
        const seconds = isLive() ? player.timeAsUTC() : NaN;
        return seconds > 0 ? (seconds + time - video.currentTime) * 1000 : null;
      },
      liveTime: () => (isLive() ? video.currentTime + player.getCurrentLiveLatency() - player.getTargetLiveDelay() : null),
    },
    options,
  );
}
