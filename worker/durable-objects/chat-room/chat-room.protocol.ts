import type { CHAT_MESSAGE_STATES, CHAT_MODES, CHAT_SENDER_ROLES } from "#db/enums.ts";
import type { Ban, RejectionCode } from "#worker/services/chat/admission.ts";
import type { ChatReport } from "#worker/services/chat/schemas.ts";

// Messages between the Worker, a ChatRoom and its channel's relays. No platform import.

export type SenderRole = (typeof CHAT_SENDER_ROLES)[number];

/** A message as the room stores it; `toChatMessage` turns it into what a viewer may see. */
export interface RoomMessage {
  id: string;
  /** Null while it is held, and for good if its sender was muted. */
  chatSeq: number | null;
  /** The revision of its last change. */
  revision: number;
  accountId: string | null;
  name: string;
  roles: SenderRole[];
  system: boolean;
  /** Masked, and as it was sent; empty once the sender's account is deleted. */
  text: string;
  original: string;
  language: string | null;
  replyTo: string | null;
  mentions: string[];
  reactions: Record<string, number>;
  state: (typeof CHAT_MESSAGE_STATES)[number];
  muted: boolean;
  /** Why the automatic moderator held it, in that service's terms. */
  category: string | null;
  /** Milliseconds since 1970 UTC. */
  sentAt: number;
  /** The text by language. */
  translations: Record<string, string>;
}

/** What the room needs to know about an account: verified against the database a short while ago. */
export interface SenderFacts {
  name: string;
  roles: SenderRole[];
  /** May moderate, rather than only read what moderators see. */
  isExempt: boolean;
  moderator: boolean;
  isMember: boolean;
}

/** The settings that viewers see. */
export interface RoomSettings {
  channelId: string;
  mode: (typeof CHAT_MODES)[number];
  slowSeconds: number;
  premoderate: boolean;
  skus: string[];
  emoji: string[];
  languages: string[];
  pinned: RoomMessage | null;
  system: { name: string | null; image: string | null; welcomeMessage: string | null };
  /** 0 while the room has its default settings. */
  version: number;
  created: number | null;
  modified: number | null;
}

/** What an account may do in the room. */
export interface Person {
  accountId: string;
  moderator: boolean;
  banned: Ban | null;
}

/** How far a relay has received the room: numbered messages, all stored messages, changes, and removals, which go ahead of other changes. */
export interface RoomPosition {
  chatSeq: number;
  stored: number;
  revision: number;
  removals: number;
}

/** What one relay receives at a time; `from` is the position that it continues. */
export interface ChatBatch {
  from: RoomPosition;
  upTo: RoomPosition;
  /** In order; if the relay was far behind, only the last ones. */
  messages: RoomMessage[];
  updates: RoomMessage[];
  /** Set if they have changed, with everybody who is banned; devices by their hash. */
  settings: { settings: RoomSettings; banned: [accountId: string, ban: Ban][]; devices: [device: string, ban: Ban][] } | null;
  /** Those whose rights have changed. */
  people: Person[];
}

/** The position that all joined sockets of the relay have reached; null: none has joined, so stop until the next one does. */
export interface ChatDelivered {
  position: RoomPosition | null;
  languages: string[];
}

export interface JoinRequest {
  relay: number;
  accountId: string | null;
  /** Hash of the device, if known. */
  device: string | null;
  language: string | null;
  after: number | undefined;
  revision: number | undefined;
}

export type ChatErrorCode =
  RejectionCode | "chat_busy" | "rate_limited" | "invalid_request" | "not_found" | "unauthenticated" | "unavailable" | "conflict";

export interface ChatError {
  ok: false;
  code: ChatErrorCode;
  message: string;
  /** The invalid field. */
  path?: string;
  /** Seconds. */
  retryAfter?: number;
}

export interface Joined {
  ok: true;
  position: RoomPosition;
  recovered: boolean;
  messages: RoomMessage[];
  updates: RoomMessage[];
  /** The viewer's own reactions to these messages. */
  reacted: Record<string, string>;
  settings: RoomSettings;
  person: Person | null;
  /** The ban of the viewer's device, which is not let in. */
  deviceBan: Ban | null;
}

export interface SendRequest {
  accountId: string;
  requestId: string;
  text: string;
  replyTo: string | null;
  language: string | null;
  /** Hash of the sender's device, if known. */
  device?: string | null;
  /** Read the sender's rights again, because this request has just been authenticated. */
  fresh: boolean;
}

/** A message of the site itself; `accountId` is the moderator who writes it, or null for a developer key. */
export type AnnounceRequest = Pick<SendRequest, "requestId" | "text" | "replyTo" | "language"> & { accountId: string | null };

export type SendOutcome = { ok: true; messageId: string; state: "visible" | "held" } | ChatError;

export interface ReactRequest {
  accountId: string;
  device?: string | null;
  messageId: string;
  emoji: string | null;
}

export type Outcome = { ok: true } | ChatError;

/** `isNew`: the account's first report of the message. `announce`: the caller publishes the event and then confirms it. */
export interface Reported {
  ok: true;
  isNew: boolean;
  report: ChatReport;
  announce: boolean;
}

/** What a site asks of all its rooms. "find": whether the account has written, reacted or reported there. */
export type RoomTask = { kind: "refresh" } | { kind: "erase" | "find"; accountId: string };

/** A reaction to a message, or a report of it. */
export interface MessageResponse {
  messageId: string;
  emoji: string | null;
  report: { reason: string; reportedAt: number } | null;
}

/** Who reads a list of messages. */
export interface Reader {
  accountId: string | null;
  moderator: boolean;
}

export interface MessagePage {
  messages: RoomMessage[];
  reacted: Record<string, string>;
  before: number | null;
}

/** A message that waits for a moderator. */
export interface PendingMessage {
  message: RoomMessage;
  reports: ChatReport[];
}

/** A message with its place in the order of storage. */
export interface StoredMessage {
  stored: number;
  message: RoomMessage;
}

/** One row of the export. */
export interface ExportedMessage extends StoredMessage {
  reports: number;
}
