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
import { RECORDED, recordedBroadcasts, SECONDS, YOU } from "./recorded-show.ts";
import "../match-video/match-video.css";
import "./showcase.css";

const TICK_MS = 250;

/** Plays the recorded match with its overlays, poll, chat and counts. Needs no server. */
export function mountShowcase(element: Element): void {
  createRoot(element).render(
    <Boundary>
      <Showcase />
    </Boundary>,
  );
}

function Showcase() {
  const [run, setRun] = useState(0);
  return <Match key={run} again={() => setRun(run + 1)} />;
}

function Match({ again }: { again: () => void }) {
  const video = useRef<HTMLVideoElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [event, setEvent] = useState<WatchedEvent | null>(null);
  const [phase, setPhase] = useState<"playing" | "paused" | "ended" | "failed">("paused");
  const [time, setTime] = useState(0);

  useEffect(() => {
    const element = video.current;
    if (!element) return undefined;
    const server = recordedServer();
    const watched = watch(server);
    setEvent(watched);
    let left = false;
    let stop: (() => void) | undefined;
    playMatch(element, RECORDED_MATCH).then(
      async (match) => {
        stop = match.stop;
        if (left) return stop();
        watched.setPlayer(match.player);
        watched.replay(recordedBroadcasts());
        // Where a browser doesn't allow it, the visitor presses the button.
        await element.play().catch(() => {});
      },
      () => setPhase("failed"),
    );
    const timer = setInterval(() => {
      server.advanceTo(element.currentTime);
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
    if (phase === "ended") again();
    else if (phase === "playing") video.current?.pause();
    else void video.current?.play();
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
          <span className="showcase-progress" aria-hidden="true">
            <span style={{ transform: `scaleX(${Math.min(1, time / SECONDS)})` }} />
          </span>
          {event && (
            <TifoEventProvider event={event}>
              <Viewers />
            </TifoEventProvider>
          )}
        </div>
        {phase === "failed" && <p role="alert">The video couldn’t be played in this browser.</p>}
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

const LABELS = { playing: "Pause", paused: "Play", ended: "Play again", failed: "Try again" };

function Viewers() {
  const count = useEventState((state) => state.concurrents);
  return <span className="delay">{count.toLocaleString("en")} watching</span>;
}

/** The recorded channel as an event of the SDK, with the page's visitor signed in. */
function watch(server: RecordedServer): WatchedEvent {
  const { clientId, channelId } = RECORDED;
  const configuration = { clientId, origin: location.origin, insights: false, delegate: { getUserToken: token } };
  const client = createClient({ origin: location.origin, clientId, getToken: token, fetch: (request) => server.fetch(request) });
  const session = { ...createSession(configuration, undefined, server.environment), client };
  const event = watchEvent(session, channelId);
  registerSdkContext({ event, session, settings: userSettings() });
  return event;
}

/** A token that only the recorded server accepts. */
function token(): string {
  const part = (value: object) => btoa(JSON.stringify(value)).replaceAll("=", "");
  return `${part({ alg: "none" })}.${part({ sub: YOU.id, exp: 4_000_000_000 })}.recorded`;
}
