import type { Rendered, TifoCore } from "../model/core.ts";
import type { TrackedAction } from "../model/event-delegate.ts";

/** Options of `TifoLegacy.init`. */
export interface LegacyOptions {
  /** The site's id. */
  siteId: string;
  channelId: string;
  /** Element or selector for panels. */
  panel?: Element | string;
  /** Element or selector for overlays, over the player. */
  overlay?: Element | string;
  /** JWT of the viewer. Absent: anonymous. */
  token?: string;
  /** Origin of the deployment. Default: the origin of the script. */
  origin?: string;
  /** Receives every event as `(name, data)`. */
  onEvent?: (name: string, data: TrackedAction["properties"]) => void;
}

/** The older interface on top of the Web SDK. */
export function createLegacy(tifo: TifoCore) {
  let rendered: Rendered[] = [];
  let seconds: number | null = null;

  /** Called with the first media time: until then there is no player, so overlays don't wait. */
  function attachPlayer(): void {
    tifo.getTifoEventViewModel()?.setPlayer({ mediaTime: () => seconds, playing: () => seconds !== null });
  }

  const legacy = {
    /** Configures the SDK, joins the channel and renders. Calling it again starts over. Rejects if the options are invalid. */
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
      if (seconds !== null) attachPlayer();
      if (panel !== undefined) rendered.push(tifo.renderPanel(elementFor(panel)));
      if (overlay !== undefined) rendered.push(tifo.renderOverlay(elementFor(overlay)));
    },
    /** Opens a panel by id, or the first one of a kind. Returns false if the event has no such panel. */
    showPanel(panel: string): boolean {
      const event = tifo.getTifoEventViewModel();
      if (!event) return false;
      const match = event.getPanels().find(({ id, kind }) => id === panel || kind === panel);
      return match !== undefined && event.openPanel(match.id);
    },
    hidePanel(): void {
      tifo.getTifoEventViewModel()?.closePanel();
    },
    /** The player's media time in seconds; call it about once a second. */
    setTime(mediaTime: number): void {
      const isFirst = seconds === null;
      seconds = mediaTime;
      if (isFirst) attachPlayer();
    },
    /** Leaves the channel and removes everything from the page. Safe to repeat. */
    destroy(): void {
      for (const one of rendered) one.unmount();
      rendered = [];
      seconds = null;
      tifo.userDidStopWatchingEvent();
    },
  };
  return legacy;
}

function elementFor(target: Element | string): Element {
  const element = typeof target === "string" ? document.querySelector(target) : target;
  if (!element) throw new TypeError("Tifo: element not elementFor");
  return element;
}
