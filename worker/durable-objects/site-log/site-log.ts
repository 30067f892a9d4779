import { DurableObject } from "cloudflare:workers";
import { hasMessage } from "#worker/lib/errors.ts";
import { logError } from "#worker/lib/log.ts";
import { CoalescedRunner } from "#worker/lib/time/coalesced-runner.ts";
import { withTimeout } from "#worker/lib/time/with-timeout.ts";
import { runEffects } from "#worker/services/event-catalogue/effects.ts";
import { dropFromOutbox, readOutbox } from "#worker/services/core/outbox.ts";
import type { OutboxEvent } from "#db/schema/index.ts";
import { pageOf } from "#worker/durable-objects/call-size.ts";
import type { LogEntry, LogQuery } from "./site-log.protocol.ts";
import { type LogPage, Subscribers } from "./subscribers.ts";

/** How long an event's effects are waited for; later ones and the webhooks wait behind them. */
export const EFFECTS_MS = 20_000;
/** Failed effects that one round tries again at most. */
const MOST_RETRIES = 100;
const RETRY_MS = 5_000;
/** What keeps failing is tried at least so often. */
const LONGEST_RETRY_MS = 60 * 60 * 1000;
const PRUNE_MS = 60 * 60 * 1000;

/** Where an event's effects stand: a column of `events`. What failed has a row in `retries`. */
const TO_DO = 0;
const DONE = 1;
const FAILED = 2;

const COLUMNS = "sequence, previous, id, type, resource, data AS body, actor, request_id, origin, created";

