import { useEffect, useReducer, useState, useSyncExternalStore } from "react";
import { createClient, type TifoClient } from "#sdk/client/index.ts";
import { createTifo } from "#sdk/core/core.ts";
import type { TifoEventViewModel } from "#sdk/model/event-interface.ts";
import * as renderer from "#sdk/react/mount.tsx";
import { type ChannelView, EMPTY_VIEW, nextView } from "./channel-view.ts";
import { type Chatter, liveChatters, liveSite } from "./demo.ts";

const tifo = createTifo(renderer);
let account: TifoClient | null = null;

/** Signs in one of the site's accounts, so that it can chat; null: nobody. Throws with the server's message. */
export async function chatAs(chatter: Chatter | null): Promise<void> {
  const person = chatter === null ? undefined : liveChatters()[chatter];
  account = person ? createClient({ origin: location.origin, clientId: liveSite().clientId }) : null;
  if (person) await account?.signIn(person.email, person.password);
  await tifo.userDidChange();
}

/** The live site's channel through the Web SDK, while `joined`; null until then. `onShown` receives each broadcast that is on screen. */
export function useChannel(
  joined: boolean,
  onShown: (broadcastId: string) => void,
): { event: TifoEventViewModel | null; view: ChannelView } {
  const [event, setEvent] = useState<TifoEventViewModel | null>(null);
  const mode = useSyncExternalStore(onThemeChange, currentMode, () => "light" as const);
  const [view, dispatch] = useReducer(nextView, EMPTY_VIEW);

  useEffect(() => {
    if (!joined) return undefined;
    const { clientId, channelId } = liveSite();
    tifo.configure({
      clientId,
      origin: location.origin,
      mode,
      delegate: {
        getUserToken: () => account?.token() ?? null,
        trackImpression: ({ broadcastId }) => broadcastId !== undefined && onShown(broadcastId),
      },
    });
    let left = false;
    void tifo
      .userDidStartWatchingEvent({
        channelId,
        onFrame: (frame) => dispatch({ kind: "frame", frame, at: Date.now() }),
        onSent: (frame) => dispatch({ kind: "sent", frame, at: Date.now() }),
      })
      .then((watched) => left || setEvent(watched));
    return () => {
      left = true;
      tifo.userDidStopWatchingEvent(channelId);
    };
  }, [joined, onShown, mode]);

  return { event, view };
}

/** The colours of the page, which the reader switches without those of the system. */
function currentMode(): "light" | "dark" {
  return document.documentElement.dataset["theme"] === "dark" ? "dark" : "light";
}

function onThemeChange(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => observer.disconnect();
}
