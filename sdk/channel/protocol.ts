import type { components } from "../generated/protocol.d.ts";

// Generated from the server's message schemas by `scripts/emit-sdk-types.ts`.
type Schemas = components["schemas"];

/** One broadcast of an overlay. */
export type OverlayShow = Schemas["OverlayShow"];
export type OverlayContent = Schemas["OverlayContent"];
export type Welcome = Schemas["Welcome"];
/** Any frame from the server. */
export type ServerFrame = Schemas["ServerFrame"];
export type ServerFrameOf<T extends ServerFrame["type"]> = Extract<ServerFrame, { type: T }>;
/** Any frame from the viewer. */
export type ViewerFrame = Schemas["ViewerFrame"];

/** Close codes after which the same request would be rejected again: see the realtime page of the docs. */
export const FINAL_CLOSE_CODES: readonly number[] = [4400, 4401, 4403, 4404];
/** Keeps a socket alive; the platform replies with `pong`. */
export const PING = "ping";
export const PONG = "pong";

/** The frames of a message, which is a frame or a list of frames. Anything else is skipped. */
export function parseMessage(text: string): ServerFrame[] {
  const value: unknown = JSON.parse(text);
  return (Array.isArray(value) ? value : [value]).filter(isFrame);
}

/** Only checks for a type, because the server validates shapes. Unknown types pass through to the listener. */
export function isFrame(value: unknown): value is ServerFrame {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}