type EventRow = {
  sequence: number;
  previous: number | null;
  id: string;
  type: string;
  resource: string;
  body: string;
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
  readonly #rounds = new CoalescedRunner(() => this.#round());
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
      CREATE TABLE IF NOT EXISTS resources (resource TEXT PRIMARY KEY, sequence INTEGER NOT NULL) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS upkeep (id INTEGER PRIMARY KEY CHECK (id = 1), prune_due INTEGER NOT NULL);
      INSERT OR IGNORE INTO upkeep VALUES (1, 0);`);
    this.#subscribers = new Subscribers(env, this.#siteId, this.#sql, (after, upTo, limit, chars) =>
      this.#between(after, upTo, limit, chars),
    );
  }

  /**
   * Something was committed: takes all that is in the outbox; `settled` are events whose effects the request has seen to.
   * Resolves when that was done once from beginning to end.
   */
  async nudge(settled: string[] = []): Promise<void> {
    for (const id of settled) this.#settled.add(id);
    await this.#rounds.run();
  }

  /** Events after a sequence, oldest first, as many as fit into one call; `head` is the last sequence given, from `oldest` on all are kept. */
  read({ after, limit, types }: LogQuery): { entries: LogEntry[]; head: number; oldest: number } {
    const rows = this.#sql.exec<EventRow>(
      `SELECT ${COLUMNS} FROM events WHERE sequence > ?1 AND (?2 IS NULL OR type IN (SELECT value FROM json_each(?2)))
       ORDER BY sequence LIMIT ?3`,
      ...[after, types && JSON.stringify(types), limit],
    );
    return { entries: pageOf(rows).page.map(toEntry), head: this.#head(), oldest: this.#oldest() };
  }

  /** Takes out what the events of a resource before a sequence say: the person whom they speak of has been deleted. */
  async erase(resource: string, before: number): Promise<void> {
    this.#sql.exec(`UPDATE events SET data = '{"erased":true}' WHERE resource = ? AND sequence < ?`, resource, before);
    await this.#subscribers.erase(resource, before);
  }

  /** Repeats what failed, and forgets what is past its retention. A round that fails has set the next alarm. */
  override async alarm(): Promise<void> {
    await this.nudge().catch((error: unknown) => logError("log_round_failed", error, { siteId: this.#siteId }));
  }

  async #round(): Promise<void> {
    // A crash from here on leaves an alarm that goes on.
    await this.#wakeBy(Date.now() + RETRY_MS);
    await this.#take();
    const head = this.#head();
    await this.#runNew();
    // After the effects, so that what they have erased is not handed on.
    const handedOver = await this.#subscribers.handOver(head);
    await this.#retryDue();
    const pruneDue = this.#pruneIfDue(Date.now());
    const { due } = this.#sql.exec<{ due: number | null }>("SELECT min(due) AS due FROM retries").one();
    await this.ctx.storage.setAlarm(Math.min(handedOver ? pruneDue : Date.now() + RETRY_MS, due ?? Infinity));
  }

  /** Takes the outbox to its end. */
  async #take(): Promise<void> {
    const settled = [...this.#settled];
    for (;;) {
      const { events, more } = await readOutbox(this.env, this.#siteId);
      this.#append(events);
      await dropFromOutbox(this.env, this.#siteId, events);
      if (!more) break;
    }
    for (const id of settled) this.#settled.delete(id);
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

  #between(after: number, upTo: number, limit: number, chars: number): LogPage {
    const rows = this.#sql.exec<EventRow>(
      `SELECT ${COLUMNS} FROM events WHERE sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?`,
      ...[after, upTo, limit],
    );
    const { page, more } = pageOf(rows, chars);
    return { entries: page.map(toEntry), more: more || page.length === limit };
  }

  #head(): number {
    return this.#sql.exec<{ head: number | null }>("SELECT max(sequence) AS head FROM events").one().head ?? 0;
  }

  /** From here on nothing is missing; what failed is kept longer than what came before and after it. */
  #oldest(): number {
    const { oldest } = this.#sql
      .exec<{ oldest: number | null }>(
        `SELECT coalesce((SELECT sequence FROM events WHERE done <> ${FAILED} ORDER BY sequence LIMIT 1), min(sequence)) AS oldest FROM events`,
      )
      .one();
    return oldest ?? 0;
  }

  /** What follows from each new event, in order; one that fails holds up none of the others, and what hangs is waited for once a round. */
  async #runNew(): Promise<void> {
    const hung = new Set<string>();
    for (;;) {
      const [row] = this.#sql.exec<EventRow>(`SELECT ${COLUMNS} FROM events WHERE done = ${TO_DO} ORDER BY sequence LIMIT 1`);
      if (!row) return;
      if (hung.has(row.type)) this.#retryLater(row.sequence);
      else if ((await this.#run(row)) === "hung") hung.add(row.type);
    }
  }

  /** Tries again what failed and is due; at least one, since something new may always be waiting. The alarm goes on with the rest. */
  async #retryDue(): Promise<void> {
    const now = Date.now();
    for (let tries = 0; tries < MOST_RETRIES; tries++) {
      const [row] = this.#sql.exec<EventRow>(
        `SELECT ${COLUMNS} FROM retries JOIN events USING (sequence) WHERE due <= ? ORDER BY due, sequence LIMIT 1`,
        now,
      );
      if (!row || (await this.#run(row)) === "hung" || this.#rounds.awaited) return;
    }
  }

  /** Runs an event's effects; those that fail are due again. */
  async #run(row: EventRow): Promise<"done" | "failed" | "hung"> {
    const { sequence, id: eventId, type } = row;
    try {
      await withTimeout(runEffects(this.env, this.#siteId, toEntry(row)), EFFECTS_MS);
      this.#sql.exec(`UPDATE events SET done = ${DONE} WHERE sequence = ?`, sequence);
      this.#sql.exec("DELETE FROM retries WHERE sequence = ?", sequence);
      return "done";
    } catch (error) {
      this.#retryLater(sequence);
      logError("effect_failed", error, { siteId: this.#siteId, eventId, type });
      return hasMessage(error, "No answer within") ? "hung" : "failed";
    }
  }

  /** Each time twice as late as before. */
  #retryLater(sequence: number): void {
    this.#sql.exec(`UPDATE events SET done = ${FAILED} WHERE sequence = ?`, sequence);
    this.#sql.exec(
      `INSERT INTO retries VALUES (?1, 1, ?2 + ?3)
       ON CONFLICT DO UPDATE SET tries = tries + 1, due = ?2 + min(?3 << min(tries, 20), ?4)`,
      ...[sequence, Date.now(), RETRY_MS, LONGEST_RETRY_MS],
    );
  }

  /** Prunes once an hour, however many rounds there are; answers when it is due next. */
  #pruneIfDue(now: number): number {
    const { due } = this.#sql.exec<{ due: number }>("SELECT prune_due AS due FROM upkeep").one();
    if (now < due) return due;
    this.#prune(now);
    this.#sql.exec("UPDATE upkeep SET prune_due = ?", now + PRUNE_MS);
    return now + PRUNE_MS;
  }

  /**
   * Forgets events past their days, though their effects have failed ever since, and the oldest twentieth for as long as the log is too
   * large; never the last, by which the next is counted on, nor what an endpoint has yet to get.
   */
  #prune(now: number): void {
    const kept = Math.min(this.#head(), this.#subscribers.handedTo() + 1);
    const days = Number(this.env.TIFO_EVENT_RETENTION_DAYS);
    this.#sql.exec(`DELETE FROM events WHERE done <> ${TO_DO} AND created < ? AND sequence < ${kept}`, now - days * 86_400_000);
    this.#sql.exec("DELETE FROM retries WHERE sequence NOT IN (SELECT sequence FROM events)");
    const limit = Number(this.env.TIFO_EVENT_RETENTION_BYTES);
    const old = `done = ${DONE} AND sequence < ${kept}`;
    while (this.#sql.databaseSize > limit) {
      const { rowsWritten } = this.#sql.exec(
        `DELETE FROM events WHERE ${old} AND sequence <= (SELECT min(sequence) + (max(sequence) - min(sequence)) / 20 FROM events WHERE ${old})`,
      );
      if (rowsWritten === 0) break;
    }
    this.#sql.exec("DELETE FROM resources WHERE sequence NOT IN (SELECT sequence FROM events)");
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
    data: row.body,
    actor: row.actor,
    requestId: row.request_id,
    origin: row.origin,
  };
}
