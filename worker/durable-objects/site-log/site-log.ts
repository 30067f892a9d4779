import { SiteObject } from "#worker/durable-objects/site-object.ts";
import { describeError, logError } from "#worker/lib/log.ts";
import { CoalescedRunner } from "#worker/lib/time/coalesced-runner.ts";
import { runInLanes } from "#worker/lib/time/run-in-lanes.ts";
import { isTimeout, withTimeout } from "#worker/lib/time/with-timeout.ts";
import { InvalidEventData } from "#worker/services/event-catalogue/invalid-event-data.ts";
import { dropFromOutbox, readOutbox } from "#worker/services/core/outbox.ts";
import type { OutboxEvent } from "#db/schema/events.ts";
import { pageOf } from "#worker/durable-objects/call-size.ts";
import { migrate } from "#worker/durable-objects/migrations.ts";
import type { FailedEffect, LogEntry, LogQuery } from "./site-log.protocol.ts";
import { appendEvents } from "./append-events.ts";
import { ABANDONED, DONE, EffectFailures, FAILED, RETRY_MS, TO_DO } from "./effect-failures.ts";
import { EventCounter } from "./event-counter.ts";
import { type LogPage, Subscribers } from "./subscribers.ts";
import { numberOf } from "#worker/lib/variables.ts";

/** How long to wait for an event's effects; later events and webhooks wait for them too. */
export const EFFECTS_TIMEOUT_MS = 20_000;
/** How long to wait for the access checks of new events before their effects begin; these then repeat a check that took longer. */
const RECHECK_TIMEOUT_MS = 3_000;
/** Events whose effects run at a time, and are read at a time. */
const MAX_PARALLEL = 6;
const EFFECTS_PAGE = 100;
/** How many failed effects one round retries at most. */
const MAX_RETRIES = 100;
const PRUNE_MS = 60 * 60 * 1000;

