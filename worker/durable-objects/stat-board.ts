import { SiteObject } from "./site-object.ts";
import type { SentStat } from "#worker/services/stats/viewers.ts";
import { ChangeQueue } from "./change-queue.ts";
import { parseName, type StateChange } from "./channel/channel.protocol.ts";
import { migrate } from "./migrations.ts";
import { channelOf } from "./stubs.ts";

/** Entities and key plays that one notification reads. */
const BATCH_SIZE = 100;
/** Characters that one notification sends; the rest follows with the next one. */
const SENT_CHARS = 64_000;

const SCHEMA = ["CREATE TABLE sent (key TEXT PRIMARY KEY, digest TEXT NOT NULL) WITHOUT ROWID"];

/**
 * Notifies a channel's viewers of its match facts, named `<siteId>:<channelId>`. It stores which entities and key plays a provider has
 * reported, and what viewers have of them: most events repeat what is known. The facts themselves are in the database.
 */
export class StatBoard extends SiteObject {
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
    migrate(ctx.storage, "stats", SCHEMA);
  }

  /** Notes that an event says something about these entities and key plays; viewers are notified of what is new within half a second. */
  async reported(ids: string[]): Promise<void> {
    await this.#queue.note(ids);
  }

  /** Sends what is new since the last notification. Safe to run at any time; failures are retried. */
  override async alarm(): Promise<void> {
    await this.#queue.send(BATCH_SIZE, (ids) => this.#notify(ids));
  }

  /** Deletes everything after the channel is deleted. */
  async clear(): Promise<void> {
    await this.#queue.clear();
    this.#sql.exec("DELETE FROM sent");
  }

  /** The ids that viewers now know everything about. */
  async #notify(ids: string[]): Promise<string[]> {
    const { readSentStats } = await import("#worker/services/stats/viewers.ts");
    const current = await readSentStats(this.env, { siteId: this.#siteId, channelId: this.#channelId }, ids);
    const sent = this.#sentDigests(ids);
    const news = current.filter(({ id, digest }) => sent.get(id) !== digest);
    const batch = firstThatFit(news);
    if (batch.length > 0) await this.#send(batch);
    const later = new Set(news.slice(batch.length).map(({ id }) => id));
    return ids.filter((id) => !later.has(id));
  }

  async #send(batch: SentStat[]): Promise<void> {
    // While they are sent, viewers may or may not have them: a crash must not leave a digest that is no longer on their screens.
    for (const { id } of batch) this.#sql.exec("DELETE FROM sent WHERE key = ?", id);
    await this.ctx.storage.sync();
    const at = Date.now();
    await channelOf(this.env, this.#siteId, this.#channelId).transientStates(
      batch.map(({ id, type, data }): StateChange => ({ key: id, type, at, data })),
    );
    for (const { id, digest } of batch) this.#sql.exec("INSERT OR REPLACE INTO sent (key, digest) VALUES (?, ?)", id, digest);
  }

  #sentDigests(ids: string[]): Map<string, string> {
    const select = "SELECT key, digest FROM sent WHERE key IN (SELECT value FROM json_each(?))";
    const rows = this.#sql.exec<{ key: string; digest: string }>(select, JSON.stringify(ids));
    return new Map(rows.toArray().map(({ key, digest }) => [key, digest]));
  }
}

/** The first ones up to the limit, at least one. */
function firstThatFit(stats: SentStat[]): SentStat[] {
  let size = 0;
  return stats.filter(({ data }, index) => (size += data.length) <= SENT_CHARS || index === 0);
}
