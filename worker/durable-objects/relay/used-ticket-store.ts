import { z } from "@hono/zod-openapi";
import type { ViewerIdentity } from "#worker/durable-objects/channel/channel.protocol.ts";
import { migrate } from "#worker/durable-objects/migrations.ts";

/** Tickets used within this time are written together: a commit costs more than a socket. */
const GROUP_MS = 10;

const SCHEMA = ["CREATE TABLE IF NOT EXISTS spent_groups (number INTEGER PRIMARY KEY, nonces TEXT NOT NULL, expires INTEGER NOT NULL)"];

const Nonces = z.array(z.string());

type Nonce = NonNullable<ViewerIdentity["nonce"]>;
type Row = { nonces: string; expires: number };

/**
 * The tickets used at a relay, until they expire. In memory, and in SQLite to survive hibernation and crashes: one row per group of viewers
 * that connected together, because a row per viewer would cost more than the rest of its admission.
 */
export class UsedTicketStore {
  readonly #sql: SqlStorage;
  /** When each expires, ms; loaded on first use after waking. */
  #known: Map<string, number> | null = null;
  #group: Nonce[] = [];
  #written: Promise<void> | null = null;

  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
    migrate(storage, "tickets", SCHEMA);
  }

  /** Marks a ticket as used; false if it already was. Durable once this resolves. */
  async use(nonce: Nonce): Promise<boolean> {
    const known = (this.#known ??= this.#read());
    if (known.has(nonce.value)) return false;
    known.set(nonce.value, nonce.expires);
    this.#group.push(nonce);
    this.#written ??= new Promise<void>((resolve) => setTimeout(resolve, GROUP_MS)).then(() => this.#write());
    await this.#written;
    return true;
  }

  /** Deletes expired tickets. */
  prune(now: number): void {
    this.#sql.exec("DELETE FROM spent_groups WHERE expires < ?", now);
    for (const [value, expires] of this.#known ?? []) if (expires < now) this.#known?.delete(value);
  }

  #write(): void {
    const group = this.#group;
    this.#group = [];
    this.#written = null;
    const nonces = JSON.stringify(group.map(({ value }) => value));
    this.#sql.exec("INSERT INTO spent_groups (nonces, expires) VALUES (?, ?)", nonces, Math.max(...group.map(({ expires }) => expires)));
  }

  #read(): Map<string, number> {
    const rows = this.#sql.exec<Row>("SELECT nonces, expires FROM spent_groups").toArray();
    return new Map(rows.flatMap(({ nonces, expires }) => Nonces.parse(JSON.parse(nonces)).map((value) => [value, expires] as const)));
  }
}
