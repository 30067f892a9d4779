import { type ReactNode, StrictMode, useSyncExternalStore } from "react";
import { createRoot } from "react-dom/client";
import { type SdkContext, sdkContextOf } from "../core/sdk-context.ts";
import { createStore, type Store } from "../core/store.ts";
import type { OverlayOptions, PanelOptions, Rendered, RenderedOverlay, SafeArea } from "../model/core.ts";
import type { FocusHandover } from "../model/event-delegate.ts";
import type { TifoEventViewModel } from "../model/event-interface.ts";
import { SdkContextProvider } from "./context.tsx";
import { manageFocus, onArrowEntry } from "./focus.ts";
import { TifoOverlay } from "./overlay/tifo-overlay.tsx";
import { TifoChat, TifoPanel } from "./panel/tifo-panel.tsx";

/** Renders the event's panels into an element. */
export function mountPanel(element: Element, event: TifoEventViewModel, { panelId }: PanelOptions): Rendered {
  return mount(element, sdkContextOf(event), <TifoPanel panelId={panelId} />);
}

/** Renders the channel's chat into an element. */
export function mountChat(element: Element, event: TifoEventViewModel): Rendered {
  return mount(element, sdkContextOf(event), <TifoChat />);
}

/** Renders the event's overlays into an element that covers the player. */
export function mountOverlay(element: Element, event: TifoEventViewModel, options: OverlayOptions): RenderedOverlay {
  const safeArea = createStore(options.safeArea);
  return {
    ...mount(element, sdkContextOf(event), <OverlayWithin safeArea={safeArea} />),
    setSafeArea: (next) => safeArea.update(() => next),
  };
}

function OverlayWithin({ safeArea }: { safeArea: Store<SafeArea | undefined> }) {
  return <TifoOverlay safeArea={useSyncExternalStore(safeArea.subscribe, safeArea.getSnapshot)} />;
}

/** Renders components of an event into an element, which may be in a shadow tree. */
export function mount(element: Element, context: SdkContext, content: ReactNode): Rendered {
  const { delegate } = context.session;
  const container = createContainer(element);
  const root = createRoot(container);
  let stopManagingFocus: (() => void) | undefined;
  let mounted = true;
  root.render(
    <StrictMode>
      <SdkContextProvider context={context}>{content}</SdkContextProvider>
    </StrictMode>,
  );
  const stopListening = onArrowEntry(container, (handover) => {
    if (!stopManagingFocus) delegate.notify((host) => host.startFocusManagement?.(handover));
  });

  function releaseFocus(): void {
    stopManagingFocus?.();
    stopManagingFocus = undefined;
  }

  return {
    unmount() {
      if (!mounted) return;
      mounted = false;
      releaseFocus();
      stopListening();
      container.remove();
      // React can't unmount a root while it renders, and the host app may call this from an effect's cleanup.
      queueMicrotask(() => root.unmount());
    },
    focus({ from, onExit }: FocusHandover) {
      releaseFocus();
      // Set before focus enters, so that this entry doesn't call startFocusManagement.
      stopManagingFocus = () => {};
      const end = manageFocus(container, {
        from,
        onExit(direction) {
          stopManagingFocus = undefined;
          onExit(direction);
        },
      });
      if (stopManagingFocus) stopManagingFocus = end;
    },
  };
}

/** A child element without a box of its own, so that the host app can render into its element again right after `unmount`. */
function createContainer(element: Element): HTMLElement {
  const container = document.createElement("div");
  container.style.display = "contents";
  element.append(container);
  return container;
}
