import { useCallback, useEffect, useState } from "react";
import type { ConnectionState } from "#sdk/channel/index.ts";
import type { TifoEventViewModel } from "#sdk/model/event-interface.ts";
import { TifoEventProvider, useEventState } from "#sdk/react/index.ts";
import { Boundary } from "../boundary.tsx";
import { EngagementCards } from "./engagement-cards.tsx";
import { Chat } from "./chat.tsx";
import type { ChannelView } from "./channel-view.ts";
import { broadcastDemoOverlay, type DEMO_OVERLAYS, isDemoServer, liveOverlays } from "./demo.ts";
import { FrameLog } from "./frame-log.tsx";
import { Stage } from "./stage.tsx";
import { useChannel } from "./use-channel.ts";
import "./live-channel.css";

type Server = "unknown" | "demo" | "other";

const STATES = { connecting: "Connecting", live: "Live", resuming: "Resuming", offline: "Offline" } as const;

/** The demo channel of the server that served this page: its overlays, its viewers, and a button that broadcasts. */
export function LiveChannel() {
  return (
    <Boundary>
      <Channel />
    </Boundary>
  );
}

function Channel() {
  const server = useServer();
  const { press, shown, note } = useBroadcast();
  const { event, view } = useChannel(server === "demo", shown);

  if (server === "other") {
    return (
      <section className="live-channel not-content" aria-label="Live channel" data-pagefind-ignore>
        <p className="elsewhere">
          This server doesn’t run the demo site. Create a <a href="/sandbox">sandbox</a> to have a channel here, or start Tifo on your
          machine with <code>npm start</code> and open this page there.
        </p>
      </section>
    );
  }
  return (
    <section className="live-channel not-content" aria-label="Live channel" data-pagefind-ignore>
      {event ? (
        <TifoEventProvider event={event}>
          <Screen event={event} view={view} press={press} note={note} />
        </TifoEventProvider>
      ) : (
        <>
          <Status connection="connecting" />
          <Stage event={null} />
        </>
      )}
    </section>
  );
}

interface ScreenProps {
  event: TifoEventViewModel;
  view: ChannelView;
  press: (overlay?: (typeof DEMO_OVERLAYS)[number]) => void;
  note: string;
}

/** The event that is being watched, with the data of its frames next to it. */
function Screen({ event, view: { tally, quest, log }, press, note }: ScreenProps) {
  const connection = useEventState((state) => state.connection);
  const reason = useEventState((state) => state.reason);
  const viewers = useEventState((state) => state.concurrents);
  const [chosen, setChosen] = useState(0);
  return (
    <>
      <Status connection={connection} reason={reason} viewers={connection === "live" ? viewers : undefined} />
      <Stage event={event} />
      <Chat />
      <EngagementCards tally={tally} quest={quest} />
      <div className="controls">
        <label>
          Overlay{" "}
          <select value={chosen} onChange={({ target }) => setChosen(Number(target.value))}>
            {liveOverlays().map(({ id, name }, index) => (
              <option key={id} value={index}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button type="button" className="tifo-button" disabled={connection !== "live"} onClick={() => press(liveOverlays()[chosen])}>
          Broadcast the demo overlay
        </button>
        <p role="status">{note}</p>
      </div>
      <FrameLog log={log} />
    </>
  );
}

interface StatusProps {
  connection: ConnectionState;
  /** Why it is offline. */
  reason?: string | undefined;
  viewers?: number | undefined;
}

function Status({ connection, reason, viewers }: StatusProps) {
  return (
    <div className="status">
      <span role="status" className="connection" data-state={connection}>
        {STATES[connection]}
        {reason !== undefined && `: ${reason}`}
      </span>
      <span className="viewers">
        <span data-viewers>{viewers ?? "–"}</span> {viewers === 1 ? "viewer" : "viewers"}
      </span>
    </div>
  );
}

/** Whether this server runs the demo. If it can't be reached now, the channel keeps retrying. */
function useServer(): Server {
  const [server, setServer] = useState<Server>("unknown");
  useEffect(() => {
    isDemoServer().then(
      (demo) => setServer(demo ? "demo" : "other"),
      () => setServer("demo"),
    );
  }, []);
  return server;
}

/** The button's broadcast, and how long its overlay took to appear. */
function useBroadcast() {
  const [press, setPress] = useState<{ at: number; broadcastId?: string; failure?: string }>();
  const [seen, setSeen] = useState<{ at: number; broadcastId: string }>();

  const shown = useCallback((broadcastId: string) => {
    setSeen((last) => (last?.broadcastId === broadcastId ? last : { at: performance.now(), broadcastId }));
  }, []);

  function broadcast(overlay?: (typeof DEMO_OVERLAYS)[number]): void {
    const at = performance.now();
    setPress({ at });
    broadcastDemoOverlay(overlay).then(
      (broadcastId) => setPress({ at, broadcastId }),
      (error: unknown) => setPress({ at, failure: error instanceof Error ? error.message : String(error) }),
    );
  }

  let note = "";
  if (press?.failure !== undefined) note = press.failure;
  else if (press !== undefined && seen !== undefined && press.broadcastId === seen.broadcastId) {
    note = `On screen ${Math.round(seen.at - press.at)} ms after the press.`;
  }
  return { press: broadcast, shown, note };
}
