import type { ChatMessage, ChatSettings } from "./wire.ts";

// The chat's operations that the SDK calls, in the form of the generated types.

export type ChatRoomSettings = Pick<ChatSettings, "mode" | "slowSeconds" | "premoderate" | "skus" | "emoji" | "languages"> & {
  pinnedMessageId: string | null;
};

export interface ChatBanInput {
  accountId: string;
  kind: "ban" | "mute";
  channelId: string | null;
  /** Milliseconds since 1970 UTC; null: until it is lifted. */
  until: number | null;
  reason: string;
}

type Path<T> = { path: T };
type Body<T> = { content: { "application/json": T } };
type Json<T> = { headers: Record<string, unknown>; content: { "application/json": T } };
type MessagePath = Path<{ channelId: string; id: string }>;

export interface ChatPaths {
  "/chat/v1/{channelId}/messages": {
    get: {
      parameters: Path<{ channelId: string }> & { query: { before: number; limit: number } };
      responses: { 200: Json<{ results: ChatMessage[]; before: number | null }> };
    };
  };
  "/chat/v1/{channelId}/messages/{id}": {
    delete: { parameters: MessagePath; responses: { 204: { headers: Record<string, unknown>; content?: never } } };
    put: { parameters: MessagePath; requestBody: Body<{ decision: "approve" | "reject" }>; responses: { 200: Json<unknown> } };
  };
  "/chat/v1/{channelId}/messages/{id}/reports": {
    post: { parameters: MessagePath; requestBody: Body<{ reason: string }>; responses: { 201: Json<unknown> } };
  };
  "/chat/v1/bans": { post: { requestBody: Body<ChatBanInput>; responses: { 201: Json<unknown> } } };
  "/chat/v1/{channelId}/settings": {
    put: {
      parameters: Path<{ channelId: string }>;
      requestBody: Body<ChatRoomSettings>;
      responses: { 200: Json<unknown> };
    };
  };
}
