import { DurableObject } from "cloudflare:workers";
import { logError } from "#worker/lib/log.ts";
import { readQuestionModerators, readSentQuestions } from "#worker/services/qna/viewers.ts";
import { parseName, type StateChange } from "./channel/channel.protocol.ts";
import { migrate } from "./migrations.ts";
import type { SentQuestion } from "./relay/relay.protocol.ts";
import { channelOf } from "./stubs.ts";

/** Shortest time between two notifications: viewers are notified at most twice a second. */
const NOTIFY_MS = 500;
/** Longest time between two attempts. */
const NOTIFY_RETRY_MS = 32_000;
/** Questions per notification; the others follow with the next one. */
const BATCH_SIZE = 20;

const SCHEMA = [
  "CREATE TABLE changed (question_id TEXT PRIMARY KEY, mark INTEGER NOT NULL) WITHOUT ROWID",
  "CREATE TABLE shown (question_id TEXT PRIMARY KEY, revision INTEGER NOT NULL) WITHOUT ROWID",
];
/** The revision of a question while it is being sent: viewers may or may not have it. */
const IN_DOUBT = 0;

type Mark = { question_id: string; mark: number };

/**
 * Notifies a channel's viewers of its questions, named `<siteId>:<channelId>`. It stores which questions have changed and which are on
 * screens; the questions themselves are in the database, and are read when they are sent.
 */
export class QuestionBoard extends DurableObject<Env> {
  readonly #siteId: string;
  readonly #channelId: string;
  readonly #sql: SqlStorage;
  #notifiedAt = 0;
  #failures = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { siteId, channelId } = parseName(ctx.id.name);
    this.#siteId = siteId;
    this.#channelId = channelId;
    this.#sql = ctx.storage.sql;
    migrate(ctx.storage, "questions", SCHEMA);
  }

  /** Notes that questions have changed; their viewers are notified within half a second. */
  async changed(questionIds: string[]): Promise<void> {
    const next = (this.ctx.storage.kv.get<number>("mark") ?? 0) + 1;
    this.ctx.storage.kv.put("mark", next);
    const note = "INSERT INTO changed (question_id, mark) VALUES (?, ?) ON CONFLICT (question_id) DO UPDATE SET mark = excluded.mark";
    for (const questionId of new Set(questionIds)) this.#sql.exec(note, questionId, next);
    await this.#schedule(this.#notifiedAt + NOTIFY_MS);
  }

  /** Sends what has changed since the last notification. Safe to run at any time; failures are retried. */
  override async alarm(): Promise<void> {
    const marks = this.#sql.exec<Mark>("SELECT question_id, mark FROM changed ORDER BY mark LIMIT ?", BATCH_SIZE).toArray();
    if (marks.length === 0) return;
    this.#notifiedAt = Date.now();
    try {
      await this.#notify(marks.map((mark) => mark.question_id));
      // One that changed in the meantime has a new mark, and stays.
      for (const { question_id, mark } of marks)
        this.#sql.exec("DELETE FROM changed WHERE question_id = ? AND mark = ?", question_id, mark);
      this.#failures = 0;
    } catch (error) {
      logError("question_notification_failed", error, { channel: this.#channelId });
      this.#notifiedAt += Math.min(NOTIFY_RETRY_MS, NOTIFY_MS * 2 ** this.#failures++);
    }
    const [left] = this.#sql.exec("SELECT 1 FROM changed LIMIT 1");
    if (left) await this.#schedule(this.#notifiedAt + NOTIFY_MS);
  }

  /** Deletes everything after the channel is deleted. */
  async clear(): Promise<void> {
    this.#sql.exec("DELETE FROM changed");
    this.#sql.exec("DELETE FROM shown");
    await this.ctx.storage.deleteAlarm();
  }

  async #schedule(at: number): Promise<void> {
    const scheduled = await this.ctx.storage.getAlarm();
    if (scheduled === null || scheduled > at) await this.ctx.storage.setAlarm(Math.max(Date.now(), at));
  }

  async #notify(ids: string[]): Promise<void> {
    const current = await readSentQuestions(this.env, { siteId: this.#siteId, channelId: this.#channelId }, ids);
    const shown = this.#shown(ids);
    const changes: StateChange[] = [];
    let hasHidden = false;
    for (const id of ids) {
      const question = current.get(id);
      const revision = shown.get(id);
      if (question && question.revision === revision) continue;
      hasHidden ||= !question;
      // Viewers never receive anything about a question that they have not seen.
      if (!question && revision === undefined) continue;
      if (question) this.#sql.exec("INSERT OR REPLACE INTO shown (question_id, revision) VALUES (?, ?)", id, IN_DOUBT);
      changes.push(this.#stateOf(id, question));
    }
    if (hasHidden) await this.#notifyModerators();
    if (changes.length === 0) return;
    // Otherwise a crash could leave a question on screens that this object doesn't know of.
    await this.ctx.storage.sync();
    await channelOf(this.env, this.#siteId, this.#channelId).transientStates(changes);
    for (const { key } of changes) {
      const question = current.get(key);
      if (question) this.#sql.exec("UPDATE shown SET revision = ? WHERE question_id = ?", question.revision, key);
      else this.#sql.exec("DELETE FROM shown WHERE question_id = ?", key);
    }
  }

  async #notifyModerators(): Promise<void> {
    const moderators = await readQuestionModerators(this.env, this.#siteId, this.#channelId);
    if (moderators.length > 0)
      await channelOf(this.env, this.#siteId, this.#channelId).notifyAccounts(moderators, { type: "questions.changed" });
  }

  #shown(ids: string[]): Map<string, number> {
    const select = "SELECT question_id, revision FROM shown WHERE question_id IN (SELECT value FROM json_each(?))";
    const rows = this.#sql.exec<{ question_id: string; revision: number }>(select, JSON.stringify(ids));
    return new Map(rows.toArray().map(({ question_id, revision }) => [question_id, revision]));
  }

  #stateOf(id: string, question: SentQuestion | undefined): StateChange {
    const withdrawn: SentQuestion = { _id: id, channelId: this.#channelId, state: "dismissed" };
    return { key: id, type: "question.updated", at: Date.now(), data: JSON.stringify(question ?? withdrawn) };
  }
}
