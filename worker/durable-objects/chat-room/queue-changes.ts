import { migrate } from "#worker/durable-objects/migrations.ts";
import { CoalescedRunner } from "#worker/lib/time/coalesced-runner.ts";

const AT_ONCE = 500;

/** A message that waits for a moderator since a moment (ms), or null if it no longer does. */
export interface QueueChange {
  id: string;
  since: number | null;
}

// Triggers, so that a change of either table and its entry here are one commit, whatever causes it.
const SCHEMA = [
  `CREATE TABLE queue_changes (message_id TEXT PRIMARY KEY, since INTEGER) WITHOUT ROWID;
  CREATE TRIGGER held_added AFTER INSERT ON messages WHEN new.state = 'held'
    BEGIN INSERT OR REPLACE INTO queue_changes VALUES (new.id, new.sent_at); END;
  CREATE TRIGGER held_decided AFTER UPDATE OF state ON messages WHEN old.state = 'held' AND new.state <> 'held'
    BEGIN INSERT OR REPLACE INTO queue_changes VALUES (new.id, NULL); END;
  CREATE TRIGGER held_deleted AFTER DELETE ON messages WHEN old.state = 'held'
    BEGIN INSERT OR REPLACE INTO queue_changes VALUES (old.id, NULL); END;
  CREATE TRIGGER reported_added AFTER INSERT ON reported
    BEGIN INSERT OR REPLACE INTO queue_changes VALUES (new.message_id, new.at); END;
  CREATE TRIGGER reported_deleted AFTER DELETE ON reported
    BEGIN INSERT OR REPLACE INTO queue_changes VALUES (old.message_id, NULL); END;
  INSERT INTO queue_changes SELECT id, sent_at FROM messages WHERE state = 'held';
  INSERT OR REPLACE INTO queue_changes SELECT message_id, at FROM reported`,
];

/** What has changed in the room's part of the moderators' queue, until it is written to the database. */
export class QueueChanges {
  readonly #storage: DurableObjectStorage;
  readonly #writes: CoalescedRunner;

  /** `write` is safe to repeat. */
  constructor(storage: DurableObjectStorage, write: (changes: QueueChange[]) => Promise<void>) {
    this.#storage = storage;
    this.#writes = new CoalescedRunner(() => this.#writeAll(write));
    this.reset();
  }

  /** Creates the table and its triggers where they are missing, after those of messages and reports. */
  reset(): void {
    migrate(this.#storage, "queue", SCHEMA);
  }

  get isEmpty(): boolean {
    return this.#next(1).length === 0;
  }

  /** Writes everything that has changed so far. */
  flush(): Promise<void> {
    return this.#writes.run();
  }

  async #writeAll(write: (changes: QueueChange[]) => Promise<void>): Promise<void> {
    for (let changes = this.#next(AT_ONCE); changes.length > 0; changes = this.#next(AT_ONCE)) {
      await write(changes);
      this.#settle(changes);
    }
  }

  #next(limit: number): QueueChange[] {
    const select = "SELECT message_id AS id, since FROM queue_changes LIMIT ?";
    return this.#storage.sql.exec<{ id: string; since: number | null }>(select, limit).toArray();
  }

  /** Forgets changes that are written, unless they have changed again since. */
  #settle(changes: QueueChange[]): void {
    for (const { id, since } of changes) this.#storage.sql.exec("DELETE FROM queue_changes WHERE message_id = ? AND since IS ?", id, since);
  }
}
