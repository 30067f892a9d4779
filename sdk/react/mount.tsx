import { type ReactNode, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { sdkContextOf } from "../core/sdk-context.ts";
import type { OverlayOptions, PanelOptions, Rendered } from "../model/core.ts";
import type { FocusHandover } from "../model/event-delegate.ts";
import type { TifoEventViewModel } from "../model/event-interface.ts";
import { TifoEventProvider } from "./context.tsx";
import { manageFocus, onArrowEntry } from "./focus.ts";
import { TifoOverlay } from "./overlay/tifo-overlay.tsx";
import { TifoPanel } from "./panel/tifo-panel.tsx";

/** Draws the event's panels into an element. */
export function mountPanel(element: Element, event: TifoEventViewModel, { panelId }: PanelOptions): Rendered {
  return mount(element, event, <TifoPanel panelId={panelId} />);
}

/** Draws the event's overlays into an element that lies over the player. */
export function mountOverlay(element: Element, event: TifoEventViewModel, { safeArea }: OverlayOptions): Rendered {
  return mount(element, event, <TifoOverlay safeArea={safeArea} />);
}

function mount(element: Element, event: TifoEventViewModel, content: ReactNode): Rendered {
  const { delegate } = sdkContextOf(event).session;
  const place = placeIn(element);
  const root = createRoot(place);
  let endFocus: (() => void) | undefined;
  let mounted = true;
  root.render(
    <StrictMode>
      <TifoEventProvider event={event}>{content}</TifoEventProvider>
    </StrictMode>,
  );
  const endEntry = onArrowEntry(place, (handover) => {
    if (!endFocus) delegate.tell((host) => host.startFocusManagement?.(handover));
  });

  function stopFocus(): void {
    endFocus?.();
    endFocus = undefined;
  }

  return {
    unmount() {
      if (!mounted) return;
      mounted = false;
      stopFocus();
      endEntry();
      place.remove();
      // A host app that is drawing itself, as React is in an effect's cleanup, must not be interrupted.
      queueMicrotask(() => root.unmount());
    },
    focus({ from, onExit }: FocusHandover) {
      stopFocus();
      // Set before focus comes in, so that this way in is not told.
      endFocus = () => {};
      const end = manageFocus(place, {
        from,
        onExit(direction) {
          endFocus = undefined;
          onExit(direction);
        },
      });
      if (endFocus) endFocus = end;
    },
  };
}

/** An element of our own that takes no part in the layout: the host app's may be drawn into again at once. */
function placeIn(element: Element): HTMLElement {
  const place = document.createElement("div");
  place.style.display = "contents";
  element.append(place);
  return place;
}
