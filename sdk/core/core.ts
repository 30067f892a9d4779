import { videoElement } from "../channel/index.ts";
import type { TifoConfiguration, UserSettings } from "../model/configuration.ts";
import type { OverlayOptions, PanelOptions, Rendered, RenderedOverlay, TifoCore, WatchOptions } from "../model/core.ts";
import type { TifoEventViewModel } from "../model/event-interface.ts";
import type { PlayerAdapter } from "../model/player.ts";
import { steadyEnvironment } from "./clock.ts";
import { type WatchedEvent, watchEvent } from "./event.ts";
import { createSession, type Session } from "./session.ts";
import type { Store } from "./store.ts";
import { registerSdkContext } from "./sdk-context.ts";
import { changedSettings, userSettings } from "./user-settings.ts";
import { injectSiteCode } from "./code-injection.ts";

/** Renders an event into an element; implemented with React. */
export interface Renderer {
  mountPanel(element: Element, event: TifoEventViewModel, options: PanelOptions): Rendered;
  mountChat(element: Element, event: TifoEventViewModel): Rendered;
  mountOverlay(element: Element, event: TifoEventViewModel, options: OverlayOptions): RenderedOverlay;
}

/** Creates the SDK's functions. `scriptOrigin` is the origin of its script, for pages that don't configure one. */
export function createTifo(
  renderer: Renderer,
  scriptOrigin?: string,
  environment = steadyEnvironment,
  allSettings: () => Store<UserSettings> = once(userSettings),
): TifoCore {
  const events = new Map<string, WatchedEvent>();
  let session: Session | null = null;

  function configured(): Session {
    if (!session) throw new Error("Tifo: call configure first");
    return session;
  }

  function watched(channelId: string | undefined): WatchedEvent | null {
    return (channelId === undefined ? [...events.values()].at(-1) : events.get(channelId)) ?? null;
  }

  function required(channelId: string | undefined): WatchedEvent {
    const event = watched(channelId);
    if (!event) throw new Error("Tifo: call userDidStartWatchingEvent first");
    return event;
  }

  /** The watched event, or a new one if there is none or the channel has rejected the viewer for good. */
  function watchedOrNew({ channelId, onFrame, onSent }: WatchOptions): WatchedEvent {
    const known = events.get(channelId);
    if (known && !known.isClosed()) return known;
    known?.stop();
    const event = watchEvent(configured(), channelId, { onFrame, onSent });
    registerSdkContext({ event, session: configured(), settings: allSettings() });
    return event;
  }

  function stopWatching(channelId?: string): void {
    for (const event of channelId === undefined ? [...events.values()] : [events.get(channelId)]) {
      event?.stop();
      if (event) events.delete(event.channelId);
    }
  }

  return {
    configure(configuration: TifoConfiguration) {
      const next = createSession(configuration, scriptOrigin, environment);
      stopWatching();
      session = next;
      if (configuration.codeInjection) void injectSiteCode(configuration.codeInjection, next);
    },
    async userDidStartWatchingEvent(options: WatchOptions): Promise<TifoEventViewModel> {
      const { channelId, player } = options;
      const event = watchedOrNew(options);
      // The last entry of the map is the event that was started most recently.
      events.delete(channelId);
      events.set(channelId, event);
      if (player) event.setPlayer(isVideo(player) ? videoElement(player) : player);
      return event;
    },
    userDidStopWatchingEvent: stopWatching,
    async userDidChange() {
      await Promise.all([...events.values()].map((event) => event.userDidChange()));
    },
    getTifoEventViewModel: (channelId) => watched(channelId),
    renderPanel: (element, options = {}) => renderer.mountPanel(element, required(options.channelId), options),
    renderChat: (element, options = {}) => renderer.mountChat(element, required(options.channelId)),
    renderOverlay: (element, options = {}) => renderer.mountOverlay(element, required(options.channelId), options),
    getUserSettings: () => allSettings().getSnapshot(),
    updateUserSettings(changes) {
      allSettings().update((current) => changedSettings(current, changes));
      return allSettings().getSnapshot();
    },
  };
}

/** Calls the function when its result is first needed. */
export function once<T extends object>(create: () => T): () => T {
  let created: T | undefined;
  return () => (created ??= create());
}

function isVideo(player: PlayerAdapter | HTMLVideoElement): player is HTMLVideoElement {
  return typeof HTMLVideoElement !== "undefined" && player instanceof HTMLVideoElement;
}
