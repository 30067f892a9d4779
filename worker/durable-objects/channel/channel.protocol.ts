import { z } from "@hono/zod-openapi";
import { GATE_TYPES } from "#db/enums.ts";
import { type LoggedFrame, OverlayShow } from "#worker/durable-objects/relay/relay.protocol.ts";

// What the Worker, Channel, Relay and SitePresence say to each other. No platform import.

/** One broadcast as the overlay service hands it over; the channel adds its position in the log. Times in ms since 1970 UTC. */
export const Broadcast = OverlayShow.omit({ type: true, seq: true, upTo: true });
export type Broadcast = z.infer<typeof Broadcast>;

/** Types of the frames that tell what happened to a channel. */
export type ChannelEvent = Exclude<LoggedFrame["type"], "overlay.show" | "overlay.clear">;

/** What a clear takes off the screen. `all` names the broadcasts that may be on their way still, which are not to come up afterwards. */
export const ClearTarget = z.union([
  z.object({ all: z.literal(true), broadcastIds: z.array(z.string()).optional() }),
  z.object({ broadcastIds: z.array(z.string()) }),
  z.object({ overlayId: z.string() }),
]);
export type ClearTarget = z.infer<typeof ClearTarget>;

/** `sockets`: open sockets of the relays that have confirmed the frame. */
export interface Published {
  seq: number;
  startsAt: number;
  endsAt: number;
  sockets: number;
}

export interface Cleared {
  seq: number;
  broadcastIds: string[];
}

/** A frame of the log: the text that goes to the sockets, and what a relay must know of it without parsing it. */
export interface LogFrame {
  seq: number;
  body: string;
  /** Only viewers with one of these tags receive it. */
  tags: string[] | null;
  /** The broadcast that this frame puts on, since when it stands in the log and until when whoever comes gets it (ms). */
  shows: { broadcastId: string; at: number; until: number } | null;
  /** The broadcasts that this frame takes off before their time. */
  clears: string[];
  /** The client rule that this frame sets, and whether it holds from then on. */
  rule: { id: string; active: boolean } | null;
}

/** As many frames as one call carries. */
export interface FramePage {
  frames: LogFrame[];
  more: boolean;
}

/**
 * A change of state that isn't in the log: the latest of one `key` wins, by `at` (ms). `data` is JSON text; null: the state no longer exists,
 * and viewers who connect from now on don't receive it.
 */
export interface StateChange {
  key: string;
  type: "poll.updated";
  at: number;
  data: string | null;
}

/** Channel to relay: frames without a gap, then states. `lost`: the log no longer reaches back to what the relay's viewers hold. */
export interface Push {
  epoch: string;
  frames: LogFrame[];
  states: StateChange[];
  lost: boolean;
}

/**
 * Relay to channel. `head`: the position that all its sockets hold; null while it has none but waits for its snapshot. `idle`: nobody
 * listens; push no more until it asks for a snapshot.
 */
export interface Delivered {
  head: number | null;
  sockets: number;
  idle: boolean;
}

/** A rule that viewers evaluate themselves; `channelId` null: on every channel. `body` is its JSON text. */
export interface ClientRule {
  id: string;
  channelId: string | null;
  body: string;
}

/** All client rules of a site as they stood after the event of this sequence. */
export interface ClientRules {
  version: number;
  rules: ClientRule[];
}

/** All that a relay needs to take viewers: what they are to get, and the end of the log. */
export interface Snapshot {
  epoch: string;
  head: number;
  /** The first page of what is on. */
  active: FramePage;
  /** The client rules that hold. */
  rules: LogFrame[];
  /** The latest states, for viewers who connect after they were sent. */
  states: StateChange[];
  /** Null where the channel hasn't heard of a change of its gate yet. */
  gate: VersionedGate | null;
  tail: LogFrame[];
  concurrents: number;
}

/** What became of a broadcast at one relay. `delays`: how many acknowledgements took how long, as buckets of a histogram in ms. */
export const ReceiptPart = z.object({
  broadcastId: z.string(),
  seq: z.number(),
  sockets: z.number(),
  sent: z.number(),
  acknowledged: z.number(),
  late: z.number(),
  delays: z.array(z.tuple([z.number(), z.number()])),
});
export type ReceiptPart = z.infer<typeof ReceiptPart>;

