import { z } from "@hono/zod-openapi";
import type { ViewerIdentity } from "#worker/durable-objects/channel/channel.protocol.ts";

/** Tickets that come together are written together: a commit costs more than a socket. */
const GROUP_MS = 10;

const Nonces = z.array(z.string());

type Nonce = NonNullable<ViewerIdentity["nonce"]>;
type Row = { nonces: string; expires: number };

/**
 * The tickets that were used at a relay, until they expire. In memory, and in SQLite for the time after a hibernation or crash: a row for
 * each group of viewers that came together, since a row for each viewer would cost more than all else of letting it in.
 */
export class UsedTicketStore {
  readonly #sql: SqlStorage;
  /** When each expires, ms; read at the first use after waking. */
  #known: Map<string, number> | null = null;
  #group: Nonce[] = [];
  #written: Promise<void> | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec("CREATE TABLE IF NOT EXISTS spent_groups (number INTEGER PRIMARY KEY, nonces TEXT NOT NULL, expires INTEGER NOT NULL)");
  }

  /** Marks a ticket used; false if it was before. Once this resolves it is written down. */
  async spend(nonce: Nonce): Promise<boolean> {
    const known = (this.#known ??= this.#read());
    if (known.has(nonce.value)) return false;
    known.set(nonce.value, nonce.expires);
    this.#group.push(nonce);
    this.#written ??= new Promise<void>((resolve) => setTimeout(resolve, GROUP_MS)).then(() => this.#write());
    await this.#written;
    return true;
  }

  /** Forgets what has expired. */
  forget(now: number): void {
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
