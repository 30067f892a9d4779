import type { ChatMessage, ChatSettings } from "./wire.ts";

/** The outcome of a message that was rejected. */
export interface Rejection {
  /** An error code of the API, such as `chat_paused`. */
  code: string;
  /** Why, as an English sentence for the viewer. The SDK's own panels say it in the viewer's language. */
  message: string;
  /** After how many seconds another attempt can succeed. */
  retryAfter?: number;
}

/** A message of the room. */
export interface MessageItem {
  kind: "message";
  key: string;
  /** Its position: `chatSeq`, or that of the message before it while it has none. */
  at: number;
  message: ChatMessage;
}

/** Messages that a busy room left out. */
export interface SkippedItem {
  kind: "skipped";
  key: string;
  at: number;
  count: number;
}

/** A message of this viewer that the room hasn't shown yet. */
export interface OutgoingItem {
  kind: "outgoing";
  key: string;
  /** Identifies the attempt, however often it is sent. */
  id: string;
  text: string;
  replyTo: string | null;
  /** Set once the server has rejected it. */
  rejection: Rejection | null;
}

export type ChatItem = MessageItem | SkippedItem | OutgoingItem;

/** State of a chat. Every change creates a new object; items that didn't change keep their identity. */
export interface ChatState {
  /** `joining` until the first history; `waiting` while the connection is interrupted. */
  status: "joining" | "live" | "waiting";
  /** The loaded messages in order, then the viewer's own that are on their way. */
  items: readonly ChatItem[];
  /** Null until the first history. */
  settings: ChatSettings | null;
  /** The viewer's account; null: anonymous. */
  accountId: string | null;
  /** Messages that arrived since the viewer scrolled up. */
  unread: number;
  /** Whether there are older messages to load. */
  hasOlder: boolean;
  loadingOlder: boolean;
  /** Whether the end of `items` is the end of the room. False after loading many older messages: see `showLatest`. */
  atLatest: boolean;
  /** When the viewer may send again, in ms of the environment's clock; 0: now. */
  sendableAt: number;
}

export const EMPTY_CHAT: ChatState = {
  status: "joining",
  items: [],
  settings: null,
  accountId: null,
  unread: 0,
  hasOlder: false,
  loadingOlder: false,
  atLatest: true,
  sendableAt: 0,
};
