export { type Chat, type ChatConnection, type ChatOptions, type ChatRequests, joinChat } from "./chat.ts";
export type { ChatItem, ChatState, MessageItem, OutgoingItem, Rejection, SkippedItem } from "./state.ts";
export { blockOf } from "./verdicts.ts";
export type { ChatMessage, ChatServerFrame, ChatSettings, ChatViewerFrame } from "./wire.ts";
