// Adapters for video players. Each reads the host app's player; none imports a player.
export type { PlayerAdapter, VideoPlayer } from "../model/player.ts";
export type { PlayerOptions } from "./adapter.ts";
export { dashJs, type DashPlayer } from "./dash-js.ts";
export { hlsJs, type HlsPlayer } from "./hls-js.ts";
export { videoElement } from "./native.ts";
export { shakaPlayer, type ShakaPlayer } from "./shaka.ts";
export { videoJs, type VideoJsPlayer } from "./video-js.ts";
