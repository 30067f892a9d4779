import type { VideoPlayer } from "../model/player.ts";
import type { PlayerOptions } from "./adapter.ts";
import { at, bytesIn, secondsAt, textAt } from "./loose.ts";
import { createPlayer } from "./player-cues.ts";

/** The part of dash.js that the adapter uses. */
export interface DashPlayer {
  getVideoElement(): HTMLVideoElement;
  isReady(): boolean;
  isDynamic(): boolean;
  timeAsUTC(): number;
  getCurrentLiveLatency(): number;
  getTargetLiveDelay(): number;
  on(type: string, listener: (event: unknown) => void, scope?: object, options?: object): void;
}

/** The schemes of the event messages that are read; dash.js reports only those that somebody asks for. */
const CUE_SCHEMES = [
  ...["urn:scte:scte35:2013:bin", "urn:scte:scte35:2014:bin", "urn:scte:scte35:2014:xml+bin"],
  ...["https://aomedia.org/emsg/ID3", "https://developer.apple.com/streaming/emsg-id3"],
];

/** dash.js 4 or newer, after `initialize` or `attachView`. Only live streams have a clock of their own. */
export function dashJs(player: DashPlayer, options?: PlayerOptions): VideoPlayer {
  const video = player.getVideoElement();
  const isLive = () => player.isReady() && video.readyState > 0 && player.isDynamic();
  return createPlayer(
    {
      video,
      programDateTime(time) {
        const seconds = isLive() ? player.timeAsUTC() : NaN;
        return seconds > 0 ? (seconds + time - video.currentTime) * 1000 : null;
      },
      liveTime: () => (isLive() ? video.currentTime + player.getCurrentLiveLatency() - player.getTargetLiveDelay() : null),
    },
    {
      follow(cues) {
        for (const schemeIdUri of CUE_SCHEMES)
          player.on(
            schemeIdUri,
            (reported) => {
              const event = at(reported, "event");
              const calculatedPresentationTime = secondsAt(event, "calculatedPresentationTime");
              if (calculatedPresentationTime === null) return;
              const duration = secondsAt(event, "duration");
              const messageData = bytesIn(at(event, "messageData")) ?? at(event, "messageData");
              cues.eventMessage({
                id: textAt(event, "id") ?? secondsAt(event, "id") ?? calculatedPresentationTime,
                ...{ schemeIdUri, messageData, calculatedPresentationTime, ...(duration !== null && { duration }) },
              });
            },
            undefined,
            // As soon as it is found; by default it would come when it is due, and not again after seeking back.
            { mode: "eventModeOnReceive" },
          );
      },
    },
    options,
  );
}
