import { type ReactNode, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import type { RenderContext } from "../core/core.ts";
import type { WatchedEvent } from "../core/event.ts";
import type { OverlayOptions, PanelOptions, Rendered } from "../model/core.ts";
import { TifoProvider } from "./context.tsx";
import { manageFocus } from "./focus.ts";
import { TifoOverlay } from "./overlay/tifo-overlay.tsx";
import { TifoPanel } from "./panel/tifo-panel.tsx";

/** Draws the event's panels into an element. */
export function mountPanel(element: Element, event: WatchedEvent, { panelId }: PanelOptions, context: RenderContext): Rendered {
  return mount(element, event, context, <TifoPanel panelId={panelId} />);
}

/** Draws the event's overlays into an element that lies over the player. */
export function mountOverlay(element: Element, event: WatchedEvent, { safeArea }: OverlayOptions, context: RenderContext): Rendered {
  return mount(element, event, context, <TifoOverlay safeArea={safeArea} />);
}

function mount(element: Element, event: WatchedEvent, context: RenderContext, content: ReactNode): Rendered {
  const root = createRoot(element);
  let endFocus: (() => void) | undefined;
  let mounted = true;
  root.render(
    <StrictMode>
      <TifoProvider value={{ ...context, event }}>{content}</TifoProvider>
    </StrictMode>,
  );
  return {
    unmount() {
      endFocus?.();
      if (mounted) root.unmount();
      mounted = false;
    },
    focus(handOver) {
      endFocus?.();
      if (element instanceof HTMLElement) endFocus = manageFocus(element, handOver);
    },
  };
}
