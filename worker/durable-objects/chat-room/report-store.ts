import { migrate } from "#worker/durable-objects/migrations.ts";
import type { ChatReport } from "#worker/services/chat/schemas.ts";
import type { MessageResponse, PendingMessage } from "./chat-room.protocol.ts";
import type { MessageStore } from "./message-store.ts";

/** After this, another report may publish the event that its first claimant never confirmed. */
const CLAIM_MS = 60_000;

const SCHEMA = [
  `CREATE TABLE reports (message_id TEXT NOT NULL, account_id TEXT, reason TEXT NOT NULL, at INTEGER NOT NULL, UNIQUE (message_id, account_id));
  CREATE TABLE reported (message_id TEXT PRIMARY KEY, at INTEGER NOT NULL, claimed_at INTEGER, announced INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX reported_at ON reported (at, message_id);
  CREATE TABLE reactions (message_id TEXT NOT NULL, account_id TEXT NOT NULL, emoji TEXT NOT NULL, PRIMARY KEY (message_id, account_id)) WITHOUT ROWID;
  CREATE INDEX reactions_account ON reactions (account_id)`,
];

/** What viewers think of messages: their reports, until a moderator settles them, and their reactions. */
export class ReportStore {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.reset();
  }

  /** Creates the tables where they are missing: at the start, and after everything was deleted. */
  reset(): void {
    migrate(this.#storage, "reports", SCHEMA);
  }

  /** Records an account's report once. `announce`: the caller should publish the message's event. */
  report(messageId: string, accountId: string, reason: string, now: number): { isNew: boolean; report: ChatReport; announce: boolean } {
    const known = this.of(messageId).find((report) => report.accountId === accountId);
    this.#sql.exec(
      "INSERT OR IGNORE INTO reports (message_id, account_id, reason, at) VALUES (?, ?, ?, ?)",
      messageId,
      accountId,
      reason,
      now,
    );
    this.#sql.exec("INSERT OR IGNORE INTO reported (message_id, at, announced) VALUES (?, ?, 0)", messageId, now);
    const claim = "UPDATE reported SET claimed_at = ? WHERE message_id = ? AND announced = 0 AND coalesce(claimed_at, 0) < ?";
    const announce = this.#sql.exec(claim, now, messageId, now - CLAIM_MS).rowsWritten > 0;
    return { isNew: !known, report: known ?? { accountId, reason, reportedAt: now }, announce };
  }

  /** The message's event is committed. */
  confirm(messageId: string): void {
    this.#sql.exec("UPDATE reported SET announced = 1 WHERE message_id = ?", messageId);
  }

  /** The reports of a message that no moderator has settled. */
  of(messageId: string): ChatReport[] {
    const select = "SELECT account_id, reason, at FROM reports WHERE message_id = ? ORDER BY at";
    return this.#sql
      .exec<{ account_id: string | null; reason: string; at: number }>(select, messageId)
      .toArray()
      .map(({ account_id, reason, at }) => ({ accountId: account_id, reason, reportedAt: at }));
  }

  /** An account's reactions and unsettled reports. */
  by(accountId: string): MessageResponse[] {
    const reactions = this.#sql
      .exec<{ message_id: string; emoji: string }>("SELECT message_id, emoji FROM reactions WHERE account_id = ?", accountId)
      .toArray();
    const reports = this.#sql
      .exec<{ message_id: string; reason: string; at: number }>(
        "SELECT message_id, reason, at FROM reports WHERE account_id = ?",
        accountId,
      )
      .toArray();
    return [
      ...reactions.map(({ message_id, emoji }) => ({ messageId: message_id, emoji, report: null })),
      ...reports.map(({ message_id, reason, at }) => ({ messageId: message_id, emoji: null, report: { reason, reportedAt: at } })),
    ];
  }

  settle(messageId: string): void {
    this.#sql.exec("DELETE FROM reports WHERE message_id = ?", messageId);
    this.#sql.exec("DELETE FROM reported WHERE message_id = ?", messageId);
  }

  /** Sets an account's reaction; returns the message's counts, or null if nothing changed. */
  react(messageId: string, accountId: string, emoji: string | null): Record<string, number> | null {
    const change =
      emoji === null
        ? this.#sql.exec("DELETE FROM reactions WHERE message_id = ? AND account_id = ?", messageId, accountId)
        : this.#sql.exec(
            `INSERT INTO reactions VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET emoji = excluded.emoji WHERE emoji <> excluded.emoji`,
            messageId,
            accountId,
            emoji,
          );
    return change.rowsWritten > 0 ? this.#countsOf(messageId) : null;
  }

  /** An account's own reactions to these messages. */
  reactedTo(messageIds: string[], accountId: string): Record<string, string> {
    const select = "SELECT message_id, emoji FROM reactions WHERE account_id = ? AND message_id IN (SELECT value FROM json_each(?))";
    const rows = this.#sql.exec<{ message_id: string; emoji: string }>(select, accountId, JSON.stringify(messageIds)).toArray();
    return Object.fromEntries(rows.map(({ message_id, emoji }) => [message_id, emoji]));
  }

  /** Erases an account: its reports stay without their author. Returns the new counts of the messages that it had reacted to. */
  erase(accountId: string): Map<string, Record<string, number>> {
    this.#sql.exec("UPDATE reports SET account_id = NULL, reason = '' WHERE account_id = ?", accountId);
    const rows = this.#sql
      .exec<{ message_id: string }>("DELETE FROM reactions WHERE account_id = ? RETURNING message_id", accountId)
      .toArray();
    return new Map(rows.map(({ message_id }) => [message_id, this.#countsOf(message_id)]));
  }

  /** Deletes what belongs to deleted messages. */
  drop(messageIds: string[]): void {
    const ids = JSON.stringify(messageIds);
    for (const table of ["reports", "reported", "reactions"])
      this.#sql.exec(`DELETE FROM ${table} WHERE message_id IN (SELECT value FROM json_each(?))`, ids);
  }

  #countsOf(messageId: string): Record<string, number> {
    const select = "SELECT emoji, count(*) AS n FROM reactions WHERE message_id = ? GROUP BY emoji ORDER BY n DESC, emoji";
    const rows = this.#sql.exec<{ emoji: string; n: number }>(select, messageId).toArray();
    return Object.fromEntries(rows.map(({ emoji, n }) => [emoji, n]));
  }
}

/** Those of these messages that wait for a moderator, with their reports. */
export function pendingOf(messageIds: string[], messages: MessageStore, store: ReportStore): PendingMessage[] {
  return messageIds.flatMap((id) => {
    const message = messages.get(id);
    const reports = store.of(id);
    return message && (message.state === "held" || reports.length > 0) ? [{ message, reports }] : [];
  });
}
