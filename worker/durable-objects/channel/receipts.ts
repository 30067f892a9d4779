import { migrate } from "#worker/durable-objects/migrations.ts";
import { merge } from "#worker/lib/histogram.ts";
import { type ChannelReceipt, ReceiptPart } from "./channel.protocol.ts";

/** Outlives the record of a broadcast, which lasts at most a day and is kept for another. */
const KEPT_MS = 48 * 3_600_000;

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS receipts (
    broadcast_id TEXT NOT NULL, relay INTEGER NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (broadcast_id, relay)
  ) WITHOUT ROWID`,
];

interface Reported {
  relay: number;
  part: ReceiptPart;
}

/** The counts that relays reported for each broadcast. They are absolute, so a repeated report changes nothing. */
export class ChannelReceipts {
  readonly #sql: SqlStorage;

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
    migrate(storage, "receipts", SCHEMA);
  }

  /** Replaces this relay's counts for these broadcasts. */
  take(relay: number, parts: ReceiptPart[], now: number): void {
    const insert = `INSERT OR REPLACE INTO receipts (broadcast_id, relay, at, body)
      SELECT value ->> 'broadcastId', ?, ?, value FROM json_each(?)`;
    this.#sql.exec(insert, relay, now, JSON.stringify(parts));
  }

  /** What each relay has reported for these broadcasts. */
  of(broadcastIds: readonly string[]): Reported[] {
    const select = "SELECT relay, body FROM receipts WHERE broadcast_id IN (SELECT value FROM json_each(?))";
    const rows = this.#sql.exec<{ relay: number; body: string }>(select, JSON.stringify(broadcastIds));
    return rows.toArray().map(({ relay, body }) => ({ relay, part: ReceiptPart.parse(JSON.parse(body)) }));
  }

  prune(now: number): void {
    this.#sql.exec("DELETE FROM receipts WHERE at < ?", now - KEPT_MS);
  }
}

/** The counts of each broadcast by id: of each relay the current ones, or those that it has reported last. */
export function latestParts(reported: Reported[], relays: number[], current: ReceiptPart[][]): Map<string, ReceiptPart[]> {
  const answers = relays.flatMap((relay, i) => (current[i] ?? []).map((part) => ({ relay, part })));
  const latest = new Map([...reported, ...answers].map(({ relay, part }) => [`${relay} ${part.broadcastId}`, part]));
  return Map.groupBy(latest.values(), (part) => part.broadcastId);
}

/** Sums the counts of several relays or channels. */
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
