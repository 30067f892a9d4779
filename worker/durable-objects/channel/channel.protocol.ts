import { z } from "@hono/zod-openapi";
import { GATE_TYPES } from "#db/enums.ts";
import { SegmentSlug } from "#worker/lib/segments.ts";
import { type LoggedFrame, OverlayShow } from "#worker/durable-objects/relay/relay.protocol.ts";

// Messages between the Worker, Channel, Relay and SitePresence. No platform import.

/** One broadcast as the overlay service publishes it; the channel adds its log position. Times in ms since 1970 UTC. */
export const Broadcast = OverlayShow.omit({ type: true, seq: true, upTo: true }).extend({
  userSegment: SegmentSlug.optional().describe("Only viewers in this segment receive it; they aren't shown its name"),
  personal: z.literal(true).optional().describe("It shows what a viewer wrote, or a viewer's name; recordings don't keep it"),
});
export type Broadcast = z.infer<typeof Broadcast>;

/** Types of the frames that report changes of a channel. */
export type ChannelEvent = Exclude<LoggedFrame["type"], "overlay.show" | "overlay.clear">;

/** Which broadcasts a clear removes. With `all`, `broadcastIds` lists those still in transit, which must not appear afterwards. */
export const ClearTarget = z.union([
  z.object({ all: z.literal(true), broadcastIds: z.array(z.string()).optional() }),
  z.object({ broadcastIds: z.array(z.string()) }),
  z.object({ overlayId: z.string() }),
]);
export type ClearTarget = z.infer<typeof ClearTarget>;

/** `sockets`: open sockets on the relays that confirmed the frame. */
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

/** A frame of the log: the text sent to the sockets, and the metadata that spares the relay from parsing it. */
export interface LogFrame {
  seq: number;
  body: string;
  /** Only viewers with one of these tags or labels of segments receive it. */
  tags: string[] | null;
  /** The broadcast that this frame shows, when it was logged, and until when new viewers receive it (ms); see `personal.ts`. */
  shows: { broadcastId: string; at: number; until: number; personal?: boolean } | null;
  /** The broadcasts that this frame removes early. */
  clears: string[];
  /** The client rule that this frame sets, and whether it is active from then on. */
  rule: { id: string; active: boolean } | null;
}

/** A broadcast to everybody: the body of its `overlay.show`, and when it was cleared before its end (ms). */
export interface TimelineEntry {
  body: string;
  clearedAt: number | null;
}

/** From this on, a timecode is a time since 1970 in seconds, and not one since the start of the programme. */
export const EPOCH_TIMECODE = 1_000_000_000;

/** A broadcast of a recording: when it was on, on the recording's clock in ms since 1970, and the body of its `overlay.show`. */
export interface RecordedFrame {
  seq: number;
  at: number;
  ends: number;
  body: string;
}

/** What was on between two times (ms), after a position. */
export interface RecordingQuery {
  from: number;
  to: number;
  after: { at: number; seq: number } | null;
  limit: number;
}

export interface RecordingPage {
  frames: RecordedFrame[];
  more: boolean;
}

/** As many frames as fit into one call. */
export interface FramePage {
  frames: LogFrame[];
  more: boolean;
}

/**
 * A state change outside the log: the latest one per `key` wins, by `at` (ms). `data` is JSON text; null means that the state no longer
 * exists and isn't sent to new viewers.
 */
export interface StateChange {
  key: string;
  type: "poll.updated" | "question.updated" | "leaderboard.updated" | "entity.updated" | "keyPlay.updated";
  at: number;
  data: string | null;
}

/** States of these types aren't sent to new viewers, who read a channel's questions and match facts over REST. */
export const TRANSIENT_STATES: ReadonlySet<StateChange["type"]> = new Set(["question.updated", "entity.updated", "keyPlay.updated"]);

/** Channel to relay: contiguous frames, then states. `lost`: the log no longer reaches back to the relay's position. */
export interface Push {
  epoch: string;
  frames: LogFrame[];
  states: StateChange[];
  lost: boolean;
}

/**
 * Relay to channel. `head`: the position that all its sockets have reached; null while it has no sockets and waits for its snapshot.
 * `idle`: it has no viewers, so stop pushing until it requests a snapshot.
 */
export interface Delivered {
  head: number | null;
  sockets: number;
  idle: boolean;
}

/** A rule evaluated by the viewers; `channelId` null means every channel. `body` is its JSON text. */
export interface ClientRule {
  id: string;
  channelId: string | null;
  body: string;
}

/** All client rules of a site as of the event with this sequence. */
export interface ClientRules {
  version: number;
  rules: ClientRule[];
  /** The channels on which no rule applies. */
  paused: string[];
}

