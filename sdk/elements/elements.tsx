import { videoElement } from "../channel/index.ts";
import type { PanelOptions } from "../model/core.ts";
import type { TifoEventViewModel } from "../model/event-interface.ts";
import { lateStyles } from "../react/context.tsx";
import { TifoOverlay } from "../react/overlay/tifo-overlay.tsx";
import { TifoChat, TifoPanel, TifoPoll } from "../react/panel/tifo-panel.tsx";
import { defineElement, type ElementKind, type ElementsContext, type TifoElement } from "./tifo-element.ts";

declare global {
  interface HTMLElementTagNameMap {
    "tifo-overlays": TifoElement;
    "tifo-panel": TifoElement;
    "tifo-poll": TifoElement;
    "tifo-chat": TifoElement;
  }
}

const HEIGHT = ":host { height: 480px; }";

const KINDS: Record<string, ElementKind> = {
  "tifo-overlays": {
    attributes: ["safe-area", "player"],
    css: ":host { position: absolute; inset: 0; pointer-events: none; }",
    content: (element) => <TifoOverlay safeArea={safeAreaOf(element)} />,
    shows: (_, { kind }) => kind === "overlay",
    joined(element, event) {
      const stops = [connectPlayer(element, event), ...(element.shadowRoot ? [lateStyles.follow(element.shadowRoot)] : [])];
      return () => stops.forEach((stop) => stop());
    },
  },
  "tifo-panel": {
    attributes: ["panel"],
    css: HEIGHT,
    content: (element) => <TifoPanel panelId={panelOf(element)} />,
    shows: (element, { kind, id }) => kind !== "overlay" && (kind !== "panel" || [undefined, id].includes(panelOf(element))),
  },
  "tifo-poll": {
    attributes: ["poll"],
    css: "",
    content(element) {
      const pollId = element.getAttribute("poll");
      return pollId ? <TifoPoll pollId={pollId} /> : null;
    },
    shows: (element, { kind, id }) => kind === "poll" && element.getAttribute("poll") === id,
  },
  "tifo-chat": { attributes: [], css: HEIGHT, content: () => <TifoChat />, shows: () => false },
};

/** Registers the SDK's elements. */
export function defineElements(context: ElementsContext): void {
  for (const [name, kind] of Object.entries(KINDS)) defineElement(name, kind, context);
}

function panelOf(element: Element): PanelOptions["panelId"] {
  return element.getAttribute("panel") ?? undefined;
}

/** Pixels, 0 to 1,000; undefined: the default. */
function safeAreaOf(element: Element): number | undefined {
  const pixels = Number(element.getAttribute("safe-area") ?? NaN);
  return pixels >= 0 && pixels <= 1_000 ? pixels : undefined;
}

/** Overlays with a media time wait for the `<video>` that the attribute `player` selects. */
function connectPlayer(element: Element, event: TifoEventViewModel): () => void {
  const selector = element.getAttribute("player");
  if (!selector) return () => {};
  let connected = false;
  const connect = () => {
    const video = find(selector);
    if (video && element.isConnected) event.setPlayer(videoElement(video));
    connected = video !== null;
  };
  connect();
  // The video may be further down on a page that is still being parsed.
  if (!connected && document.readyState === "loading") document.addEventListener("DOMContentLoaded", connect, { once: true });
  return () => {
    document.removeEventListener("DOMContentLoaded", connect);
    if (connected) event.setPlayer(null);
  };
}

function find(selector: string): HTMLVideoElement | null {
  try {
    const found = document.querySelector(selector);
    if (found instanceof HTMLVideoElement) return found;
    if (document.readyState !== "loading") console.warn(`Tifo: player="${selector}" selects no <video>`);
  } catch {
    console.warn(`Tifo: player="${selector}" isn't a selector`);
  }
  return null;
}
