import type { components } from "../generated/protocol.d.ts";

// Made from the schemas by which the server speaks: `scripts/emit-sdk-types.ts`.
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

/** Close codes after which the same request would be refused again: see the realtime page of the docs. */
export const FINAL_CLOSE_CODES: readonly number[] = [4400, 4401, 4403, 4404];
/** Keeps a socket alive; the platform answers it with `pong`. */
export const PING = "ping";
export const PONG = "pong";

/** The frames of one message: a frame or a list of frames. What is no frame at all is left out. */
export function parseMessage(text: string): ServerFrame[] {
  const value: unknown = JSON.parse(text);
  return (Array.isArray(value) ? value : [value]).filter(isFrame);
}

/** Shapes are the server's to keep; types that this client doesn't know pass through to whoever does. */
function isFrame(value: unknown): value is ServerFrame {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}
