import type { ClientRules } from "#worker/durable-objects/channel/channel.protocol.ts";
import { migrate } from "#worker/durable-objects/migrations.ts";

const SCHEMA = ["CREATE TABLE IF NOT EXISTS rules (position INTEGER PRIMARY KEY, id TEXT NOT NULL, channel_id TEXT, body TEXT NOT NULL)"];

type RuleRow = { id: string; channel_id: string | null; body: string };

/** The latest version of the site's client rules. */
export class SiteRules {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    migrate(storage, "rules", SCHEMA);
  }

  get current(): ClientRules | null {
    const version = this.#storage.kv.get<number>("rulesVersion");
    if (version === undefined) return null;
    const rows = this.#storage.sql.exec<RuleRow>("SELECT id, channel_id, body FROM rules ORDER BY position").toArray();
    const paused = this.#storage.kv.get<string[]>("rulesPaused") ?? [];
    return { version, rules: rows.map(({ id, channel_id: channelId, body }) => ({ id, channelId, body })), paused };
  }

  /** Stores the rules and returns whether they are newer. */
  set({ version, rules, paused }: ClientRules): boolean {
    const { kv, sql } = this.#storage;
    if (version <= (kv.get<number>("rulesVersion") ?? 0)) return false;
    this.#storage.transactionSync(() => {
      sql.exec("DELETE FROM rules");
      // One row per rule: a key-value entry is limited to 2 MB.
      for (const { id, channelId, body } of rules)
        sql.exec("INSERT INTO rules (id, channel_id, body) VALUES (?, ?, ?)", id, channelId, body);
      kv.put("rulesPaused", paused);
      kv.put("rulesVersion", version);
    });
    return true;
  }
}
