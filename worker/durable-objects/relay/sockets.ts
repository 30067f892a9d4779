import { z } from "@hono/zod-openapi";
import type { AccountTags, ReportedDevice } from "#worker/durable-objects/channel/channel.protocol.ts";
import type { Message } from "./frames.ts";
import { accountChangedFrame, errorFrame, reaches } from "./frames.ts";
import { CLOSE } from "./relay.protocol.ts";
import { type SocketHolder, type SocketLimits, SocketQuota } from "./socket-quota.ts";

const TOKENS_PER_SECOND = 20;
const TOKENS = 60;
const BAD_FRAMES = 3;
/** Videos and panels that one connection may name. */
const MAX_TARGETS = 100;
/** A viewer that acknowledges may lag by more than so many frames for so long. */
const LAG_FRAMES = 500;
const LAG_MS = 30_000;

/** What survives hibernation with the socket; kept below 2 kB by the Worker's cap on tags. */
const Attachment = z.object({
  /** Null for somebody who has not signed in. */
  accountId: z.string().nullable(),
  /** The session that it was let in by. */
  sessionId: z.string().nullable(),
  /** When its right to be here is to be looked up again, ms; null: when something happens. */
  until: z.number().nullable(),
  device: z.string().nullable(),
  network: z.string().nullable(),
  tags: z.array(z.string()),
  /** Position up to which its acknowledgements have been counted; it begins where it joined. */
  counted: z.number(),
  /** Where in which video it was last, and when. */
  watching: z.object({ videoId: z.string(), mediaTime: z.number(), at: z.number(), since: z.number() }).nullable(),
  /** When it came, ms. */
  joinedAt: z.number(),
  /** When it was last heard, other than by a ping, ms. */
  heardAt: z.number(),
});
export type Attachment = z.infer<typeof Attachment>;

/** One socket's state while the object is awake. */
export interface Viewer extends Attachment {
  /** Position that it was last sent. */
  sent: number;
  /** Null until it acknowledges anything. */
  acked: number | null;
  /** Since when it has been too far behind, ms. */
  behindSince: number | null;
  /** The `heardAt` that its attachment holds. */
  notedAt: number;
  tokens: number;
  refilledAt: number;
  badFrames: number;
  /** Videos and panels that it has named. */
  targets: Set<string>;
}

/** A viewer that is no longer here, and until when it was for certain (ms). */
interface Gone {
  viewer: Viewer;
  until: number;
}

/** The open sockets of a relay. Counts are always counted, never kept by adding and taking away. */
export class RelaySockets {
  private readonly ctx: DurableObjectState;
  private readonly onChange: (gone?: Gone) => void;
  private readonly quota: SocketQuota;
  private known: Map<WebSocket, Viewer> | null = null;

  /** `onChange` hears of every socket that comes, and of every one that goes, whose it was. */
  constructor(ctx: DurableObjectState, limits: SocketLimits, onChange: (gone?: Gone) => void) {
    this.ctx = ctx;
    this.quota = new SocketQuota(limits);
    this.onChange = onChange;
  }

  get size(): number {
    return this.map().size;
  }

  get(socket: WebSocket): Viewer | undefined {
    return this.map().get(socket);
  }

  viewers(): Iterable<Viewer> {
    return this.map().values();
  }

  entries(): Iterable<[WebSocket, Viewer]> {
    return this.map();
  }

  /** The accounts that have a socket here. */
  accounts(): Set<string> {
    return new Set([...this.map().values()].flatMap(({ accountId }) => accountId ?? []));
  }

  devices(): ReportedDevice[] {
    const byDevice = new Map<string, ReportedDevice>();
    for (const { device, network } of this.map().values()) if (device !== null) byDevice.set(device, { device, network });
    return [...byDevice.values()];
  }

  /** Makes room for a viewer on the way in; false where its device, account or network has as many sockets as it may. */
  reserve(holder: SocketHolder): boolean {
    this.map();
    return this.quota.take(holder);
  }

  /** The viewer was not let in after all. */
  release(holder: SocketHolder): void {
    this.quota.giveBack(holder);
  }

  /** Takes the socket of a viewer for whom room was made. */
  accept(socket: WebSocket, attachment: Attachment, sent: number): void {
    const map = this.map();
    this.ctx.acceptWebSocket(socket);
    socket.serializeAttachment(attachment);
    map.set(socket, toViewer(attachment, sent));
    this.onChange();
  }

  /** Sends each viewer what is for it. A socket that fails or lags too far behind is closed; the others never notice. */
  broadcast(messageFor: (tags: string[]) => Message | null, now: number): void {
    for (const [socket, viewer] of this.map()) {
      const message = messageFor(viewer.tags);
      if (!message || !this.trySend(socket, message.text)) continue;
      // By what it was sent before: of a segment's frames a viewer may see one in a thousand, and has not had the time to acknowledge this.
      const isSlow = isTooSlow(viewer, now);
      viewer.sent = message.upTo;
      if (isSlow) this.expel(socket, CLOSE.tooSlow, "too_slow", "This viewer does not keep up; reconnect with epoch and seq");
    }
  }

  /** Sends every viewer a text of its own. */
  sendEach(textFor: () => string): void {
    for (const socket of this.map().keys()) this.trySend(socket, textFor());
  }

