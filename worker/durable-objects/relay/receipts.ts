import { z } from "@hono/zod-openapi";
import { observe } from "#worker/lib/histogram.ts";
import type { LogFrame } from "#worker/durable-objects/channel/channel.protocol.ts";
import { ReceiptPart } from "#worker/durable-objects/channel/channel.protocol.ts";
import { migrate } from "#worker/durable-objects/migrations.ts";
import { reaches } from "./frames.ts";

/** Broadcasts whose acknowledgements are still counted; for older ones, outstanding acknowledgements count as missing. */
const KEPT = 128;

const SCHEMA = ["CREATE TABLE IF NOT EXISTS receipts (seq INTEGER PRIMARY KEY, body TEXT NOT NULL)"];

const Stored = ReceiptPart.extend({ at: z.number(), tags: z.array(z.string()).nullable() });

/** One broadcast's counts at this relay; `at` is when the channel committed it, ms. */
interface Entry extends Omit<ReceiptPart, "delays"> {
  at: number;
  tags: string[] | null;
  delays: Map<number, number>;
}

/** The part of a viewer that receipts need: `counted` is the position up to which its acknowledgements have been counted. */
interface Counted {
  audience: string[];
  counted: number;
}

/**
 * Delivery counts of the last broadcasts at this relay. Acknowledgements are counted in memory and written periodically with the viewers'
 * positions: what an eviction loses, a viewer's next acknowledgement restores, because it covers all earlier ones.
 */
export class RelayReceipts {
  readonly #sql: SqlStorage;
  #known: Entry[] | null = null;
  #changed = new Set<Entry>();

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
    migrate(storage, "receipts", SCHEMA);
  }

  /** Records how many sockets a broadcast was for, and how many accepted it. */
  sent(frame: LogFrame, sockets: number, sent: number): void {
    const entry = this.#entryOf(frame);
    if (!entry) return;
    entry.sockets += sockets;
    entry.sent += sent;
    this.#changed.add(entry);
  }

  /** Records that a later viewer received the broadcast with its welcome. */
  late(frame: LogFrame): void {
    const entry = this.#entryOf(frame);
    if (!entry) return;
    entry.late++;
    this.#changed.add(entry);
  }

  /** Counts, once, an acknowledgement of everything sent to this viewer up to `seq`; returns whether it was new. */
  acknowledge(viewer: Counted, seq: number, now: number): boolean {
    if (seq <= viewer.counted) return false;
    const entries = this.#entries();
    for (let i = entries.length - 1; i >= 0; i--) {
      const entry = entries[i];
      if (!entry || entry.seq <= viewer.counted) break;
      if (entry.seq > seq || !reaches(entry, viewer.audience)) continue;
      entry.acknowledged++;
      observe(entry.delays, now - entry.at);
      this.#changed.add(entry);
    }
    viewer.counted = seq;
    return true;
  }

  /** The counts of those of these broadcasts that are recent. */
  of(broadcastIds: readonly string[]): ReceiptPart[] {
    const asked = new Set(broadcastIds);
    return this.#entries()
      .filter((known) => asked.has(known.broadcastId))
      .map(toPart);
  }

  /** Writes the changed counts. */
  write(): void {
    const rows = [...this.#changed].map((entry) => ({ seq: entry.seq, body: { ...toPart(entry), at: entry.at, tags: entry.tags } }));
    const insert = "INSERT OR REPLACE INTO receipts (seq, body) SELECT value ->> 'seq', value ->> 'body' FROM json_each(?)";
    this.#sql.exec(insert, JSON.stringify(rows));
    this.#sql.exec("DELETE FROM receipts WHERE seq < ?", this.#entries()[0]?.seq ?? 0);
  }

  /** Writes the changed counts and returns them for the channel. */
  take(): ReceiptPart[] {
    if (this.#changed.size === 0) return [];
    this.write();
    const parts = [...this.#changed].map(toPart);
    this.#changed = new Set();
    return parts;
  }

  /** Keeps parts that the channel did not accept for the next report. */
  putBack(parts: ReceiptPart[]): void {
    for (const { seq } of parts) {
      const entry = this.#entries().find((known) => known.seq === seq);
      if (entry) this.#changed.add(entry);
    }
  }

  #entryOf({ seq, tags, shows }: LogFrame): Entry | null {
    if (!shows) return null;
    const entries = this.#entries();
    const known = entries.find((entry) => entry.seq === seq);
    if (known) return known;
    const { broadcastId, at } = shows;
    const entry: Entry = { broadcastId, seq, at, tags, sockets: 0, sent: 0, acknowledged: 0, late: 0, delays: new Map() };
    entries.push(entry);
    // A late viewer may add an older one.
    if ((entries.at(-2)?.seq ?? 0) > seq) entries.sort((a, b) => a.seq - b.seq);
    if (entries.length > KEPT) this.#changed.delete(entries.shift() ?? entry);
    return entry;
  }

  #entries(): Entry[] {
    this.#known ??= this.#sql
      .exec<{ body: string }>("SELECT body FROM receipts ORDER BY seq")
      .toArray()
      .map(({ body }) => toEntry(Stored.parse(JSON.parse(body))));
    return this.#known;
  }
}

function toEntry({ delays, ...stored }: z.infer<typeof Stored>): Entry {
  return { ...stored, delays: new Map(delays) };
}

function toPart({ broadcastId, seq, sockets, sent, acknowledged, late, delays }: Entry): ReceiptPart {
  return { broadcastId, seq, sockets, sent, acknowledged, late, delays: [...delays] };
}
