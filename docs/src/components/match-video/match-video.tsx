import { type RefObject, useEffect, useRef, useState } from "react";
import type { TifoEventViewModel } from "#sdk/model/event-interface.ts";
import type { VideoPlayer } from "#sdk/players/index.ts";
import { LIVE_MATCH, playMatch } from "./play-match.ts";
import { PlayerBar } from "./player-bar.tsx";
import "./match-video.css";

interface MatchVideoProps {
  event: TifoEventViewModel | null;
  children?: React.ReactNode;
}

/** The demo's live stream, connected to an event: its overlays wait for this video. The children are over the picture. */
export function MatchVideo({ event, children }: MatchVideoProps) {
  const video = useRef<HTMLVideoElement>(null);
  const player = useLiveMatch(video);

  useEffect(() => {
    event?.setPlayer(player);
    return () => event?.setPlayer(null);
  }, [event, player]);

  return (
    <>
      <div className="match-stage">
        <video ref={video} muted playsInline poster="/match/poster.webp" aria-label="A football match: Harbour City against Old Dock" />
        {children}
      </div>
      <PlayerBar player={player} />
    </>
  );
}

/** Loads the stream once the video is in view, and plays it unless the viewer wants less motion. */
function useLiveMatch(ref: RefObject<HTMLVideoElement | null>): VideoPlayer | null {
  const [player, setPlayer] = useState<VideoPlayer | null>(null);
  useEffect(() => {
    const video = ref.current;
    if (!video) return undefined;
    let left = false;
    let stop: (() => void) | undefined;
    const inView = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting !== true) return;
      inView.disconnect();
      void playMatch(video, LIVE_MATCH).then((match) => {
        stop = match.stop;
        if (left) return stop();
        setPlayer(match.player);
        // Browsers may forbid it, for example to save power; there is a button.
        if (!matchMedia("(prefers-reduced-motion: reduce)").matches) void video.play().catch(() => {});
        return undefined;
      });
    });
    inView.observe(video);
    return () => {
      left = true;
      inView.disconnect();
      stop?.();
    };
  }, [ref]);
  return player;
}
