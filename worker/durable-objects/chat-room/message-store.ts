import { z } from "@hono/zod-openapi";
import { CHAT_MESSAGE_STATES, CHAT_SENDER_ROLES } from "#db/enums.ts";
import { migrate } from "#worker/durable-objects/migrations.ts";
import type { Reader, RoomMessage, RoomPosition, SendOutcome, StoredMessage } from "./chat-room.protocol.ts";

/** How long a repeated send gets the first result. */
const REMEMBER_MS = 24 * 3_600_000;
/** Changes of older messages aren't pushed: no screen shows them any more, and a viewer that far behind starts over. */
const RECENT = 1_000;
/** Changes other than removals in one batch. */
const UPDATES = 20;

const SCHEMA = [
  `CREATE TABLE messages (
    stored INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, chat_seq INTEGER UNIQUE, near INTEGER NOT NULL,
    revision INTEGER NOT NULL, account_id TEXT, name TEXT NOT NULL, roles TEXT NOT NULL, system INTEGER NOT NULL,
    text TEXT NOT NULL, original TEXT NOT NULL, language TEXT, reply_to TEXT, mentions TEXT NOT NULL, reactions TEXT NOT NULL,
    state TEXT NOT NULL, muted INTEGER NOT NULL, sent_at INTEGER NOT NULL, translations TEXT NOT NULL);
  CREATE INDEX messages_revision ON messages (revision);
  CREATE INDEX messages_account ON messages (account_id, sent_at);
  CREATE INDEX messages_sent ON messages (sent_at);
  CREATE INDEX messages_unnumbered ON messages (near, stored) WHERE chat_seq IS NULL;
  CREATE INDEX messages_held ON messages (sent_at, id) WHERE state = 'held';
  CREATE TABLE position (chat_seq INTEGER NOT NULL, revision INTEGER NOT NULL);
  INSERT INTO position VALUES (0, 0);
  CREATE TABLE sends (account_id TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL, message_id TEXT NOT NULL, state TEXT NOT NULL,
    PRIMARY KEY (account_id, id)) WITHOUT ROWID;
  CREATE INDEX sends_at ON sends (at)`,
  "ALTER TABLE messages ADD COLUMN category TEXT",
];

const COLUMNS = `stored, id, chat_seq, revision, account_id, name, roles, system, text, original, language, reply_to, mentions, reactions,
  state, muted, sent_at, translations, category`;

const Strings = z.array(z.string());
const Row = z.object({
  stored: z.number(),
  id: z.string(),
  chat_seq: z.number().nullable(),
  revision: z.number(),
  account_id: z.string().nullable(),
  name: z.string(),
  roles: z.string(),
  system: z.number(),
  text: z.string(),
  original: z.string(),
  language: z.string().nullable(),
  reply_to: z.string().nullable(),
  mentions: z.string(),
  reactions: z.string(),
  state: z.enum(CHAT_MESSAGE_STATES),
  muted: z.number(),
  sent_at: z.number(),
  translations: z.string(),
  category: z.string().nullable(),
});
type Row = z.infer<typeof Row>;

/** A message before it has a position. */
export type Draft = Omit<RoomMessage, "chatSeq" | "revision" | "reactions" | "translations">;

/** A place in the order in which an account has written. */
export interface MessagePlace {
  sentAt: number;
  stored: number;
}

