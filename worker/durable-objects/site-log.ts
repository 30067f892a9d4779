import { DurableObject } from "cloudflare:workers";
import { logError } from "../lib/log.ts";
import { runEffects } from "../services/effects.ts";
import type { LogEntry, LogQuery } from "./site-log.protocol.ts";
import { dropFromOutbox, type OutboxEvent, readOutbox } from "../services/outbox.ts";
import { Subscribers } from "./subscribers.ts";

const BATCH = 100;
const RETRY_MS = 5_000;
/** What keeps failing is tried at least so often. */
const LONGEST_RETRY_MS = 60 * 60 * 1000;
const PRUNE_MS = 60 * 60 * 1000;

/** Where an event's effects stand: a column of `events`. What failed has a row in `retries`. */
const TO_DO = 0;
const DONE = 1;
const FAILED = 2;

type EventRow = {
  sequence: number;
  previous: number | null;
  id: string;
  type: string;
  resource: string;
  data: string;
  actor: string;
  request_id: string;
  origin: string | null;
  created: number;
};

/**
 * A site's events in their one order. Takes what changes left in the outbox, gives each the next sequence, keeps it and drives what
 * follows from it; each event once, however often it is told of it.
 */
export class SiteLog extends DurableObject<Env> {
  readonly #sql: SqlStorage;
  readonly #siteId: string;
  readonly #subscribers: Subscribers;
  #draining: Promise<void> | undefined;
  #again = false;
  readonly #settled = new Set<string>();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#siteId = ctx.id.name ?? "";
    this.#sql = ctx.storage.sql;
    this.#sql.exec(`
      CREATE TABLE IF NOT EXISTS events (
        sequence INTEGER PRIMARY KEY AUTOINCREMENT, previous INTEGER, id TEXT NOT NULL UNIQUE, type TEXT NOT NULL, resource TEXT NOT NULL,
        data TEXT NOT NULL, actor TEXT NOT NULL, request_id TEXT NOT NULL, origin TEXT, created INTEGER NOT NULL, done INTEGER NOT NULL DEFAULT 0);
      CREATE INDEX IF NOT EXISTS events_resource ON events (resource, sequence);
      CREATE INDEX IF NOT EXISTS events_created ON events (created);
      CREATE INDEX IF NOT EXISTS events_undone ON events (sequence) WHERE done = 0;
      CREATE TABLE IF NOT EXISTS retries (sequence INTEGER PRIMARY KEY, tries INTEGER NOT NULL, due INTEGER NOT NULL);
      CREATE INDEX IF NOT EXISTS retries_due ON retries (due);
      CREATE TABLE IF NOT EXISTS resources (resource TEXT PRIMARY KEY, sequence INTEGER NOT NULL) WITHOUT ROWID;`);
    this.#subscribers = new Subscribers(env, this.#siteId, this.#sql, (after, upTo, limit) => this.#between(after, upTo, limit));
  }

  /**
   * Something was committed: takes all that is in the outbox; `settled` are events whose effects the request has seen to.
   * Calls that come meanwhile share one further round.
   */
  async nudge(settled: string[] = []): Promise<void> {
    for (const id of settled) this.#settled.add(id);
    if (this.#draining) this.#again = true;
    this.#draining ??= this.#drain().finally(() => (this.#draining = undefined));
    await this.#draining;
  }

  /** Events after a sequence, oldest first; `head` is the last sequence given, `oldest` the first still kept. */
  read({ after, limit, types }: LogQuery): { entries: LogEntry[]; head: number; oldest: number } {
    const rows = this.#sql
      .exec<EventRow>(
        "SELECT * FROM events WHERE sequence > ?1 AND (?2 IS NULL OR type IN (SELECT value FROM json_each(?2))) ORDER BY sequence LIMIT ?3",
        after,
        types && JSON.stringify(types),
        limit,
      )
      .toArray();
    const { head, oldest } = this.#sql
      .exec<{ head: number | null; oldest: number | null }>("SELECT max(sequence) AS head, min(sequence) AS oldest FROM events")
      .one();
    return { entries: rows.map(toEntry), head: head ?? 0, oldest: oldest ?? 0 };
  }

  /** Takes out what the events of a resource before a sequence say: the person whom they speak of has been deleted. */
  async erase(resource: string, before: number): Promise<void> {
    this.#sql.exec(`UPDATE events SET data = '{"erased":true}' WHERE resource = ? AND sequence < ?`, resource, before);
    await this.#subscribers.erase(resource, before);
  }

  /** Repeats what failed, and forgets what is past its retention. */
  override async alarm(): Promise<void> {
    this.#prune(Date.now());
    await this.nudge();
  }

  async #drain(): Promise<void> {
    // A crash from here on leaves an alarm that goes on.
    await this.#wakeBy(Date.now() + RETRY_MS);
    let handedOver: boolean;
    do {
      this.#again = false;
      for (;;) {
        const batch = await readOutbox(this.env, this.#siteId, BATCH);
        this.#append(batch);
        await dropFromOutbox(this.env, this.#siteId, batch);
        if (batch.length < BATCH) break;
      }
      await this.#runNew();
      // After the effects, so that what they have erased is not handed on.
      handedOver = await this.#subscribers.handOver(this.#head());
      await this.#retryDue();
    } while (this.#again);
    this.#settled.clear();
    const { due } = this.#sql.exec<{ due: number | null }>("SELECT min(due) AS due FROM retries").one();
    await this.ctx.storage.setAlarm(Math.min(Date.now() + (handedOver ? PRUNE_MS : RETRY_MS), due ?? Infinity));
  }

  #append(batch: OutboxEvent[]): void {
    this.ctx.storage.transactionSync(() => {
      for (const event of batch) {
        const known = this.#sql.exec("SELECT 1 FROM events WHERE id = ?", event.eventId).toArray().length > 0;
        if (known) continue;
        const { sequence } = this.#sql
          .exec<{ sequence: number }>(
            `INSERT INTO events (previous, id, type, resource, data, actor, request_id, origin, created, done)
           VALUES ((SELECT sequence FROM resources WHERE resource = ?2), ?1, ?3, ?2, ?4, ?5, ?6, ?7, ?8, ?9) RETURNING sequence`,
            event.eventId,
            event.resource,
            event.type,
            JSON.stringify(event.data),
            event.actor,
            event.requestId,
            event.origin,
            event.created,
            this.#settled.has(event.eventId) ? DONE : TO_DO,
          )
          .one();
        this.#sql.exec(
          "INSERT INTO resources VALUES (?1, ?2) ON CONFLICT DO UPDATE SET sequence = excluded.sequence",
          event.resource,
          sequence,
        );
      }
    });
  }

  #between(after: number, upTo: number, limit: number): LogEntry[] {
    return this.#sql
      .exec<EventRow>("SELECT * FROM events WHERE sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?", after, upTo, limit)
      .toArray()
      .map(toEntry);
  }

  #head(): number {
    return this.#sql.exec<{ head: number | null }>("SELECT max(sequence) AS head FROM events").one().head ?? 0;
  }

  /** What follows from each new event, in order; one that fails holds up none of the others. */
  async #runNew(): Promise<void> {
    for (;;) {
      const rows = this.#sql.exec<EventRow>(`SELECT * FROM events WHERE done = ${TO_DO} ORDER BY sequence LIMIT ${BATCH}`).toArray();
      for (const row of rows) await this.#run(row);
      if (rows.length < BATCH) return;
    }
  }

  /** Tries again what failed and is due, some at a time: what is new comes first, and the alarm goes on with the rest. */
  async #retryDue(): Promise<void> {
    const rows = this.#sql
      .exec<EventRow>(
        `SELECT events.* FROM retries JOIN events USING (sequence) WHERE due <= ? ORDER BY due, sequence LIMIT ${BATCH}`,
        Date.now(),
      )
      .toArray();
    for (const row of rows) {
      if (this.#again) return;
      await this.#run(row);
    }
  }

  /** Runs an event's effects; after a failure they are due again, each time twice as late as before. */
  async #run(row: EventRow): Promise<void> {
    const { sequence, id: eventId, type } = row;
    try {
      await runEffects(this.env, this.#siteId, toEntry(row));
      this.#sql.exec(`UPDATE events SET done = ${DONE} WHERE sequence = ?`, sequence);
      this.#sql.exec("DELETE FROM retries WHERE sequence = ?", sequence);
    } catch (error) {
      this.#sql.exec(`UPDATE events SET done = ${FAILED} WHERE sequence = ?`, sequence);
      this.#sql.exec(
        `INSERT INTO retries VALUES (?1, 1, ?2 + ?3)
         ON CONFLICT DO UPDATE SET tries = tries + 1, due = ?2 + min(?3 << min(tries, 20), ?4)`,
        ...[sequence, Date.now(), RETRY_MS, LONGEST_RETRY_MS],
      );
      logError("effect_failed", error, { siteId: this.#siteId, eventId, type });
    }
  }

  /** Forgets events past their days, and the oldest twentieth for as long as the log is too large; never the last, by which the next is counted on, nor what an endpoint has yet to get. */
  #prune(now: number): void {
    const kept = Math.min(this.#head(), this.#subscribers.handedTo() + 1);
    const days = Number(this.env.TIFO_EVENT_RETENTION_DAYS);
    this.#sql.exec(`DELETE FROM events WHERE done = ${DONE} AND created < ? AND sequence < ${kept}`, now - days * 86_400_000);
    const limit = Number(this.env.TIFO_EVENT_RETENTION_BYTES);
    while (this.#sql.databaseSize > limit) {
      const { rowsWritten } = this.#sql.exec(
        `DELETE FROM events WHERE done = ${DONE} AND sequence < ${kept} AND sequence <= (SELECT min(sequence) + (max(sequence) - min(sequence)) / 20 FROM events)`,
      );
      if (rowsWritten === 0) break;
    }
    this.#sql.exec("DELETE FROM resources WHERE sequence < (SELECT min(sequence) FROM events)");
  }

  async #wakeBy(at: number): Promise<void> {
    const current = await this.ctx.storage.getAlarm();
    if (current === null || current > at) await this.ctx.storage.setAlarm(at);
  }
}

function toEntry(row: EventRow): LogEntry {
  return {
    id: row.id,
    type: row.type,
    created: row.created,
    sequence: row.sequence,
    previousSequence: row.previous,
    resource: row.resource,
    data: row.data,
    actor: row.actor,
    requestId: row.request_id,
    origin: row.origin,
  };
}
