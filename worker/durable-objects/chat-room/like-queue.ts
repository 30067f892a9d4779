import { createHash } from "node:crypto";
import { migrate } from "#worker/durable-objects/migrations.ts";
import type { Deed } from "#worker/services/leaderboards/paying.ts";

/** Likes per payment. */
const BATCH = 500;

const SCHEMA = [
  "CREATE TABLE likes (message_id TEXT NOT NULL, liker TEXT NOT NULL, author TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (message_id, liker)) WITHOUT ROWID",
];

type Like = { message_id: string; liker: string; author: string; at: number };

/** Reactions that leaderboards have yet to pay the authors for. Paid in batches, once per message and account that reacted. */
export class LikeQueue {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  readonly #pay: (deeds: Deed[]) => Promise<void>;
  #isEmpty: boolean;

  constructor(storage: DurableObjectStorage, pay: (deeds: Deed[]) => Promise<void>) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.#pay = pay;
    migrate(storage, "likes", SCHEMA);
    this.#isEmpty = this.#next(1).length === 0;
  }

  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** Notes a reaction to somebody else's message. Only a hash of who reacted is kept, because the ledger of the author's points has it. */
  add(message: { id: string; accountId: string | null }, liker: string, at: number): void {
    if (message.accountId === null || message.accountId === liker) return;
    const hash = createHash("sha256").update(`${message.id}:${liker}`).digest("hex").slice(0, 16);
    this.#sql.exec("INSERT OR IGNORE INTO likes VALUES (?, ?, ?, ?)", message.id, hash, message.accountId, at);
    this.#isEmpty = false;
  }

  /** Pays for all reactions noted so far; those that can't be paid for are kept. */
  async pay(): Promise<void> {
    for (let likes = this.#next(BATCH); likes.length > 0; likes = this.#next(BATCH)) {
      await this.#pay(likes.map(({ message_id, liker, author, at }) => ({ accountId: author, cause: `${message_id}/${liker}`, at })));
      for (const { message_id, liker } of likes) this.#sql.exec("DELETE FROM likes WHERE message_id = ? AND liker = ?", message_id, liker);
    }
    this.#isEmpty = true;
  }

  /** Starts over after everything was deleted. */
  reset(): void {
    migrate(this.#storage, "likes", SCHEMA);
    this.#isEmpty = true;
  }

  #next(limit: number): Like[] {
    return this.#sql.exec<Like>("SELECT * FROM likes LIMIT ?", limit).toArray();
  }
}
