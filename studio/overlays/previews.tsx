import { useCallback, useEffect, useMemo, useState } from "react";
import type { OverlayShow } from "#sdk/channel/protocol.ts";
import { createClient } from "#sdk/client/index.ts";
import { watchEvent, type WatchedEvent } from "#sdk/core/event.ts";
import type { SdkContext } from "#sdk/core/sdk-context.ts";
import { createSession } from "#sdk/core/session.ts";
import { createStore } from "#sdk/core/store.ts";
import type { UserSettings } from "#sdk/model/configuration.ts";
import type { EventTheme, PollState, TifoEventState } from "#sdk/model/state.ts";
import { SdkContextProvider } from "#sdk/react/context.tsx";
import { TifoOverlay } from "#sdk/react/overlay/tifo-overlay.tsx";
import "#sdk/styles/tifo.css";
import { useSession } from "#studio/session/context.tsx";
import type { ShownElement } from "./model.ts";
import "./previews.css";

interface Props {
  contents: readonly ShownElement[];
  theme: EventTheme | null;
  /** The poll that an element shows, if it shows one. */
  poll: PollState | null;
  isDark: boolean;
  /** Of the players; by default four. */
  widths?: readonly number[];
}

const SIZES = [320, 640, 1280, 1920] as const;
/** Nothing is watched: it only has the form of a channel's id. */
const NO_CHANNEL = "0".repeat(24);
const HOUR_MS = 3_600_000;

/** The overlay on players of several widths, drawn by the SDK itself; html only in its sandboxed frame. */
export default function Previews({ contents, theme, poll, isDark, widths = SIZES }: Props) {
  const contexts = useContexts(isDark, widths);
  useEffect(() => {
    for (const { store } of contexts) store.update((state) => ({ ...state, theme, polls: poll ? { [poll.pollId]: poll } : {} }));
  }, [contexts, theme, poll]);
  useEffect(() => {
    const overlays = contents.length === 0 ? [] : [{ broadcastId: "preview", overlay: frameOf(contents) }];
    for (const { store } of contexts) store.update((state) => ({ ...state, overlays }));
  }, [contexts, contents]);
  return (
    <div className="previews">
      {contexts.map(({ width, context }) => (
        <Preview key={width} width={width} context={context} />
      ))}
    </div>
  );
}

function Preview({ width, context }: { width: number; context: SdkContext }) {
  const screen = useCallback(
    (element: HTMLElement | null) => {
      if (!element) return;
      const observer = new ResizeObserver(() => element.style.setProperty("--scale", String(element.clientWidth / width)));
      observer.observe(element);
      return () => observer.disconnect();
    },
    [width],
  );
  return (
    <figure className="preview" data-width={width}>
      <div className="preview-screen" ref={screen} inert>
        <div className="preview-stage" style={{ inlineSize: width, blockSize: (width * 9) / 16 }}>
          <SdkContextProvider context={context}>
            <TifoOverlay safeArea={undefined} />
          </SdkContextProvider>
        </div>
      </div>
      <figcaption>
        {width} × {(width * 9) / 16}
      </figcaption>
    </figure>
  );
}

interface Screen {
  width: number;
  store: ReturnType<typeof createStore<TifoEventState>>;
  context: SdkContext;
}

/** An event for each screen. It is stopped before it connects: nothing is counted, and its buttons do nothing. */
function useContexts(isDark: boolean, widths: readonly number[]): readonly Screen[] {
  const { siteId } = useSession();
  const [settings] = useState(() => createStore<UserSettings>({ overlays: true, reducedMotion: true, textScale: 1 }));
  return useMemo(() => {
    const { origin } = location;
    // Its requests never end, so that it has nothing to show but what it is given.
    const client = createClient({ origin, clientId: siteId, fetch: () => new Promise<Response>(() => undefined) });
    const session = { ...createSession({ clientId: siteId, origin, insights: false, mode: isDark ? "dark" : "light" }), client };
    return widths.map((width) => {
      const stopped = watchEvent(session, NO_CHANNEL);
      stopped.stop();
      const store = createStore<TifoEventState>(stopped.getSnapshot());
      const event: WatchedEvent = {
        ...stopped,
        subscribe: store.subscribe,
        getSnapshot: store.getSnapshot,
        attachRenderer: () => () => undefined,
        overlayRendered: () => undefined,
        trackImpression: () => undefined,
        reportAction: () => undefined,
        followPoll: () => undefined,
        dismissOverlay: () => undefined,
      };
      return { width, store, context: { event, session, settings } };
    });
  }, [siteId, isDark, widths, settings]);
}

function frameOf(contents: readonly ShownElement[]): OverlayShow {
  const now = Date.now();
  return {
    type: "overlay.show",
    seq: 0,
    upTo: 0,
    broadcastId: "preview",
    overlayId: NO_CHANNEL,
    startsAt: now,
    endsAt: now + HOUR_MS,
    position: contents[0]?.position ?? "center",
    contents: [...contents],
    variables: {},
    priority: 0,
    cta: null,
  };
}