/** What became of a broadcast on a channel, summed over its relays. */
export const ChannelReceipt = ReceiptPart.omit({ broadcastId: true });
export type ChannelReceipt = z.infer<typeof ChannelReceipt>;

/** A channel's gate as of a version of its page; `digest` is another one for other skus. */
export const VersionedGate = z.object({ version: z.number(), type: z.enum(GATE_TYPES), digest: z.string() });
export type VersionedGate = z.infer<typeof VersionedGate>;

/** The tags that accounts have from now on. */
export interface AccountTags {
  accountId: string;
  tags: string[];
}

/** What a site asked of all its channels at `at` (ms); each applies it once. `body` is the JSON text of a Broadcast or a ClearTarget. */
export interface SiteCommand {
  id: string;
  at: number;
  kind: "publish" | "clear";
  body: string;
}

/** What a channel that opens has to know. `next`: where the next page of commands begins; null for none. */
export interface Opening {
  commands: SiteCommand[];
  next: number | null;
  rules: ClientRules | null;
  states: StateChange[];
  concurrents: number;
}

/** What a relay has: open sockets, and a Bloom filter of the accounts that they belong to. */
export interface Census {
  count: number;
  accounts: Uint8Array;
}

/** A device that a relay has not reported today, and the network that it connects from: hashes of both. */
export interface ReportedDevice {
  device: string;
  network: string | null;
}

/** A relay's census, and what devices are new to it. Without `accounts`, any may be there. */
export interface PresenceReport {
  channelId: string;
  relay: number;
  count: number;
  accounts?: Uint8Array;
  devices: ReportedDevice[];
}

export interface SiteConcurrents {
  concurrents: number;
  totalViews: number;
  channels: { channelId: string; concurrents: number }[];
}

/** Who a socket belongs to, as the Worker found out before it upgraded; travels in one header. */
export const ViewerIdentity = z.object({
  accountId: z.string().nullable(),
  /** The session that the ticket was issued to; the socket ends with it. */
  sessionId: z.string().nullable(),
  /** Hash of the device id, so that no object keeps the id itself. */
  device: z.string().nullable(),
  /** Keyed hash of the network that it connects from, where that is known. */
  network: z.string().nullable(),
  tags: z.array(z.string()),
  resume: z.object({ epoch: z.string(), seq: z.number().int().nonnegative() }).nullable(),
  /** The ticket that this connection spends. */
  nonce: z.object({ value: z.string(), expires: z.number() }).nullable(),
  /** As the Worker knows it, up to 2 s old; null: open to all, as far as it knows. */
  gate: VersionedGate.nullable(),
});
export type ViewerIdentity = z.infer<typeof ViewerIdentity>;

/** Header from the Worker to a relay with the viewer's identity (JSON, URI-encoded because headers are ASCII). */
export const VIEWER_HEADER = "tifo-viewer";
/** Why a relay doesn't let a viewer in, in this header; what each means to the viewer is the Worker's to say. */
export const RelayRefusal = z.enum(["full", "spent", "crowded", "unauthenticated", "forbidden"]);
export type RelayRefusal = z.infer<typeof RelayRefusal>;
export const REFUSAL_HEADER = "tifo-relay";

/** Names of the objects: `getByName(channelName(…))`. */
export function channelName(siteId: string, channelId: string): string {
  return `${siteId}:${channelId}`;
}

export function relayName(channel: string, relay: number): string {
  return `${channel}:${relay}`;
}

/** Reads `<siteId>:<channelId>[:<relay>]`. */
export function parseName(name: string | undefined): { siteId: string; channelId: string; relay: number } {
  const [siteId, channelId, relay] = (name ?? "").split(":");
  if (!siteId || !channelId) throw new Error("This object is named <siteId>:<channelId>, with :<relay> for a relay");
  return { siteId, channelId, relay: Number(relay ?? 0) };
}
