import type { components } from "../generated/protocol.d.ts";

// Generated from the server's message schemas by `scripts/emit-sdk-types.ts`.
type Schemas = components["schemas"];

export type ChatMessage = Schemas["ChatMessage"];
/** The room's settings as this viewer sees them. */
export type ChatSettings = Schemas["ChatViewerSettings"];
export type ChatHistory = Schemas["ChatHistory"];
export type ChatMessages = Schemas["ChatMessages"];
export type ChatUpdated = Schemas["ChatUpdated"];
export type ChatResult = Schemas["ChatResult"];

/** A frame of the chat from the server. */
export type ChatServerFrame = ChatHistory | ChatMessages | ChatUpdated | Schemas["ChatSettingsChanged"] | ChatResult;
/** A frame of the chat from the viewer. */
export type ChatViewerFrame = Schemas["ChatJoin"] | Schemas["ChatLeave"] | Schemas["ChatSend"] | Schemas["ChatReact"];
export type ChatSend = Schemas["ChatSend"];
export type ChatReact = Schemas["ChatReact"];

export function isChatFrame(frame: { type: string }): frame is ChatServerFrame {
  return frame.type.startsWith("chat.");
}