/** All that a relay needs to accept viewers: the current state and the end of the log. */
export interface Snapshot {
  epoch: string;
  head: number;
  /** The first page of active overlays. */
  active: FramePage;
  /** The active client rules. */
  rules: LogFrame[];
  /** The latest states, for viewers who connect after they were sent. */
  states: StateChange[];
  /** Null if the channel hasn't been notified of a gate change yet. */
  gate: VersionedGate | null;
  tail: LogFrame[];
  concurrents: number;
}

/** Delivery counts of a broadcast at one relay. `delays`: histogram buckets of the acknowledgement delays in ms. */
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

/** Delivery counts of a broadcast on a channel, summed over its relays. */
export const ChannelReceipt = ReceiptPart.omit({ broadcastId: true });
export type ChannelReceipt = z.infer<typeof ChannelReceipt>;

/** A channel's gate as of a version of its page; `digest` changes with the skus. */
export const VersionedGate = z.object({ version: z.number(), type: z.enum(GATE_TYPES), digest: z.string() });
export type VersionedGate = z.infer<typeof VersionedGate>;

/** An account's current tags. */
export interface AccountTags {
  accountId: string;
  tags: string[];
}

/** A command to all channels of a site, given at `at` (ms); each applies it once. `body` is the JSON text of a Broadcast or a ClearTarget. */
export interface SiteCommand {
  id: string;
  at: number;
  kind: "publish" | "clear";
  body: string;
}

/** The site state that a channel reads when it opens. `next`: where the next page of commands starts, or null. */
export interface Opening {
  commands: SiteCommand[];
  next: number | null;
  rules: ClientRules | null;
  states: StateChange[];
  concurrents: number;
}

/** A relay's number of open sockets, and a Bloom filter of the accounts behind them. */
export interface Census {
  count: number;
  accounts: Uint8Array;
}

/** A device that a relay hasn't reported today, and the network it connects from, both hashed. */
export interface ReportedDevice {
  device: string;
  network: string | null;
}

/** A relay's census and the devices new to it. Without `accounts`, any account may be connected. */
export interface PresenceReport {
  channelId: string;
  relay: number;
  count: number;
  /** The version of the site whose segments all its sockets are evaluated by; missing if it isn't known. */
  segments?: number | undefined;
  accounts?: Uint8Array;
  devices: ReportedDevice[];
}

export interface SiteConcurrents {
  concurrents: number;
  totalViews: number;
  channels: { channelId: string; concurrents: number }[];
}

/** Who a socket belongs to, as the Worker determined before the upgrade; sent in one header. */
export const ViewerIdentity = z.object({
  accountId: z.string().nullable(),
  /** The session that the ticket was issued to; the socket ends with it. */
  sessionId: z.string().nullable(),
  /** The output that it connects as: a mixer, which only receives; Workers of an earlier release send none. */
  outputId: z.string().nullable().default(null),
  /** Hash of the device id, so that no object stores the id itself. */
  device: z.string().nullable(),
  /** Keyed hash of the network that it connects from, if known. */
  network: z.string().nullable(),
  tags: z.array(z.string()),
  /** The language tag that the viewer reads, if known. */
  language: z.string().nullable(),
  /** The country that it connects from, if known. */
  country: z.string().nullable().default(null),
  /** The segments that it would be in without an account, as of a version of the site; Worker's of an earlier release send none. */
  segments: z.object({ version: z.number(), slugs: z.array(z.string()) }).default({ version: 0, slugs: [] }),
  resume: z.object({ epoch: z.string(), seq: z.number().int().nonnegative() }).nullable(),
  /** The ticket that this connection uses up. */
  nonce: z.object({ value: z.string(), expires: z.number() }).nullable(),
  /** The Worker's copy, up to 2 s old; null if it knows of no gate. */
  gate: VersionedGate.nullable(),
});
export type ViewerIdentity = z.infer<typeof ViewerIdentity>;

/** Header with the viewer's identity, from the Worker to a relay (JSON, URI-encoded because headers are ASCII). */
export const VIEWER_HEADER = "tifo-viewer";
/** Why a relay rejects a viewer, sent in this header; the Worker turns it into the viewer's error. */
export const RelayRejection = z.enum(["full", "ticket_used", "over_quota", "unauthenticated", "forbidden"]);
export type RelayRejection = z.infer<typeof RelayRejection>;
export const REJECTION_HEADER = "tifo-relay";

/** Object names: `getByName(channelName(…))`. */
export function channelName(siteId: string, channelId: string): string {
  return `${siteId}:${channelId}`;
}

export function relayName(channel: string, relay: number): string {
  return `${channel}:${relay}`;
}

/** Reads `<siteId>:<channelId>[:<relay>]`. */
export function parseName(name: string | undefined): { siteId: string; channelId: string; relay: number } {
  const [siteId, channelId, relay] = (name ?? "").split(":");
  if (!siteId || !channelId) throw new Error("Expected an object name of the form <siteId>:<channelId> or <siteId>:<channelId>:<relay>");
  return { siteId, channelId, relay: Number(relay ?? 0) };
}
