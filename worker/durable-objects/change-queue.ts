import { logError } from "#worker/lib/log.ts";
import { migrate } from "./migrations.ts";

/** Shortest time between two notifications: viewers are notified at most twice a second. */
const NOTIFY_MS = 500;
/** Longest time between two attempts. */
const RETRY_MS = 32_000;

const SCHEMA = ["CREATE TABLE changes (seq INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE)"];

/** What has changed and viewers don't know yet. The object's alarm sends it, at most twice a second; what fails is sent again. */
export class ChangeQueue {
  readonly #storage: DurableObjectStorage;
  /** For the log. */
  readonly #channel: string;
  /** Keys that changed again while they were being sent. */
  #changedAgain = new Set<string>();
  #sending = new Set<string>();
  #notifiedAt = 0;
  #failures = 0;

  constructor(storage: DurableObjectStorage, channel: string) {
    this.#storage = storage;
    this.#channel = channel;
    migrate(storage, "changes", SCHEMA);
  }

  /** Notes that these have changed; their viewers are notified within half a second. Those that wait already keep their place. */
  async note(keys: string[]): Promise<void> {
    this.#add(keys);
    for (const key of keys) if (this.#sending.has(key)) this.#changedAgain.add(key);
    await this.#schedule();
  }

  /**
   * Calls `notify` with up to `limit` keys, those noted first. It returns the keys that viewers now know; the others follow with the next
   * notification. Safe to call at any time.
   */
  async send(limit: number, notify: (keys: string[]) => Promise<string[]>): Promise<void> {
    const { sql } = this.#storage;
    const rows = sql.exec<{ key: string }>("SELECT key FROM changes ORDER BY seq LIMIT ?", limit).toArray();
    if (rows.length === 0) return;
    const keys = rows.map(({ key }) => key);
    this.#notifiedAt = Date.now();
    this.#sending = new Set(keys);
    try {
      this.#remove(await notify(keys));
      this.#failures = 0;
    } catch (error) {
      logError("viewer_notification_failed", error, { channel: this.#channel });
      this.#notifiedAt += Math.min(RETRY_MS, NOTIFY_MS * 2 ** this.#failures++);
    }
    this.#sending = new Set();
    this.#changedAgain = new Set();
    if (sql.exec("SELECT 1 FROM changes LIMIT 1").toArray().length > 0) await this.#schedule();
  }

  /** Deletes everything after the channel is deleted. */
  async clear(): Promise<void> {
    this.#storage.sql.exec("DELETE FROM changes");
    await this.#storage.deleteAlarm();
  }

  #add(keys: string[]): void {
    this.#storage.sql.exec("INSERT OR IGNORE INTO changes (key) SELECT value FROM json_each(?)", JSON.stringify(keys));
  }

  /** Those that changed again meanwhile wait again, behind the others. */
  #remove(sent: string[]): void {
    this.#storage.transactionSync(() => {
      this.#storage.sql.exec("DELETE FROM changes WHERE key IN (SELECT value FROM json_each(?))", JSON.stringify(sent));
      this.#add([...this.#changedAgain]);
    });
  }

  async #schedule(): Promise<void> {
    const at = this.#notifiedAt + NOTIFY_MS;
    const scheduled = await this.#storage.getAlarm();
    if (scheduled === null || scheduled > at) await this.#storage.setAlarm(Math.max(Date.now(), at));
  }
}
