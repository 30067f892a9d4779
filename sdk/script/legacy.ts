import type { Rendered, TifoCore } from "../model/core.ts";
import type { TrackedAction } from "../model/event-delegate.ts";

/** What `TifoLegacy.init` takes. */
export interface LegacyOptions {
  /** The site's id. */
  siteId: string;
  channelId: string;
  /** Where panels go, as an element or a selector. */
  panel?: Element | string;
  /** Where overlays go: an element over the player. */
  overlay?: Element | string;
  /** JWT of the viewer; absent: anonymous. */
  token?: string;
  /** Origin of the deployment. Default: where the script came from. */
  origin?: string;
  /** Hears everything, as `(name, data)`. */
  onEvent?: (name: string, data: TrackedAction["properties"]) => void;
}

/** The older interface on top of the Web SDK. */
export function createLegacy(tifo: TifoCore) {
  let rendered: Rendered[] = [];
  let seconds: number | null = null;

  /** From the first time on: without a player nothing waits, and a page that never tells a time has none. */
  function followPicture(): void {
    tifo.getTifoEventViewModel()?.setPlayer({ mediaTime: () => seconds, playing: () => seconds !== null });
  }

  const legacy = {
    /** Configures, joins the channel and draws. Calling it again starts over. Rejects for options that make no sense. */
    async init({ siteId, channelId, panel, overlay, token, origin, onEvent }: LegacyOptions): Promise<void> {
      legacy.destroy();
      tifo.configure({
        clientId: siteId,
        origin,
        delegate: {
          getUserToken: () => token ?? null,
          trackAction: ({ name, properties }) => onEvent?.(name, properties),
          trackImpression: ({ kind, id }) => onEvent?.("impression", { kind, id }),
          onPanelEvent: (event) => event.type === "loginRequested" && onEvent?.("login", {}),
        },
      });
      await tifo.userDidStartWatchingEvent({ channelId });
      if (seconds !== null) followPicture();
      if (panel !== undefined) rendered.push(tifo.renderPanel(found(panel)));
      if (overlay !== undefined) rendered.push(tifo.renderOverlay(found(overlay)));
    },
    /** Opens a panel by id or, as the first of its kind, by type; false: the event has none. */
    showPanel(panel: string): boolean {
      const event = tifo.getTifoEventViewModel();
      if (!event) return false;
      const named = event.getPanels().find(({ id, kind }) => id === panel || kind === panel);
      return named !== undefined && event.openPanel(named.id);
    },
    hidePanel(): void {
      tifo.getTifoEventViewModel()?.closePanel();
    },
    /** The player's media time in seconds; call it about once a second. */
    setTime(mediaTime: number): void {
      const isFirst = seconds === null;
      seconds = mediaTime;
      if (isFirst) followPicture();
    },
    /** Leaves the channel and takes everything out of the page. Safe to repeat. */
    destroy(): void {
      for (const one of rendered) one.unmount();
      rendered = [];
      seconds = null;
      tifo.userDidStopWatchingEvent();
    },
  };
  return legacy;
}

function found(target: Element | string): Element {
  const element = typeof target === "string" ? document.querySelector(target) : target;
  if (!element) throw new TypeError("Tifo: there is no such element");
  return element;
}
