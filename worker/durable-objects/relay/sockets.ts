import { z } from "@hono/zod-openapi";
import type { AccountTags, ReportedDevice, ViewerIdentity } from "#worker/durable-objects/channel/channel.protocol.ts";
import type { Message } from "./frames.ts";
import { accountChangedFrame, audienceChangedFrame, audienceOf, errorFrame, reaches } from "./frames.ts";
import { CLOSE } from "./relay.protocol.ts";
import { type SocketHolder, type SocketLimits, SocketQuota } from "./socket-quota.ts";

const TOKENS_PER_SECOND = 20;
const TOKENS = 60;
const BAD_FRAMES = 3;
/** Videos and panels that one connection may reference. */
const MAX_TARGETS = 100;
/** A viewer that acknowledges may be more than this many frames behind for this long. */
const LAG_FRAMES = 500;
const LAG_MS = 30_000;

/** `at`: the room's position when it joined. */
const ChatMembership = z.object({ at: z.number(), moderator: z.boolean(), language: z.string().nullable() });
export type ChatMembership = z.infer<typeof ChatMembership>;

/** The state that survives hibernation with the socket; the Worker's cap on tags keeps it below 2 kB. */
const Attachment = z.object({
  /** Null for an anonymous viewer. */
  accountId: z.string().nullable(),
  /** The session that it was admitted with. */
  sessionId: z.string().nullable(),
  /** The output that it connects as; sockets of an earlier release have none. */
  outputId: z.string().nullable().default(null),
  /** When to check its access again, ms; null: only after a change. */
  until: z.number().nullable(),
  device: z.string().nullable(),
  network: z.string().nullable(),
  tags: z.array(z.string()),
  /** The labels of its segments; sockets of an earlier release have none. */
  segments: z.array(z.string()).default([]),
  /** Position up to which its acknowledgements have been counted, starting where it joined. */
  counted: z.number(),
  /** Its last reported playback position, and when. */
  watching: z
    .object({ videoId: z.string(), mediaTime: z.number(), at: z.number(), since: z.number(), streak: z.number().optional() })
    .transform((watching) => ({ ...watching, streak: watching.streak ?? watching.since }))
    .nullable(),
  /** When it connected, ms. */
  joinedAt: z.number(),
  /** When it last sent anything but a ping, ms. */
  lastActiveAt: z.number(),
  /** Its language tag; sockets of an earlier release have none. */
  language: z.string().nullable().default(null),
  /** The country that it connects from, if known. */
  country: z.string().nullable().default(null),
  /** Set while it has joined the chat. */
  chat: ChatMembership.nullable().default(null),
});
export type Attachment = z.infer<typeof Attachment>;

/** One socket's state while the object is awake. */
export interface Viewer extends Attachment {
  /** What frames can address it by, derived from its tags and segments. */
  audience: string[];
  /** The last position sent to it. */
  sent: number;
  /** Null until it acknowledges anything. */
  acked: number | null;
  /** Since when it has been too far behind, ms. */
  behindSince: number | null;
  /** The `lastActiveAt` in its stored attachment. */
  savedActiveAt: number;
  tokens: number;
  refilledAt: number;
  badFrames: number;
  /** Videos and panels that it has referenced. */
  targets: Set<string>;
}

/** A viewer that has disconnected, and until when it was certainly connected (ms). */
interface Gone {
  viewer: Viewer;
  until: number;
}

/** The open sockets of a relay. Counts come from the sockets themselves, never from increments and decrements. */
export class RelaySockets {
  readonly #ctx: DurableObjectState;
  readonly #onChange: (gone?: Gone) => void;
  readonly #quota: SocketQuota;
  #known: Map<WebSocket, Viewer> | null = null;

  /** `onChange` is called for each socket that opens or closes, with the viewer if it closes. */
  constructor(ctx: DurableObjectState, limits: SocketLimits, onChange: (gone?: Gone) => void) {
    this.#ctx = ctx;
    this.#quota = new SocketQuota(limits);
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#map().size;
  }

  get(socket: WebSocket): Viewer | undefined {
    return this.#map().get(socket);
  }

  viewers(): Iterable<Viewer> {
    return this.#map().values();
  }

  entries(): Iterable<[WebSocket, Viewer]> {
    return this.#map();
  }

