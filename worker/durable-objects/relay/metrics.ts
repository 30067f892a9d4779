import type { Seen } from "#worker/services/realtime/activity.ts";
import type { LogFrame, ReceiptPart } from "#worker/durable-objects/channel/channel.protocol.ts";
import { RelayActivity, watchingAt } from "./activity.ts";
import { reaches } from "./frames.ts";
import { RelayReceipts } from "./receipts.ts";
import { mayTarget, type RelaySockets, type Viewer } from "./sockets.ts";
import type { ViewerFrame } from "./relay.protocol.ts";

/** How soon counts are written after a quiet time, and how often from then on: the object hibernates after 10 s of silence. */
const SOON_MS = 1_000;
const EVERY_MS = 8_000;
const RETRY_MS = 2_000;

/** Where the metrics are written. */
export interface MetricsSink {
  receipts: (parts: ReceiptPart[]) => Promise<void>;
  activity: (seen: Seen[]) => Promise<void>;
  failed: (error: unknown) => void;
}

/** What a relay counts: who received which broadcast, and what viewers did. In memory first, so that it never delays delivery. */
export class RelayMetrics {
  readonly #sockets: RelaySockets;
  readonly #receipts: RelayReceipts;
  readonly #activity: RelayActivity;
  readonly #sink: MetricsSink;
  readonly #wakeBy: (at: number) => void;
  /** Viewers with counts that aren't in their attachment yet. */
  #unsaved = new Set<WebSocket>();
  #settledAt = 0;
  #dueAt = Infinity;

  /** `wakeBy` asks for an alarm by that moment (ms). */
  constructor(storage: DurableObjectStorage, channelId: string, sockets: RelaySockets, sink: MetricsSink, wakeBy: (at: number) => void) {
    this.#sockets = sockets;
    this.#receipts = new RelayReceipts(storage);
    this.#activity = new RelayActivity(channelId);
    this.#sink = sink;
    this.#wakeBy = wakeBy;
  }

  /** When the next write is due, ms; Infinity if there is nothing to write. */
  get due(): number {
    return this.#dueAt;
  }

  /** The counts of those of these broadcasts that are recent. */
  receipts(broadcastIds: readonly string[]): ReceiptPart[] {
    return this.#receipts.of(broadcastIds);
  }

  /** Sends frames by calling `send`, and counts the sockets they were for and those that accepted them. */
  sending(frames: LogFrame[], send: () => void): void {
    const shows = frames.filter((frame) => frame.shows);
    const addressed = shows.map((frame) => this.#sockets.countReached(frame.tags));
    send();
    shows.forEach((frame, i) => this.#receipts.sent(frame, addressed[i] ?? 0, this.#sockets.countReached(frame.tags)));
    if (shows.length === 0) return;
    // Immediately: every other count is measured against what was sent.
    this.#receipts.write();
    this.#changed(Date.now());
  }

  /** Records an admitted viewer and the frames in its welcome. */
  joined(viewer: { accountId: string | null; audience: string[] }, frames: LogFrame[], now: number): void {
    const shows = frames.filter((frame) => frame.shows && reaches(frame, viewer.audience));
    for (const frame of shows) this.#receipts.late(frame);
    if (viewer.accountId !== null) this.#activity.visited(viewer.accountId, now, now);
    if (shows.length > 0 || viewer.accountId !== null) this.#changed(now);
  }

  /** Records that the viewers are still connected. */
  recordPresence(now: number): void {
    for (const viewer of this.#sockets.viewers()) this.visited(viewer, now);
  }

  /** Records that a viewer was connected until then (ms). */
  visited({ accountId, joinedAt }: Viewer, until: number): void {
    if (accountId === null) return;
    this.#activity.visited(accountId, joinedAt, Math.max(joinedAt, until));
    this.#changed(Date.now());
  }

  /** Records a viewer's frame; `head` is the position that the relay's sockets have reached. */
  record(
    socket: WebSocket,
    viewer: Viewer,
    frame: Exclude<ViewerFrame, { type: "vote" | "ping" | `chat.${string}` }>,
    head: number,
    now: number,
  ): void {
    if (frame.type === "ack") this.#acknowledged(socket, viewer, Math.min(frame.seq, head), now);
    else if (frame.type === "watch") this.#watched(socket, viewer, frame, now);
    else if (viewer.accountId !== null && mayTarget(viewer, frame.panelId)) {
      this.#activity.opened(viewer.accountId, frame.panelId, now);
      this.#changed(now);
    }
  }

  /** Writes the counts; those that can't be written are kept for the next time. */
  async settle(): Promise<void> {
    this.#dueAt = Infinity;
    this.#settledAt = Date.now();
    // Together with the counts, so that both agree after an eviction.
    for (const socket of this.#unsaved) this.#save(socket);
    this.#unsaved = new Set();
    const parts = this.#receipts.take();
    const seen = this.#activity.take();
    await Promise.all([
      this.#keeping(parts, this.#sink.receipts, () => this.#receipts.putBack(parts)),
      this.#keeping(seen, this.#sink.activity, () => this.#activity.putBack(seen)),
    ]);
  }

  #acknowledged(socket: WebSocket, viewer: Viewer, seq: number, now: number): void {
    viewer.acked = Math.max(viewer.acked ?? 0, seq);
    if (!this.#receipts.acknowledge(viewer, seq, now)) return;
    this.#unsaved.add(socket);
    this.#changed(now);
  }

  /** The position is saved every time, because the object may hibernate between any two reports of a lone viewer. */
  #watched(socket: WebSocket, viewer: Viewer, { videoId, mediaTime }: { videoId: string; mediaTime: number }, now: number): void {
    if (viewer.accountId === null || !mayTarget(viewer, videoId)) return;
    const watching = watchingAt(viewer.watching, { videoId, mediaTime, at: now });
    this.#activity.watched(viewer.accountId, viewer.watching, watching);
    viewer.watching = watching;
    this.#sockets.save(socket, viewer);
    if (this.#activity.size > 0) this.#changed(now);
  }

  #save(socket: WebSocket): void {
    const viewer = this.#sockets.get(socket);
    if (viewer) this.#sockets.save(socket, viewer);
  }

  async #keeping<T>(rows: T[], keep: (rows: T[]) => Promise<void>, putBack: () => void): Promise<void> {
    if (rows.length === 0) return;
    try {
      await keep(rows);
    } catch (error) {
      this.#sink.failed(error);
      putBack();
      this.#changed(Date.now() + RETRY_MS);
    }
  }

  #changed(now: number): void {
    const due = Math.max(now + SOON_MS, this.#settledAt + EVERY_MS);
    if (due >= this.#dueAt) return;
    this.#dueAt = due;
    this.#wakeBy(due);
  }
}
