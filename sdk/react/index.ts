export { TifoProvider, useEventState, useSettings } from "./context.tsx";
export { mountOverlay, mountPanel } from "./mount.tsx";
export { TifoOverlay } from "./overlay/tifo-overlay.tsx";
export { TifoPanel } from "./panel/tifo-panel.tsx";
