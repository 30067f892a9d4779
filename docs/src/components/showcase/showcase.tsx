import { useEffect, useRef, useState } from "react";
import { createRoot } from "react-dom/client";
import { createClient } from "#sdk/client/index.ts";
import { type WatchedEvent, watchEvent } from "#sdk/core/event.ts";
import { registerSdkContext } from "#sdk/core/sdk-context.ts";
import { createSession } from "#sdk/core/session.ts";
import { userSettings } from "#sdk/core/user-settings.ts";
import { TifoEventProvider, TifoOverlay, TifoPanel, useEventState } from "#sdk/react/index.ts";
import { Boundary } from "../boundary.tsx";
import { playMatch, RECORDED_MATCH } from "../match-video/play-match.ts";
import { recordedServer, type RecordedServer } from "./recorded-server.ts";
import { GOALS, RECORDED, recordedBroadcasts, SECONDS, YOU } from "./recorded-show.ts";
import matchStyles from "../match-video/match-video.css?inline";
import styles from "./showcase.css?inline";

const TICK_MS = 250;

/** Plays the recorded match with its overlays, poll, chat and counts. Needs no server. */
export function mountShowcase(element: Element): void {
  // A page links the files that its scripts import, which would make the home page wait for these.
  document.adoptedStyleSheets.push(...[matchStyles, styles].map(sheetOf));
  createRoot(element).render(
    <Boundary>
      <Showcase />
    </Boundary>,
  );
}

function sheetOf(css: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  return sheet;
}

function Showcase() {
  const [run, setRun] = useState(0);
  return <Match key={run} again={() => setRun(run + 1)} />;
}

type Phase = "playing" | "paused" | "ended" | "failed";

function Match({ again }: { again: () => void }) {
  const video = useRef<HTMLVideoElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [event, setEvent] = useState<WatchedEvent | null>(null);
  const [phase, setPhase] = useState<Phase>("paused");
  const [time, setTime] = useState(0);

  useEffect(() => {
    const element = video.current;
    if (!element) return undefined;
    const server = recordedServer(() => element.currentTime);
    const watched = watch(server);
    setEvent(watched);
    const fail = () => setPhase("failed");
    let left = false;
    let stop: (() => void) | undefined;
    playMatch(element, RECORDED_MATCH, fail).then(async (match) => {
      stop = match.stop;
      if (left) return stop();
      watched.setPlayer(match.player);
      watched.replay(recordedBroadcasts());
      // Where a browser doesn't allow it, the visitor presses the button.
      await element.play().catch(() => {});
    }, fail);
    const timer = setInterval(() => {
      server.update();
      setTime(element.currentTime);
    }, TICK_MS);
    // The pressed button is gone.
    button.current?.focus({ preventScroll: true });
    return () => {
      left = true;
      clearInterval(timer);
      stop?.();
      watched.stop();
    };
  }, []);

  const toggle = () => {
    if (phase === "ended" || phase === "failed") again();
    else if (phase === "playing") video.current?.pause();
    else void video.current?.play();
  };
  const seek = (to: number) => {
    if (video.current) video.current.currentTime = to;
    setTime(to);
  };
  return (
    <div className="showcase-match">
      <div className="showcase-screen">
        <div className="match-stage">
          <video
            ref={video}
            muted
            playsInline
            poster="/match/poster.webp"
            aria-label="A football match: Harbour City against Old Dock"
            onPlaying={() => setPhase("playing")}
            onPause={({ currentTarget }) => setPhase(currentTarget.ended ? "ended" : "paused")}
            onEnded={() => setPhase("ended")}
            onError={() => setPhase("failed")}
          />
          {event && (
            <TifoEventProvider event={event}>
              <TifoOverlay />
            </TifoEventProvider>
          )}
        </div>
        <div className="player-bar" role="group" aria-label="Player">
          <button ref={button} type="button" onClick={toggle}>
            {LABELS[phase]}
          </button>
          <Timeline time={time} onSeek={seek} />
          {event && (
            <TifoEventProvider event={event}>
              <Viewers />
            </TifoEventProvider>
          )}
        </div>
        {phase === "failed" && <p role="alert">The video couldn’t be loaded.</p>}
      </div>
      <div className="showcase-panel">
        {event && (
          <TifoEventProvider event={event}>
            <TifoPanel />
          </TifoEventProvider>
        )}
      </div>
    </div>
  );
}

const LABELS: Record<Phase, string> = { playing: "Pause", paused: "Play", ended: "Play again", failed: "Try again" };

/** The position in the video, with a mark for each goal. */
function Timeline({ time, onSeek }: { time: number; onSeek: (time: number) => void }) {
  const played = Math.min(SECONDS, Math.floor(time));
  return (
    <span className="showcase-timeline" style={{ "--played": played / SECONDS }}>
      <input
        type="range"
        min={0}
        max={SECONDS}
        value={played}
        aria-label="Position"
        aria-valuetext={`${clockOf(played)} of ${clockOf(SECONDS)}`}
        onChange={({ target }) => onSeek(Number(target.value))}
      />
      {GOALS.map((at) => (
        <i key={at} style={{ insetInlineStart: `${(100 * at) / SECONDS}%` }} />
      ))}
    </span>
  );
}

function clockOf(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function Viewers() {
  const count = useEventState((state) => state.concurrents);
  return <span className="showcase-viewers">{count > 0 && `${count.toLocaleString("en")} watching`}</span>;
}

/** The recorded channel as an event of the SDK, with the page's visitor signed in. */
function watch(server: RecordedServer): WatchedEvent {
  const { clientId, channelId } = RECORDED;
  const mode = document.documentElement.dataset["theme"] === "dark" ? ("dark" as const) : ("light" as const);
  const configuration = { clientId, origin: location.origin, mode, insights: false, delegate: { getUserToken: token } };
  const client = createClient({ origin: location.origin, clientId, getToken: token, fetch: (request) => server.fetch(request) });
  const ticket = () => Promise.resolve("recorded");
  const session = { ...createSession(configuration, undefined, server.environment), client, ticket };
  const event = watchEvent(session, channelId);
  registerSdkContext({ event, session, settings: userSettings() });
  return event;
}

/** A token that only the recorded server accepts. */
function token(): string {
  const part = (value: object) => btoa(JSON.stringify(value)).replaceAll("=", "");
  return `${part({ alg: "none" })}.${part({ sub: YOU.id, exp: 4_000_000_000 })}.recorded`;
}
