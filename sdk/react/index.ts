export { TifoEventProvider, useEventState, useQuestions, useSettings } from "./context.tsx";
export { TifoOverlay } from "./overlay/tifo-overlay.tsx";
export { TifoChat, TifoPanel } from "./panel/tifo-panel.tsx";
