import { useEffect, useState } from "react";
import type { VideoPlayer } from "#sdk/players/index.ts";

const REFRESH_MS = 500;
const STEP_SECONDS = 30;

interface Position {
  paused: boolean;
  live: boolean;
  /** Seconds between what the camera saw and the screen. */
  delay: number | null;
}

/** Plays, pauses, and goes back: to see that overlays follow the picture. */
export function PlayerBar({ player }: { player: VideoPlayer | null }) {
  const { paused, live, delay } = usePosition(player);
  const back = () => {
    const time = player?.mediaTime() ?? null;
    if (time !== null) player?.seek?.(time - STEP_SECONDS);
  };
  const toLive = () => {
    player?.seek?.(Date.now() / 1000 - LIVE_DELAY);
    void player?.play?.();
  };
  return (
    <div className="player-bar" role="group" aria-label="Player">
      <button type="button" disabled={!player} onClick={() => (paused ? void player?.play?.() : player?.pause?.())}>
        {paused ? "Play" : "Pause"}
      </button>
      <button type="button" disabled={!player} onClick={back}>
        Back {STEP_SECONDS} s
      </button>
      <button type="button" className="live" data-live={live} disabled={!player || (live && !paused)} onClick={toLive}>
        {live ? "Live" : "Go live"}
      </button>
      <span className="delay">{delay !== null && `This picture is ${delay} s old.`}</span>
    </div>
  );
}

/** Seconds behind the present at which the stream is played live: three segments. */
const LIVE_DELAY = 12;

function usePosition(player: VideoPlayer | null): Position {
  const [position, setPosition] = useState<Position>({ paused: true, live: false, delay: null });
  useEffect(() => {
    if (!player) return undefined;
    const read = () => {
      const date = player.programDateTime();
      const delay = date === null ? null : Math.max(0, Math.round((Date.now() - date) / 1000));
      setPosition({ paused: player.paused(), live: player.atLiveEdge(), delay });
    };
    const timer = setInterval(read, REFRESH_MS);
    const stop = player.onChange?.(read);
    return () => {
      clearInterval(timer);
      stop?.();
    };
  }, [player]);
  return position;
}