  /** The accounts and outputs that have a socket here. */
  owners(): Set<string> {
    return new Set([...this.#map().values()].flatMap(({ accountId, outputId }) => accountId ?? outputId ?? []));
  }

  devices(): ReportedDevice[] {
    const byDevice = new Map<string, ReportedDevice>();
    for (const { device, network } of this.#map().values()) if (device !== null) byDevice.set(device, { device, network });
    return [...byDevice.values()];
  }

  /** Reserves a socket for a viewer that is being admitted; false if its device, account or network has reached its limit. */
  reserve(holder: SocketHolder): boolean {
    this.#map();
    return this.#quota.take(holder);
  }

  /** Releases the reservation of a viewer that was rejected. */
  release(holder: SocketHolder): void {
    this.#quota.giveBack(holder);
  }

  /** Accepts the socket of a viewer with a reservation. */
  accept(socket: WebSocket, attachment: Attachment, sent: number): void {
    const map = this.#map();
    this.#ctx.acceptWebSocket(socket);
    socket.serializeAttachment(attachment);
    map.set(socket, toViewer(attachment, sent));
    this.#onChange();
  }

  /** Sends each viewer its message. Closes sockets that fail or are too far behind, without affecting the others. */
  broadcast(messageFor: (audience: string[]) => Message | null, now: number): void {
    for (const [socket, viewer] of this.#map()) {
      const message = messageFor(viewer.audience);
      if (!message || !this.#trySend(socket, message.text)) continue;
      // Judged by what was sent before this message, which it has had no time to acknowledge.
      const isSlow = isTooSlow(viewer, now);
      viewer.sent = message.upTo;
      if (isSlow) this.reject(socket, CLOSE.tooSlow, "too_slow", "This viewer is too slow; reconnect with epoch and seq");
    }
  }

  /** Sends every viewer an individual text. */
  sendEach(textFor: () => string): void {
    for (const socket of this.#map().keys()) this.#trySend(socket, textFor());
  }

  /** Sends all viewers of these accounts a text. */
  sendToAccounts(accountIds: ReadonlySet<string | null>, text: string): void {
    for (const [socket, { accountId }] of this.#map()) if (accountIds.has(accountId)) this.#trySend(socket, text);
  }

  /** Sends a text to one viewer. */
  sendTo(socket: WebSocket, text: string): void {
    this.#trySend(socket, text);
  }

  /** Sets the tags of these accounts' viewers and notifies them; `position` is what all sockets have reached. */
  retag(accounts: AccountTags[], position: number): void {
    const changes = new Map(accounts.map((account) => [account.accountId, account]));
    for (const [socket, viewer] of this.#map()) {
      const change = changes.get(viewer.accountId ?? "");
      if (!change || isSame(change.tags, viewer.tags)) continue;
      viewer.tags = change.tags;
      this.#changeAudience(socket, viewer, position);
      this.#trySend(socket, accountChangedFrame(position, change));
    }
  }

  /** Sets the labels of a viewer's segments and notifies it if they differ; `position` is what all sockets have reached. */
  resegment(socket: WebSocket, viewer: Viewer, segments: string[], position: number): void {
    if (isSame(segments, viewer.segments)) return;
    viewer.segments = segments;
    this.#changeAudience(socket, viewer, position);
    this.#trySend(socket, audienceChangedFrame(position));
  }

  #changeAudience(socket: WebSocket, viewer: Viewer, position: number): void {
    viewer.audience = audienceOf(viewer.tags, viewer.segments);
    // The new audience no longer shows which earlier frames it still has to acknowledge.
    viewer.counted = position;
    this.save(socket, viewer);
  }

  /** How many viewers have one of these tags or labels; null counts all viewers. */
  countReached(tags: string[] | null): number {
    if (tags === null) return this.size;
    let count = 0;
    for (const viewer of this.#map().values()) if (reaches({ tags }, viewer.audience)) count++;
    return count;
  }

  /** Records activity of a viewer; hibernation loses at most the last `precision` ms of it. */
  markActive(socket: WebSocket, viewer: Viewer, now: number, precision: number): void {
    viewer.lastActiveAt = now;
    if (now - viewer.savedActiveAt >= precision) this.save(socket, viewer);
  }

  /** Saves a viewer's state so that it survives hibernation. */
  save(socket: WebSocket, viewer: Viewer): void {
    const { accountId, sessionId, outputId, until, device, network, tags, segments, counted, watching, joinedAt, lastActiveAt } = viewer;
    const { language, country, chat } = viewer;
    const own = { accountId, sessionId, outputId, device, network, tags, segments, language, country };
    const attachment = { ...own, until, counted, watching, joinedAt, lastActiveAt, chat } satisfies Attachment;
    socket.serializeAttachment(attachment);
    viewer.savedActiveAt = lastActiveAt;
  }

  /** Closes sockets that have been silent since `before` (ms). */
  closeSilent(before: number): void {
    for (const [socket, viewer] of this.#map()) {
      const ponged = this.#ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0;
      const lastActiveAt = Math.max(ponged, viewer.lastActiveAt);
      if (lastActiveAt < before) this.close(socket, 1001, "silent", lastActiveAt);
    }
  }

  closeAll(code: number, reason: string): void {
    for (const socket of this.#map().keys()) this.close(socket, code, reason);
  }

  /** Sends an error frame, because browsers may not expose the close reason, and closes the socket. */
  reject(socket: WebSocket, code: number, error: string, message: string): void {
    this.#trySend(socket, errorFrame(error, message, code));
    this.close(socket, code, error);
  }

  rejectAll(code: number, error: string, message: string): void {
    for (const socket of this.#map().keys()) this.reject(socket, code, error, message);
  }

  /** Responds to an invalid frame; the third one closes the connection. */
  reportBadFrame(socket: WebSocket, viewer: Viewer, message: string): void {
    viewer.badFrames++;
    if (viewer.badFrames >= BAD_FRAMES) this.reject(socket, CLOSE.badFrame, "bad_frame", message);
    else this.#trySend(socket, errorFrame("bad_frame", message));
  }

  /** Drops a socket and completes its close, which the platform doesn't always do after hibernation. */
  close(socket: WebSocket, code: number, reason: string, until = Date.now()): void {
    const viewer = this.#map().get(socket);
    if (this.#map().delete(socket) && viewer) {
      this.#quota.giveBack(viewer);
      this.#onChange({ viewer, until });
    }
    try {
      socket.close(code, reason);
    } catch {
      // Already closed.
    }
  }

  #trySend(socket: WebSocket, text: string): boolean {
    try {
      socket.send(text);
      return true;
    } catch {
      this.close(socket, 1011, "send failed");
      return false;
    }
  }

  #map(): Map<WebSocket, Viewer> {
    this.#known ??= this.#wake();
    return this.#known;
  }

  #wake(): Map<WebSocket, Viewer> {
    const open = this.#ctx.getWebSockets().filter((socket) => socket.readyState === WebSocket.OPEN);
    const known = new Map(open.map((socket) => [socket, toViewer(Attachment.parse(socket.deserializeAttachment()), 0)]));
    for (const viewer of known.values()) this.#quota.count(viewer);
    return known;
  }
}

function isSame(some: string[], others: string[]): boolean {
  return some.length === others.length && some.every((tag) => others.includes(tag));
}

/** Takes one token from the viewer's rate-limit bucket; false if it is empty. */
export function takeToken(viewer: Viewer, now: number): boolean {
  viewer.tokens = Math.min(TOKENS, viewer.tokens + ((now - viewer.refilledAt) / 1000) * TOKENS_PER_SECOND);
  viewer.refilledAt = now;
  if (viewer.tokens < 1) return false;
  viewer.tokens--;
  return true;
}

/** Whether a viewer may reference this video or panel; the number of different ones is limited. */
export function mayTarget(viewer: Viewer, target: string): boolean {
  if (viewer.targets.size >= MAX_TARGETS && !viewer.targets.has(target)) return false;
  viewer.targets.add(target);
  return true;
}

/** Whether a viewer that acknowledges has been too far behind for too long. */
export function isTooSlow(viewer: Viewer, now: number): boolean {
  if (viewer.acked === null || viewer.sent - viewer.acked <= LAG_FRAMES) {
    viewer.behindSince = null;
    return false;
  }
  viewer.behindSince ??= now;
  return now - viewer.behindSince > LAG_MS;
}

/** The state of a viewer that connects now, `head` being its position. */
export function newAttachment(
  { accountId, sessionId, outputId, device, network, tags, language, country }: ViewerIdentity,
  { head, until, segments, now }: { head: number; until: number | null; segments: string[]; now: number },
): Attachment {
  const own = { accountId, sessionId, outputId, device, network, tags, segments, language, country };
  return { ...own, until, counted: head, watching: null, joinedAt: now, lastActiveAt: now, chat: null };
}

export function toViewer(attachment: Attachment, sent: number): Viewer {
  const { lastActiveAt } = attachment;
  return {
    ...attachment,
    audience: audienceOf(attachment.tags, attachment.segments),
    sent,
    acked: null,
    behindSince: null,
    savedActiveAt: lastActiveAt,
    tokens: TOKENS,
    refilledAt: lastActiveAt,
    badFrames: 0,
    targets: new Set(),
  };
}
