import type { Seen } from "#worker/services/realtime/activity.ts";
import type { LogFrame, ReceiptPart } from "#worker/durable-objects/channel/channel.protocol.ts";
import { RelayActivity, watchingAt } from "./activity.ts";
import { reaches } from "./frames.ts";
import { RelayReceipts } from "./receipts.ts";
import { mayName, type RelaySockets, type Viewer } from "./sockets.ts";
import type { ViewerFrame } from "./relay.protocol.ts";

/** What has been counted is written down so soon after a quiet time, and then so often: the object hibernates after 10 s of silence. */
const SOON_MS = 1_000;
const EVERY_MS = 8_000;
const RETRY_MS = 2_000;

/** Where the books go. */
export interface MetricsSink {
  receipts: (parts: ReceiptPart[]) => Promise<void>;
  activity: (seen: Seen[]) => Promise<void>;
  failed: (error: unknown) => void;
}

/** What a relay counts of its viewers: who got which broadcast, and what they did. In memory first, never on the way to the screens. */
export class RelayMetrics {
  private readonly sockets: RelaySockets;
  private readonly receipts: RelayReceipts;
  private readonly activity: RelayActivity;
  private readonly sink: MetricsSink;
  private readonly wakeBy: (at: number) => void;
  /** Viewers whose attachment does not hold yet what has been counted of them. */
  private unsaved = new Set<WebSocket>();
  private settledAt = 0;
  private dueAt = Infinity;

  /** `wakeBy` asks for an alarm by that moment (ms). */
  constructor(sql: SqlStorage, channelId: string, sockets: RelaySockets, ledger: MetricsSink, wakeBy: (at: number) => void) {
    this.sockets = sockets;
    this.receipts = new RelayReceipts(sql);
    this.activity = new RelayActivity(channelId);
    this.sink = ledger;
    this.wakeBy = wakeBy;
  }

  /** When there is something to write down, ms; Infinity for nothing. */
  get due(): number {
    return this.dueAt;
  }

  /** What is known of a broadcast; null where it is not one of the last. */
  receipt(broadcastId: string): ReceiptPart | null {
    return this.receipts.of(broadcastId);
  }

  /** Sends frames by `send` and notes who they were for and who took them. */
  sending(frames: LogFrame[], send: () => void): void {
    const shows = frames.filter((frame) => frame.shows);
    const addressed = shows.map((frame) => this.sockets.countReached(frame.tags));
    send();
    shows.forEach((frame, i) => this.receipts.sent(frame, addressed[i] ?? 0, this.sockets.countReached(frame.tags)));
    if (shows.length === 0) return;
    // At once: that they were sent is what everything else is measured by.
    this.receipts.write();
    this.changed(Date.now());
  }

  /** Notes a viewer that is let in, and the frames that its welcome brings. */
  joined(viewer: { accountId: string | null; tags: string[] }, frames: LogFrame[], now: number): void {
    const shows = frames.filter((frame) => frame.shows && reaches(frame, viewer.tags));
    for (const frame of shows) this.receipts.late(frame);
    if (viewer.accountId !== null) this.activity.visited(viewer.accountId, now, now);
    if (shows.length > 0 || viewer.accountId !== null) this.changed(now);
  }

  /** Notes that the viewers are still here. */
  present(now: number): void {
    for (const viewer of this.sockets.viewers()) this.visited(viewer, now);
  }

  /** Notes that a viewer was here until then (ms). */
  visited({ accountId, joinedAt }: Viewer, until: number): void {
    if (accountId === null) return;
    this.activity.visited(accountId, joinedAt, Math.max(joinedAt, until));
    this.changed(Date.now());
  }

  /** Notes what a viewer tells of itself; `head` is the position that the relay's sockets hold. */
  heard(socket: WebSocket, viewer: Viewer, frame: Exclude<ViewerFrame, { type: "vote" | "ping" }>, head: number, now: number): void {
    if (frame.type === "ack") this.acknowledged(socket, viewer, Math.min(frame.seq, head), now);
    else if (frame.type === "watch") this.watched(socket, viewer, frame, now);
    else if (viewer.accountId !== null && mayName(viewer, frame.panelId)) {
      this.activity.opened(viewer.accountId, frame.panelId, now);
      this.changed(now);
    }
  }

  /** Writes down what has been counted; what can't be is kept for the next time. */
  async settle(): Promise<void> {
    this.dueAt = Infinity;
    this.settledAt = Date.now();
    // Together with the counts, so that whoever reads both after an eviction finds them agree.
    for (const socket of this.unsaved) this.save(socket);
    this.unsaved = new Set();
    const parts = this.receipts.take();
    const seen = this.activity.take();
    await Promise.all([
      this.keeping(parts, this.sink.receipts, () => this.receipts.putBack(parts)),
      this.keeping(seen, this.sink.activity, () => this.activity.putBack(seen)),
    ]);
  }

  private acknowledged(socket: WebSocket, viewer: Viewer, seq: number, now: number): void {
    viewer.acked = Math.max(viewer.acked ?? 0, seq);
    if (!this.receipts.acknowledge(viewer, seq, now)) return;
    this.unsaved.add(socket);
    this.changed(now);
  }

  /** The place survives hibernation, which may lie between any two reports of a lone viewer. */
  private watched(socket: WebSocket, viewer: Viewer, { videoId, mediaTime }: { videoId: string; mediaTime: number }, now: number): void {
    if (viewer.accountId === null || !mayName(viewer, videoId)) return;
    const watching = watchingAt(viewer.watching, { videoId, mediaTime, at: now });
    this.activity.watched(viewer.accountId, viewer.watching, watching);
    viewer.watching = watching;
    this.sockets.save(socket, viewer);
    if (this.activity.size > 0) this.changed(now);
  }

  private save(socket: WebSocket): void {
    const viewer = this.sockets.get(socket);
    if (viewer) this.sockets.save(socket, viewer);
  }

  private async keeping<T>(rows: T[], keep: (rows: T[]) => Promise<void>, putBack: () => void): Promise<void> {
    if (rows.length === 0) return;
    try {
      await keep(rows);
    } catch (error) {
      this.sink.failed(error);
      putBack();
      this.changed(Date.now() + RETRY_MS);
    }
  }

  private changed(now: number): void {
    const due = Math.max(now + SOON_MS, this.settledAt + EVERY_MS);
    if (due >= this.dueAt) return;
    this.dueAt = due;
    this.wakeBy(due);
  }
}
