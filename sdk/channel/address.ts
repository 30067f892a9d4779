import type { StreamChatQuery } from "./stream-chat.ts";

/** A viewer's position in a channel's log. */
export interface Position {
  /** Identifies the log; a position of another epoch can't be resumed. */
  epoch: string;
  seq: number;
}

export interface ChannelAddress {
  /** Origin of the deployment, http or https. */
  origin: string;
  clientId: string;
  channelId: string;
  /** Identifies the device, for counts and the device limit. */
  deviceId?: string | undefined;
  /** The viewer's language tag; by default that of the browser. */
  language?: string | undefined;
}

/** The URL of a connection: a WebSocket, or the same frames as Server-Sent Events, with those of the chat if `chat` is given. */
export function connectionUrl(
  address: ChannelAddress,
  kind: "socket" | "events",
  ticket: string | null,
  resumeFrom: Position | null,
  chat: StreamChatQuery | null = null,
): string {
  const path = `/realtime/v1/channels/${encodeURIComponent(address.channelId)}`;
  const url = new URL(kind === "events" ? `${path}/events` : path, address.origin);
  if (kind === "socket") url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.searchParams.set("clientId", address.clientId);
  if (address.deviceId !== undefined) url.searchParams.set("deviceId", address.deviceId);
  if (ticket !== null) url.searchParams.set("ticket", ticket);
  if (resumeFrom) {
    url.searchParams.set("epoch", resumeFrom.epoch);
    url.searchParams.set("seq", String(resumeFrom.seq));
  }
  const language = chat?.language ?? address.language;
  if (language !== undefined) url.searchParams.set("language", language);
  if (chat) {
    url.searchParams.set("chat", "true");
    if (chat.position) {
      url.searchParams.set("chatAfter", String(chat.position.after));
      url.searchParams.set("chatRevision", String(chat.position.revision));
    }
  }
  return url.href;
}
