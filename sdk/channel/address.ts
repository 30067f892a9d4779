/** Where a viewer stands in a channel's log. */
export interface Position {
  /** Names the log; a position of another epoch can't be resumed. */
  epoch: string;
  seq: number;
}

export interface ChannelAddress {
  /** Origin of the deployment, http or https. */
  origin: string;
  clientId: string;
  channelId: string;
  /** Names the device, for counts and the device limit. */
  deviceId?: string | undefined;
}

/** The URL of one connection: a WebSocket's, or that of the same frames as Server-Sent Events. */
export function connectionUrl(address: ChannelAddress, kind: "socket" | "events", ticket: string | null, held: Position | null): string {
  const path = `/realtime/v1/channels/${encodeURIComponent(address.channelId)}`;
  const url = new URL(kind === "events" ? `${path}/events` : path, address.origin);
  if (kind === "socket") url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.searchParams.set("clientId", address.clientId);
  if (address.deviceId !== undefined) url.searchParams.set("deviceId", address.deviceId);
  if (ticket !== null) url.searchParams.set("ticket", ticket);
  if (held) {
    url.searchParams.set("epoch", held.epoch);
    url.searchParams.set("seq", String(held.seq));
  }
  return url.href;
}
