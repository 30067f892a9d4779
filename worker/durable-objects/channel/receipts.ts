import { merge } from "#worker/lib/histogram.ts";
import { type ChannelReceipt, ReceiptPart } from "./channel.protocol.ts";

/** Outlives the record of a broadcast: it lasts a day at most, and is kept for one more. */
const KEPT_MS = 48 * 3_600_000;

/** What the relays have reported of each broadcast: absolute counts, so that a repeated report changes nothing. */
export class ChannelReceipts {
  private readonly sql: SqlStorage;

  constructor(storage: DurableObjectStorage) {
    this.sql = storage.sql;
    this.sql.exec(`CREATE TABLE IF NOT EXISTS receipts (
      broadcast_id TEXT NOT NULL, relay INTEGER NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (broadcast_id, relay)
    ) WITHOUT ROWID`);
  }

  /** Replaces what is known of these broadcasts at this relay. */
  take(relay: number, parts: ReceiptPart[], now: number): void {
    const insert = `INSERT OR REPLACE INTO receipts (broadcast_id, relay, at, body)
      SELECT value ->> 'broadcastId', ?, ?, value FROM json_each(?)`;
    this.sql.exec(insert, relay, now, JSON.stringify(parts));
  }

  /** What each relay said of a broadcast. */
  of(broadcastId: string): Map<number, ReceiptPart> {
    const rows = this.sql.exec<{ relay: number; body: string }>("SELECT relay, body FROM receipts WHERE broadcast_id = ?", broadcastId);
    return new Map(rows.toArray().map(({ relay, body }) => [relay, ReceiptPart.parse(JSON.parse(body))]));
  }

  prune(now: number): void {
    this.sql.exec("DELETE FROM receipts WHERE at < ?", now - KEPT_MS);
  }
}

/** The counts of several relays, or channels, as one. */
export function sumReceipts(seq: number, parts: Omit<ChannelReceipt, "seq">[]): ChannelReceipt {
  const sum = { seq, sockets: 0, sent: 0, acknowledged: 0, late: 0 };
  for (const part of parts) {
    sum.sockets += part.sockets;
    sum.sent += part.sent;
    sum.acknowledged += part.acknowledged;
    sum.late += part.late;
  }
  return { ...sum, delays: [...merge(parts.map((part) => part.delays))] };
}
