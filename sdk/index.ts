import { createTifo } from "./core/core.ts";
import * as renderer from "./react/mount.tsx";

// The SDK for apps with a bundler: `import * as Tifo from "@tifo/web"`.
export const {
  configure,
  userDidStartWatchingEvent,
  userDidStopWatchingEvent,
  userDidChange,
  getTifoEventViewModel,
  renderPanel,
  renderChat,
  renderOverlay,
  getUserSettings,
  updateUserSettings,
} = createTifo(renderer);

export { hlsProgramDateTime, videoElement } from "./channel/index.ts";
export { TifoProblem } from "./client/index.ts";
export type * from "./model/configuration.ts";
export type * from "./model/core.ts";
export type * from "./model/event-delegate.ts";
export type * from "./model/event-interface.ts";
export type * from "./model/player.ts";
export type * from "./model/state.ts";
