export type { ConnectionState } from "../model/state.ts";
export type { ChannelAddress, Position } from "./address.ts";
export { reconnectDelay } from "./backoff.ts";
export { type ChannelConnection, type ChannelOptions, joinChannel } from "./channel.ts";
export { browserEnvironment, type Environment, type EventSourceLike, type SocketLike } from "./environment.ts";
export { type MediaTimeSync, syncToMediaTime } from "./media-time-sync.ts";
export { type HlsLike, hlsProgramDateTime, videoElement } from "./players.ts";
export type { OverlayContent, OverlayShow, ServerFrame, ServerFrameOf, ViewerFrame, Welcome } from "./protocol.ts";