/** The messages of a room in its own storage. All calls are synchronous: one turn, one commit. */
export class MessageStore {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  #chatSeq = 0;
  #revision = 0;
  #stored = 0;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#sql = storage.sql;
    this.reset();
  }

  /** Creates the tables where they are missing, and reads the position: at the start, and after everything was deleted. */
  reset(): void {
    migrate(this.#storage, "messages", SCHEMA);
    const { chat_seq, revision } = this.#sql.exec<{ chat_seq: number; revision: number }>("SELECT chat_seq, revision FROM position").one();
    this.#chatSeq = chat_seq;
    this.#revision = revision;
    this.#readStored();
  }

  get position(): RoomPosition {
    return { chatSeq: this.#chatSeq, stored: this.#stored, revision: this.#revision, removals: this.#revision };
  }

  /** The result of an earlier request with this id; `accountId` is null for a developer key. */
  resultOf(accountId: string | null, requestId: string): Extract<SendOutcome, { ok: true }> | undefined {
    const select = "SELECT message_id, state FROM sends WHERE account_id = ? AND id = ?";
    const [row] = this.#sql.exec<{ message_id: string; state: string }>(select, accountId ?? "", requestId).toArray();
    return row && { ok: true, messageId: row.message_id, state: row.state === "held" ? "held" : "visible" };
  }

  /** When the account last sent a message, ms. */
  lastSentAt(accountId: string): number | undefined {
    const select = "SELECT max(sent_at) AS at FROM messages WHERE account_id = ?";
    return this.#sql.exec<{ at: number | null }>(select, accountId).one().at ?? undefined;
  }

  /** Stores a message once per account and request. Visible ones get the next `chatSeq`. */
  append(draft: Draft, requestId: string, now: number): void {
    const { accountId, state, muted } = draft;
    const isNumbered = state === "visible" && !muted;
    this.#commit(() => {
      if (isNumbered) this.#chatSeq++;
      const insert = `INSERT INTO messages (id, chat_seq, near, revision, account_id, name, roles, system, text, original, language, reply_to,
        mentions, reactions, state, muted, sent_at, translations, category)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '{}', ?, ?, ?, '{}', ?) RETURNING stored`;
      const { stored } = this.#sql
        .exec<{ stored: number }>(
          insert,
          draft.id,
          isNumbered ? this.#chatSeq : null,
          this.#chatSeq,
          this.#revision,
          accountId,
          draft.name,
          JSON.stringify(draft.roles),
          Number(draft.system),
          draft.text,
          draft.original,
          draft.language,
          draft.replyTo,
          JSON.stringify(draft.mentions),
          state,
          Number(muted),
          draft.sentAt,
          draft.category,
        )
        .one();
      this.#stored = stored;
      this.#sql.exec(
        "INSERT INTO sends (account_id, id, at, message_id, state) VALUES (?, ?, ?, ?, ?)",
        accountId ?? "",
        requestId,
        now,
        draft.id,
        state,
      );
    });
  }

  get(id: string): RoomMessage | undefined {
    return this.#select("WHERE id = ?", id)[0];
  }

  /** Shows a held message at the end of the room. */
  approve(id: string): void {
    this.#commit(() => {
      this.#chatSeq++;
      this.#revision++;
      const update = "UPDATE messages SET state = 'visible', chat_seq = ?, near = ?, revision = ? WHERE id = ? AND state = 'held'";
      this.#sql.exec(update, this.#chatSeq, this.#chatSeq, this.#revision, id);
    });
  }

  /** Removes a message; moderators still see it. */
  remove(id: string): void {
    this.#commit(() => {
      this.#revision++;
      this.#sql.exec("UPDATE messages SET state = 'removed', revision = ? WHERE id = ?", this.#revision, id);
    });
  }

  /** Removes everything that an account wrote, for good; returns the ids. What it wrote for the site stays, without its author. */
  erase(accountId: string): string[] {
    return this.#commit(() => {
      this.#revision++;
      this.#sql.exec("UPDATE messages SET account_id = NULL WHERE account_id = ? AND system = 1", accountId);
      this.#sql.exec("DELETE FROM sends WHERE account_id = ?", accountId);
      const erase = `UPDATE messages SET state = 'removed', account_id = NULL, name = '', roles = '[]', text = '', original = '',
        mentions = '[]', translations = '{}', category = NULL, revision = ? WHERE account_id = ? RETURNING id`;
      const erased = this.#sql.exec<{ id: string }>(erase, this.#revision, accountId).toArray();
      return erased.map(({ id }) => id);
    });
  }

  setReactions(id: string, reactions: Record<string, number>): void {
    this.#commit(() => {
      this.#revision++;
      this.#sql.exec("UPDATE messages SET reactions = ?, revision = ? WHERE id = ?", JSON.stringify(reactions), this.#revision, id);
    });
  }

  /** Adds translations of messages that still exist. */
  addTranslations(translated: { id: string; language: string; text: string }[]): void {
    this.#commit(() => {
      // One revision each, so that a batch can end after any of them.
      for (const { id, language, text } of translated)
        this.#sql.exec(
          "UPDATE messages SET translations = json_set(translations, '$.' || json_quote(?), ?), revision = ? WHERE id = ? AND text <> ''",
          language,
          text,
          ++this.#revision,
          id,
        );
    });
  }

  /** What follows a position; of many messages, the last ones. */
  batchAfter(from: RoomPosition, limit: number): { messages: RoomMessage[]; updates: RoomMessage[]; upTo: RoomPosition } {
    const messages = [...this.visibleAfter(from.chatSeq, limit), ...this.#unnumberedAfter(from, limit)];
    const { updates, revision } = this.#changesAfter(from);
    return { messages: messages.sort((one, other) => one.sentAt - other.sentAt), updates, upTo: { ...this.position, revision } };
  }

  /** The last visible messages after a position, oldest first. */
  visibleAfter(chatSeq: number, limit: number): RoomMessage[] {
    return this.#select("WHERE chat_seq > ? AND state = 'visible' ORDER BY chat_seq DESC LIMIT ?", chatSeq, limit).reverse();
  }

  /** The held and muted messages stored after a position, oldest first. */
  #unnumberedAfter({ stored }: Pick<RoomPosition, "stored">, limit: number): RoomMessage[] {
    return this.#select(
      "WHERE stored > ? AND chat_seq IS NULL AND state <> 'removed' ORDER BY stored DESC LIMIT ?",
      stored,
      limit,
    ).reverse();
  }

  /** Changes after a position: all removals, and the first others. `revision` is what all of them bring the receiver to. */
  #changesAfter(after: RoomPosition): { updates: RoomMessage[]; revision: number } {
    const recent = this.position.stored - RECENT;
    const numbered = "AND (chat_seq IS NULL OR chat_seq <= ?)";
    const removals = this.#select(
      `WHERE revision > ? AND stored > ? AND state = 'removed' ${numbered} ORDER BY revision`,
      after.removals,
      recent,
      after.chatSeq,
    );
    const others = this.#select(
      `WHERE revision > ? AND stored > ? AND state <> 'removed' ${numbered} ORDER BY revision LIMIT ?`,
      after.revision,
      recent,
      after.chatSeq,
      UPDATES + 1,
    );
    const hasMore = others.length > UPDATES;
    const updates = others.slice(0, UPDATES);
    return { updates: [...removals, ...updates], revision: hasMore ? (updates.at(-1)?.revision ?? 0) : this.#revision };
  }

  /** Every recent change since a revision, or null if there are too many. */
  #changesSince(revision: number, upTo: number, limit: number): RoomMessage[] | null {
    const recent = this.position.stored - RECENT;
    const rows = this.#select(
      "WHERE revision > ? AND stored > ? AND chat_seq <= ? ORDER BY revision LIMIT ?",
      revision,
      recent,
      upTo,
      limit + 1,
    );
    return rows.length > limit ? null : rows;
  }

  /** What a returning viewer has missed; null if it is too much, or the viewer's position is unknown here. */
  missedSince(after: number, revision: number | undefined, limit: number): { messages: RoomMessage[]; updates: RoomMessage[] } | null {
    if (revision === undefined || after > this.#chatSeq || revision > this.#revision || this.#chatSeq - after > limit) return null;
    const updates = this.#changesSince(revision, after, limit);
    return updates && { messages: this.visibleAfter(after, limit), updates };
  }

  /** A page before a position, newest first: visible messages; for moderators also removed ones, and held and muted ones near them. */
  pageBefore(before: number, limit: number, { accountId, moderator }: Reader): { messages: RoomMessage[]; before: number | null } {
    const states = moderator ? "" : "AND state = 'visible'";
    const rows = this.#select(`WHERE chat_seq < ? ${states} ORDER BY chat_seq DESC LIMIT ?`, before, limit + 1);
    const numbered = rows.slice(0, limit);
    const from = rows.length > limit ? (numbered.at(-1)?.chatSeq ?? 0) : 0;
    const own = moderator ? "" : "AND account_id = ? AND state <> 'removed'";
    const params = moderator ? [from, before, limit] : [from, before, accountId ?? "", limit];
    const unnumbered = this.#select(
      `WHERE chat_seq IS NULL AND near >= ? AND near < ? ${own} ORDER BY near DESC, stored DESC LIMIT ?`,
      ...params,
    );
    const messages = [...numbered, ...unnumbered].sort((one, other) => other.sentAt - one.sentAt || (other.id < one.id ? -1 : 1));
    return { messages, before: rows.length > limit ? from : null };
  }

  /** The next rows of the export. */
  exported(after: number, limit: number): StoredMessage[] {
    return this.#rows("WHERE stored > ? ORDER BY stored LIMIT ?", after, limit);
  }

  /** The next messages of an account, oldest first. */
  writtenBy(accountId: string, after: MessagePlace | null, limit: number): StoredMessage[] {
    const { sentAt, stored } = after ?? { sentAt: -1, stored: 0 };
    const clause = "WHERE account_id = ? AND (sent_at, stored) > (?, ?) ORDER BY sent_at, stored LIMIT ?";
    return this.#rows(clause, accountId, sentAt, stored, limit);
  }

  /** Deletes messages sent before a moment (ms) and forgets old requests; returns the deleted ids. */
  prune(before: number, now: number): string[] {
    this.#sql.exec("DELETE FROM sends WHERE at < ?", now - REMEMBER_MS);
    const deleted = this.#sql.exec<{ id: string }>("DELETE FROM messages WHERE sent_at < ? RETURNING id", before).toArray();
    this.#readStored();
    return deleted.map(({ id }) => id);
  }

  #readStored(): void {
    this.#stored = this.#sql.exec<{ stored: number }>("SELECT coalesce(max(stored), 0) AS stored FROM messages").one().stored;
  }

  #select(clause: string, ...params: (string | number)[]): RoomMessage[] {
    return this.#rows(clause, ...params).map(({ message }) => message);
  }

  #rows(clause: string, ...params: (string | number)[]): StoredMessage[] {
    const rows = this.#sql.exec(`SELECT ${COLUMNS} FROM messages ${clause}`, ...params);
    return z
      .array(Row)
      .parse(rows.toArray())
      .map((row) => ({ stored: row.stored, message: toMessage(row) }));
  }

  /** All or nothing, including the position in memory. */
  #commit<T>(write: () => T): T {
    const before = { chatSeq: this.#chatSeq, revision: this.#revision, stored: this.#stored };
    try {
      return this.#storage.transactionSync(() => {
        const result = write();
        this.#sql.exec("UPDATE position SET chat_seq = ?, revision = ?", this.#chatSeq, this.#revision);
        return result;
      });
    } catch (error) {
      this.#chatSeq = before.chatSeq;
      this.#revision = before.revision;
      this.#stored = before.stored;
      throw error;
    }
  }
}

function toMessage(row: Row): RoomMessage {
  return {
    id: row.id,
    chatSeq: row.chat_seq,
    revision: row.revision,
    accountId: row.account_id,
    name: row.name,
    roles: z.array(z.enum(CHAT_SENDER_ROLES)).parse(JSON.parse(row.roles)),
    system: row.system === 1,
    text: row.text,
    original: row.original,
    language: row.language,
    replyTo: row.reply_to,
    mentions: Strings.parse(JSON.parse(row.mentions)),
    reactions: z.record(z.string(), z.number()).parse(JSON.parse(row.reactions)),
    state: row.state,
    muted: row.muted === 1,
    sentAt: row.sent_at,
    translations: z.record(z.string(), z.string()).parse(JSON.parse(row.translations)),
    category: row.category,
  };
}