/** Loaded by the first round: what all areas' effects need is most of the Worker, and the isolates that only read don't have to wait for it. */
const loadEffects = () => import("#worker/services/event-catalogue/effects.ts");

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

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS events (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, previous INTEGER, id TEXT NOT NULL UNIQUE, type TEXT NOT NULL, resource TEXT NOT NULL,
    data TEXT NOT NULL, actor TEXT NOT NULL, request_id TEXT NOT NULL, origin TEXT, created INTEGER NOT NULL, done INTEGER NOT NULL DEFAULT 0);
  CREATE INDEX IF NOT EXISTS events_resource ON events (resource, sequence);
  CREATE INDEX IF NOT EXISTS events_created ON events (created);
  CREATE INDEX IF NOT EXISTS events_undone ON events (sequence) WHERE done = 0;
  CREATE TABLE IF NOT EXISTS retries (sequence INTEGER PRIMARY KEY, tries INTEGER NOT NULL, due INTEGER NOT NULL);
  CREATE INDEX IF NOT EXISTS retries_due ON retries (due);
  CREATE TABLE IF NOT EXISTS resources (resource TEXT PRIMARY KEY, sequence INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS upkeep (id INTEGER PRIMARY KEY CHECK (id = 1), prune_due INTEGER NOT NULL);
  INSERT OR IGNORE INTO upkeep VALUES (1, 0)`,
  "CREATE TABLE IF NOT EXISTS failures (sequence INTEGER PRIMARY KEY, cause TEXT NOT NULL, at INTEGER NOT NULL)",
  // Pruning reads the oldest events in order instead; a release that was rolled back reads them all once an hour.
  "DROP INDEX IF EXISTS events_created",
];

/**
 * A site's events in one total order. Moves events from the outbox into the log, gives each the next sequence, and runs its effects; each
 * event once, however often the log is nudged.
 */
export class SiteLog extends SiteObject {
  readonly #sql: SqlStorage;
  readonly #siteId: string;
  readonly #subscribers: Subscribers;
  readonly #counter: EventCounter;
  readonly #failures: EffectFailures;
  readonly #runner = new CoalescedRunner(() => this.#round());
  readonly #drains = new CoalescedRunner(() => this.#drainOutbox());
  readonly #completed = new Set<string>();
  /** Events whose access checks have succeeded, and whose effects have yet to run. */
  readonly #rechecked = new Set<string>();
  #isInRound = false;
  #sizeAfterPruning = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#siteId = ctx.id.name ?? "";
    this.#sql = ctx.storage.sql;
    migrate(ctx.storage, "events", SCHEMA);
    this.#subscribers = new Subscribers(env, this.#siteId, ctx.storage, (after, upTo, limit, chars) =>
      this.#between(after, upTo, limit, chars),
    );
    this.#failures = new EffectFailures(env, this.#siteId, ctx.storage);
    this.#counter = new EventCounter(
      env,
      this.#siteId,
      ctx.storage.kv,
      (after, types, limit) => this.read({ after, types, limit }).entries,
    );
  }

  /**
   * Call after a commit: processes everything in the outbox. `completedEventIds` are events whose effects the request has already run.
   * Resolves once a full round that started after this call is done.
   */
  async nudge(completedEventIds: string[] = []): Promise<void> {
    for (const id of completedEventIds) this.#completed.add(id);
    // The current run may be waiting for an effect that hangs, but revocations of access can't wait for it.
    if (this.#isInRound) void this.#drains.run().catch(() => undefined);
    await this.#runner.run();
  }

  /** Events after a sequence, oldest first, as many as fit into one call. `head` is the last sequence; none is missing from `oldest` on. */
  read({ after, limit, types }: LogQuery): { entries: LogEntry[]; head: number; oldest: number } {
    const rows = this.#sql.exec<EventRow>(
      `SELECT ${COLUMNS} FROM events WHERE sequence > ?1 AND (?2 IS NULL OR type IN (SELECT value FROM json_each(?2)))
       ORDER BY sequence LIMIT ?3`,
      ...[after, types && JSON.stringify(types), limit],
    );
    return { entries: pageOf(rows).page.map(toEntry), head: this.#head(), oldest: this.#oldest() };
  }

  /** Everything that the site's events have been about. */
  resources(): string[] {
    return this.#sql
      .exec<{ resource: string }>("SELECT DISTINCT resource FROM events")
      .toArray()
      .map(({ resource }) => resource);
  }

  /** Erases the data of a resource's events before a sequence, because the person they are about was deleted. */
  async erase(resource: string, before: number): Promise<void> {
    this.#sql.exec(`UPDATE events SET data = '{"erased":true}' WHERE resource = ? AND sequence < ?`, resource, before);
    await this.#subscribers.erase(resource, before);
  }

  /** The oldest events whose effects fail or were given up. */
  failedEffects(limit: number): FailedEffect[] {
    return this.#failures.list(limit);
  }

  /** Retries every effect that failed, including those that were given up, as soon as possible; returns how many. */
  async retryFailed(): Promise<number> {
    const count = this.#failures.makeDue();
    if (count > 0) await this.ctx.storage.setAlarm(Date.now());
    return count;
  }

  /** Retries what failed and applies retention. A round that fails has already set the next alarm. */
  override async alarm(): Promise<void> {
    await this.nudge().catch((error: unknown) => logError("log_round_failed", error, { siteId: this.#siteId }));
  }

  async #round(): Promise<void> {
    this.#isInRound = true;
    try {
      await this.#process();
    } finally {
      this.#isInRound = false;
    }
  }

  async #process(): Promise<void> {
    // After a crash from here on, the alarm continues.
    await this.#wakeBy(Date.now() + RETRY_MS);
    await this.#drains.run();
    const head = this.#head();
    await this.#runNew(head);
    // After the effects, so that data they erased isn't delivered.
    const isDelivered = await this.#subscribers.deliverUpTo(head);
    await this.#retryDue();
    const countDue = await this.#counter.countUpTo(head);
    const pruneDue = this.#pruneIfDue(Date.now());
    await this.ctx.storage.setAlarm(Math.min(isDelivered ? pruneDue : Date.now() + RETRY_MS, countDue, this.#failures.due()));
    await this.#failures.report();
  }

  /** Moves all events from the outbox into the log, and ends the access that they end. */
  async #drainOutbox(): Promise<void> {
    const { hasEffects } = await loadEffects();
    const completed = [...this.#completed];
    let taken: OutboxEvent[] = [];
    for (let hasMore = true; hasMore;) {
      const { events, more } = await readOutbox(this.env, this.#siteId, taken);
      const added = this.#append(events, hasEffects);
      if (!more) await dropFromOutbox(this.env, this.#siteId, events);
      await this.#recheck(added);
      [taken, hasMore] = [events, more];
    }
    for (const id of completed) this.#completed.delete(id);
  }

  async #recheck(entries: LogEntry[]): Promise<void> {
    const { recheckAccess } = await loadEffects();
    const recheck = async (entry: LogEntry) => {
      await withTimeout(recheckAccess(this.env, this.#siteId, entry), RECHECK_TIMEOUT_MS);
      this.#rechecked.add(entry.id);
    };
    // One that fails is repeated, and logged, with the event's effects.
    await Promise.allSettled(entries.map(recheck));
  }

  /** Appends the events that are new, and returns those with effects to run. */
  #append(batch: OutboxEvent[], hasEffects: (event: OutboxEvent) => boolean): LogEntry[] {
    const head = this.#head();
    appendEvents(this.ctx.storage, batch, (event) => this.#completed.has(event.eventId) || !hasEffects(event));
    const rows = this.#sql.exec<EventRow>(`SELECT ${COLUMNS} FROM events WHERE sequence > ? AND done = ${TO_DO} ORDER BY sequence`, head);
    return rows.toArray().map(toEntry);
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

  /** The sequence from which on no event is missing; failed events are kept longer than those around them. */
  #oldest(): number {
    const { oldest } = this.#sql
      .exec<{ oldest: number | null }>(
        `SELECT coalesce((SELECT sequence FROM events WHERE done <> ${FAILED} ORDER BY sequence LIMIT 1), min(sequence)) AS oldest FROM events`,
      )
      .one();
    return oldest ?? 0;
  }

  /**
   * Runs the effects of new events up to `head`: in order within a resource, and side by side where that is safe. A failure doesn't block
   * later events, and a type that hangs is waited for once per round.
   */
  async #runNew(head: number): Promise<void> {
    const { laneOf } = await loadEffects();
    const hung = new Set<string>();
    for (;;) {
      const rows = this.#sql.exec<EventRow>(
        `SELECT ${COLUMNS} FROM events WHERE done = ${TO_DO} AND sequence <= ? ORDER BY sequence LIMIT ${EFFECTS_PAGE}`,
        head,
      );
      const { page } = pageOf(rows);
      if (page.length === 0) return;
      const done: number[] = [];
      const run = async (row: EventRow): Promise<void> => {
        if (hung.has(row.type)) return this.#failures.retryLater(row.sequence, `Another event ${row.type} took too long`);
        const outcome = await this.#run(row);
        if (outcome === "done") done.push(row.sequence);
        if (outcome === "hung") hung.add(row.type);
      };
      await runInLanes(page, { laneOf: (row) => laneOf(toEntry(row)), run, limit: MAX_PARALLEL });
      // All at once: the calls of later effects would wait until each write is on disk. After a crash, the page's effects run again.
      this.#failures.resolve(done);
    }
  }

  /** Retries failed events that are due: at least one, even while new events are waiting. The alarm continues with the rest. */
  async #retryDue(): Promise<void> {
    const now = Date.now();
    for (let retries = 0; retries < MAX_RETRIES; retries++) {
      const next = `SELECT ${COLUMNS} FROM retries JOIN events USING (sequence) WHERE due <= ? ORDER BY due, sequence LIMIT 1`;
      const [row] = this.#sql.exec<EventRow>(next, now).toArray();
      const outcome = row && (await this.#run(row));
      if (row && outcome === "done") this.#failures.resolve([row.sequence]);
      if (!outcome || outcome === "hung" || this.#runner.awaited) return;
    }
  }

  /** Runs an event's effects; schedules a retry if they fail. The caller stores that they are done. */
  async #run(row: EventRow): Promise<"done" | "failed" | "hung"> {
    const { sequence, id: eventId, type } = row;
    try {
      const { runEffects } = await loadEffects();
      const isRechecked = this.#rechecked.delete(eventId);
      await withTimeout(runEffects(this.env, this.#siteId, toEntry(row), isRechecked), EFFECTS_TIMEOUT_MS);
      return "done";
    } catch (error) {
      this.#failures.retryLater(sequence, describeError(error));
      if (error instanceof InvalidEventData) this.#failures.abandonIfHopeless(sequence);
      logError("effect_failed", error, { siteId: this.#siteId, eventId, type });
      return isTimeout(error) ? "hung" : "failed";
    }
  }

  /** Prunes once an hour, however many rounds there are, and whenever the log has grown too far; returns when it is due next. */
  #pruneIfDue(now: number): number {
    const { due } = this.#sql.exec<{ due: number }>("SELECT prune_due AS due FROM upkeep").one();
    if (now < due && this.#sql.databaseSize < this.#pruneSize()) return due;
    this.#prune(now);
    this.#sizeAfterPruning = this.#sql.databaseSize;
    this.#sql.exec("UPDATE upkeep SET prune_due = ?", now + PRUNE_MS);
    return now + PRUNE_MS;
  }

  /** A twentieth beyond the limit, or beyond what the last pruning had to keep. */
  #pruneSize(): number {
    return Math.max(numberOf(this.env, "TIFO_EVENT_RETENTION_BYTES"), this.#sizeAfterPruning) * 1.05;
  }

  /**
   * Deletes events past their retention, even if their effects keep failing, and the oldest twentieth while the log is too large. Keeps the
   * last event, which continues the sequence, and events that an endpoint has yet to receive.
   */
  #prune(now: number): void {
    const kept = Math.min(this.#head(), this.#subscribers.deliveredUpTo() + 1);
    const since = now - numberOf(this.env, "TIFO_EVENT_RETENTION_DAYS") * 86_400_000;
    // Events are logged in the order of their commits, so that the first one that is recent ends the search.
    const { first } = this.#sql
      .exec<{ first: number }>(
        `SELECT coalesce((SELECT sequence FROM events WHERE created >= ? ORDER BY sequence LIMIT 1), ${kept}) AS first`,
        since,
      )
      .one();
    this.#sql.exec(`DELETE FROM events WHERE done <> ${TO_DO} AND sequence < ?`, Math.min(first, kept));
    for (const table of ["retries", "failures"]) this.#sql.exec(`DELETE FROM ${table} WHERE sequence NOT IN (SELECT sequence FROM events)`);
    const limit = numberOf(this.env, "TIFO_EVENT_RETENTION_BYTES");
    const old = `done IN (${DONE}, ${ABANDONED}) AND sequence < ${kept}`;
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