  /** Sends one viewer a text of its own. */
  tell(socket: WebSocket, text: string): void {
    this.trySend(socket, text);
  }

  /** Gives the viewers of these accounts their tags and tells them; `position` is what all sockets hold. */
  retag(accounts: AccountTags[], position: number): void {
    const changes = new Map(accounts.map((account) => [account.accountId, account]));
    for (const [socket, viewer] of this.map()) {
      const change = changes.get(viewer.accountId ?? "");
      if (!change || isSame(change.tags, viewer.tags)) continue;
      viewer.tags = change.tags;
      // By the new tags, nobody can tell what it still has to acknowledge of what came before.
      viewer.counted = position;
      this.save(socket, viewer);
      this.trySend(socket, accountChangedFrame(position, change));
    }
  }

  /** How many viewers with one of these tags are here; null: with or without any. */
  countReached(tags: string[] | null): number {
    if (tags === null) return this.size;
    let count = 0;
    for (const viewer of this.map().values()) if (reaches({ tags }, viewer.tags)) count++;
    return count;
  }

  /** Notes that a viewer was heard; hibernation forgets no more than the last `precision` ms of it. */
  heard(socket: WebSocket, viewer: Viewer, now: number, precision: number): void {
    viewer.heardAt = now;
    if (now - viewer.notedAt >= precision) this.save(socket, viewer);
  }

  /** Makes what is known of a viewer survive hibernation. */
  save(socket: WebSocket, viewer: Viewer): void {
    const { accountId, sessionId, until, device, network, tags, counted, watching, joinedAt, heardAt } = viewer;
    const attachment = { accountId, sessionId, until, device, network, tags, counted, watching, joinedAt, heardAt } satisfies Attachment;
    socket.serializeAttachment(attachment);
    viewer.notedAt = heardAt;
  }

  /** Closes the sockets that nothing has been heard of since `before` (ms). */
  closeSilent(before: number): void {
    for (const [socket, viewer] of this.map()) {
      const ponged = this.ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0;
      const heardAt = Math.max(ponged, viewer.heardAt);
      if (heardAt < before) this.close(socket, 1001, "silent", heardAt);
    }
  }

  closeAll(code: number, reason: string): void {
    for (const socket of this.map().keys()) this.close(socket, code, reason);
  }

  /** Says why in a frame, because browsers may not show the close reason, and closes. */
  expel(socket: WebSocket, code: number, error: string, message: string): void {
    this.trySend(socket, errorFrame(error, message, code));
    this.close(socket, code, error);
  }

  expelAll(code: number, error: string, message: string): void {
    for (const socket of this.map().keys()) this.expel(socket, code, error, message);
  }

  /** Answers a frame that is none; the third one ends the connection. */
  complain(socket: WebSocket, viewer: Viewer, message: string): void {
    viewer.badFrames++;
    if (viewer.badFrames >= BAD_FRAMES) this.expel(socket, CLOSE.badFrame, "bad_frame", message);
    else this.trySend(socket, errorFrame("bad_frame", message));
  }

  /** Forgets a socket and answers its close, which the platform does not always do for one that has hibernated. */
  close(socket: WebSocket, code: number, reason: string, until = Date.now()): void {
    const viewer = this.map().get(socket);
    if (this.map().delete(socket) && viewer) {
      this.quota.giveBack(viewer);
      this.onChange({ viewer, until });
    }
    try {
      socket.close(code, reason);
    } catch {
      // It is gone already, which is what was wanted.
    }
  }

  private trySend(socket: WebSocket, text: string): boolean {
    try {
      socket.send(text);
      return true;
    } catch {
      this.close(socket, 1011, "send failed");
      return false;
    }
  }

  private map(): Map<WebSocket, Viewer> {
    this.known ??= this.wake();
    return this.known;
  }

  private wake(): Map<WebSocket, Viewer> {
    const open = this.ctx.getWebSockets().filter((socket) => socket.readyState === WebSocket.OPEN);
    const known = new Map(open.map((socket) => [socket, toViewer(Attachment.parse(socket.deserializeAttachment()), 0)]));
    for (const viewer of known.values()) this.quota.note(viewer);
    return known;
  }
}

function isSame(some: string[], others: string[]): boolean {
  return some.length === others.length && some.every((tag) => others.includes(tag));
}

/** Takes one token of the viewer's bucket; false when it is empty. */
export function maySpeak(viewer: Viewer, now: number): boolean {
  viewer.tokens = Math.min(TOKENS, viewer.tokens + ((now - viewer.refilledAt) / 1000) * TOKENS_PER_SECOND);
  viewer.refilledAt = now;
  if (viewer.tokens < 1) return false;
  viewer.tokens--;
  return true;
}

/** Whether a viewer may name this video or panel: so many that nobody needs more, and few enough to keep. */
export function mayName(viewer: Viewer, target: string): boolean {
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

export function toViewer(attachment: Attachment, sent: number): Viewer {
  const { heardAt } = attachment;
  return {
    ...attachment,
    sent,
    acked: null,
    behindSince: null,
    notedAt: heardAt,
    tokens: TOKENS,
    refilledAt: heardAt,
    badFrames: 0,
    targets: new Set(),
  };
}
