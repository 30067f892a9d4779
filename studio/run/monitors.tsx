import { type RefObject, useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { watchEvent, type WatchedEvent } from "#sdk/core/event.ts";
import type { SdkContext } from "#sdk/core/sdk-context.ts";
import { createSession } from "#sdk/core/session.ts";
import { createStore } from "#sdk/core/store.ts";
import type { UserSettings } from "#sdk/model/configuration.ts";
import type { ShownOverlay, TifoEventState } from "#sdk/model/state.ts";
import { SdkContextProvider } from "#sdk/react/context.tsx";
import { TifoOverlay } from "#sdk/react/overlay/tifo-overlay.tsx";
import "#sdk/styles/tifo.css";
import { useSession } from "#studio/session/context.tsx";
import type { Previewed } from "./model.ts";

interface Props {
  channelId: string;
  /** What the next item would show; null if nothing. */
  preview: Previewed | null;
  /** In place of the preview. */
  previewNote: string;
  previewName: string;
  onCount: (viewers: number) => void;
  onConnection: (isOnline: boolean) => void;
  /** A rundown of the channel has changed. */
  onChange: (rundownId: string) => void;
}

/** The next item as viewers would see it, and the channel as they see it: the SDK itself, on the channel's own connection. */
export default function Monitors({ channelId, preview, previewNote, previewName, ...listeners }: Props) {
  const program = useProgram(channelId, listeners);
  const next = usePreview(program, preview);
  const isOnline = useConnection(program?.event);
  return (
    <>
      <Monitor title="Preview" detail={previewName} context={next} note={preview ? null : previewNote} />
      <Monitor title="Program" detail={isOnline ? "Live" : "Connecting…"} context={program} note={null} isLive={isOnline} />
    </>
  );
}

interface MonitorProps {
  title: string;
  detail: string;
  context: SdkContext | null;
  note: string | null;
  isLive?: boolean;
}

/** The width of the player that a monitor shows a miniature of; as in the style sheet. */
const STAGE_WIDTH = 800;

function Monitor({ title, detail, context, note, isLive = false }: MonitorProps) {
  const id = `monitor-${title.toLowerCase()}`;
  const screen = useScale();
  return (
    <section className="card monitor" aria-labelledby={id} data-live={isLive}>
      <div className="monitor-head">
        <h2 id={id}>{title}</h2>
        <span className="monitor-detail">{detail}</span>
      </div>
      <div className="monitor-screen" ref={screen}>
        {context && (
          <div className="monitor-stage">
            <SdkContextProvider context={context}>
              <TifoOverlay safeArea={undefined} />
            </SdkContextProvider>
          </div>
        )}
        {note !== null && <p className="monitor-note">{note}</p>}
      </div>
    </section>
  );
}

/** Scales the player to the monitor. */
function useScale() {
  return useCallback((element: HTMLElement | null) => {
    if (!element) return;
    const observer = new ResizeObserver(() => {
      element.style.setProperty("--scale", String(element.clientWidth / STAGE_WIDTH));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
}

type Listeners = Pick<Props, "onCount" | "onConnection" | "onChange">;

/** Watches the channel as the signed-in account, which counts as one of its viewers. */
function useProgram(channelId: string, listeners: Listeners): SdkContext | null {
  const { siteId, client } = useSession();
  const current = useLatest(listeners);
  const [context, setContext] = useState<SdkContext | null>(null);
  useEffect(() => {
    const delegate = { getUserToken: () => client.token() };
    const session = createSession({ clientId: siteId, origin: location.origin, insights: false, mode: "dark", delegate });
    const event = watchEvent(session, channelId, {
      onFrame(frame) {
        if (frame.type === "rundown.changed") current.current.onChange(frame.rundownId);
      },
    });
    const report = (): void => {
      const { concurrents, connection } = event.getSnapshot();
      current.current.onCount(concurrents);
      current.current.onConnection(connection === "live");
    };
    const stopReporting = event.subscribe(report);
    const settings = createStore<UserSettings>({ overlays: true, reducedMotion: isStill(), textScale: 1 });
    setContext({ event, session, settings });
    return () => {
      stopReporting();
      event.stop();
      setContext(null);
    };
  }, [siteId, client, channelId, current]);
  return context;
}

/** The same page and theme, showing what the next item would. Nothing of it is counted, and its buttons do nothing. */
function usePreview(program: SdkContext | null, preview: Previewed | null): SdkContext | null {
  const store = useMemo(() => program && createStore<TifoEventState>({ ...program.event.getSnapshot(), overlays: [] }), [program]);
  useEffect(() => {
    const overlays: ShownOverlay[] = preview ? [{ broadcastId: preview.broadcastId, overlay: shown(preview) }] : [];
    store?.update((state) => ({ ...state, overlays }));
  }, [store, preview]);
  useEffect(() => {
    if (!program || !store) return;
    // Only the look of the page; what is on air belongs to the program.
    const follow = (): void => {
      const { theme, transitions, polls } = program.event.getSnapshot();
      store.update((state) => ({ ...state, theme, transitions, polls }));
    };
    follow();
    return program.event.subscribe(follow);
  }, [program, store]);
  return useMemo(() => {
    if (!program || !store) return null;
    const event: WatchedEvent = {
      ...program.event,
      subscribe: store.subscribe,
      getSnapshot: store.getSnapshot,
      attachRenderer: () => () => undefined,
      overlayRendered: () => undefined,
      trackImpression: () => undefined,
      reportAction: () => undefined,
      dismissOverlay: () => undefined,
    };
    return { ...program, event };
  }, [program, store]);
}

function shown(preview: Previewed): ShownOverlay["overlay"] {
  return { ...preview, type: "overlay.show", seq: 0, upTo: 0 };
}

function useConnection(event: WatchedEvent | undefined): boolean {
  return useSyncExternalStore(event?.subscribe ?? neverChanges, () => event?.getSnapshot().connection === "live");
}

function neverChanges(): () => void {
  return () => undefined;
}

function isStill(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** The latest value, for what outlives a render. */
function useLatest<T>(value: T): RefObject<T> {
  const latest = useRef(value);
  useEffect(() => {
    latest.current = value;
  });
  return latest;
}
