import { SiteObject } from "./site-object.ts";
import { ChangeQueue } from "./change-queue.ts";
import { parseName, type StateChange } from "./channel/channel.protocol.ts";
import { migrate } from "./migrations.ts";
import type { SentQuestion } from "./relay/relay.protocol.ts";
import { channelOf } from "./stubs.ts";

/** Questions per notification; the others follow with the next one. */
const BATCH_SIZE = 20;

const SCHEMA = [
  "CREATE TABLE changed (question_id TEXT PRIMARY KEY, mark INTEGER NOT NULL) WITHOUT ROWID",
  "CREATE TABLE shown (question_id TEXT PRIMARY KEY, revision INTEGER NOT NULL) WITHOUT ROWID",
  // The queue has its own table since.
  "INSERT OR IGNORE INTO changes (key) SELECT question_id FROM changed ORDER BY mark",
];
/** The revision of a question while it is being sent: viewers may or may not have it. */
const IN_DOUBT = 0;

/**
 * Notifies a channel's viewers of its questions, named `<siteId>:<channelId>`. It stores which questions have changed and which are on
 * screens; the questions themselves are in the database, and are read when they are sent.
 */
export class QuestionBoard extends SiteObject {
  readonly #siteId: string;
  readonly #channelId: string;
  readonly #sql: SqlStorage;
  readonly #queue: ChangeQueue;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { siteId, channelId } = parseName(ctx.id.name);
    this.#siteId = siteId;
    this.#channelId = channelId;
    this.#sql = ctx.storage.sql;
    this.#queue = new ChangeQueue(ctx.storage, channelId);
    migrate(ctx.storage, "questions", SCHEMA);
  }

  /** Notes that questions have changed; their viewers are notified within half a second. */
  async changed(questionIds: string[]): Promise<void> {
    await this.#queue.note(questionIds);
  }

  /** Sends what has changed since the last notification. Safe to run at any time; failures are retried. */
  override async alarm(): Promise<void> {
    await this.#queue.send(BATCH_SIZE, async (ids) => {
      await this.#notify(ids);
      return ids;
    });
  }

  /** Deletes everything after the channel is deleted. */
  async clear(): Promise<void> {
    await this.#queue.clear();
    this.#sql.exec("DELETE FROM shown");
  }

  async #notify(ids: string[]): Promise<void> {
    const { readSentQuestions } = await import("#worker/services/qna/viewers.ts");
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
    const { readQuestionModerators } = await import("#worker/services/qna/viewers.ts");
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
