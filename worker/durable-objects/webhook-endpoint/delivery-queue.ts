import { z } from "@hono/zod-openapi";
import type { WEBHOOK_DISABLED_REASONS } from "#db/enums.ts";
import { pauseAfter, RETRY_SPAN, retryDelay } from "#worker/services/webhooks/backoff.ts";
import { insertRows } from "#worker/durable-objects/insert-rows.ts";
import { migrate } from "#worker/durable-objects/migrations.ts";
import { newId } from "#worker/lib/ids.ts";
import { Attempt, type Delivery, type DeliveryQuery, type DeliveryState, type QueuedEvent } from "./webhook-endpoint.protocol.ts";

/** How long, and how many, settled deliveries are kept. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;
const KEPT_ROWS = 20_000;
/** How long pending deliveries are kept: only a disabled endpoint, or a resource that keeps failing, has any this old. */
const WAITING_MS = 30 * 24 * 60 * 60 * 1000;
/** Parallel deliveries; the platform opens no more connections than this. */
const MAX_PARALLEL = 6;
/** Rows that one pruning examines. */
const PRUNED_ROWS = 2 * KEPT_ROWS;
/** How much is read ahead. */
const READ_AHEAD = { events: 256, bytes: 1_000_000 };
const GONE = 410;

const Attempts = z.array(Attempt);
const INSERTED = ["id", "event_id", "type", "resource", "service", "event", "account", "method", "origin_path", "created", "due"];
const DUE_COLUMNS = "number, event_id, type, resource, service, event, account, method, origin_path";

export type DisabledReason = (typeof WEBHOOK_DISABLED_REASONS)[number];

/** An event to send now. */
export interface DueDelivery extends QueuedEvent {
  number: number;
}

type DueRow = {
  number: number;
  event_id: string;
  type: string;
  resource: string;
  service: string;
  event: string;
  account: string | null;
  method: string | null;
  origin_path: string | null;
};

type ListedRow = {
  number: number;
  id: string;
  event_id: string;
  type: string;
  resource: string;
  state: DeliveryState;
  due: number | null;
  created: number;
  attempts: string;
};

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS deliveries (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, event_id TEXT NOT NULL UNIQUE, type TEXT NOT NULL,
    resource TEXT NOT NULL, service TEXT NOT NULL, event TEXT NOT NULL, account TEXT, method TEXT, origin_path TEXT,
    state TEXT NOT NULL DEFAULT 'pending', tries INTEGER NOT NULL DEFAULT 0, due INTEGER, created INTEGER NOT NULL, settled INTEGER,
    attempts TEXT NOT NULL DEFAULT '[]');
  CREATE INDEX IF NOT EXISTS deliveries_pending ON deliveries (resource, number) WHERE state = 'pending';
  CREATE INDEX IF NOT EXISTS deliveries_due ON deliveries (due, number) WHERE due IS NOT NULL;
  CREATE TABLE IF NOT EXISTS health (
    id INTEGER PRIMARY KEY CHECK (id = 1), failures INTEGER NOT NULL, failing_since INTEGER, paused_until INTEGER NOT NULL);
  INSERT OR IGNORE INTO health VALUES (1, 0, NULL, 0)`,
];

type Health = { failures: number; failing_since: number | null; paused_until: number };

/**
 * One endpoint's deliveries, in SQLite. Only the first pending delivery of a resource has a due time and the others wait for it, which
 * keeps the order and makes finding due deliveries cheap however many wait. Has no clock: callers pass the time.
 */
export class DeliveryQueue {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  #known: Health | undefined;
  /** Increases when pending deliveries change, which invalidates what was read ahead. */
  revision = 0;
  /** Called when there may be something new to send. */
  onProgress: () => void = () => undefined;
  /** Records outcomes that only a run knows; called before reading or changing deliveries. */
  settle: () => void = () => undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#sql = storage.sql;
    migrate(storage, "deliveries", SCHEMA);
  }

  /** Queues events, each once however often it is added. */
  add(events: QueuedEvent[], now: number): void {
    this.#storage.transactionSync(() => {
      const added = new Map(events.map((event) => [event.id, event]));
      const ids = JSON.stringify([...added.keys()]);
      const known = this.#sql.exec<{ id: string }>(
        "SELECT event_id AS id FROM deliveries WHERE event_id IN (SELECT value FROM json_each(?))",
        ids,
      );
      for (const { id } of known.toArray()) added.delete(id);
      const waiting = this.#pendingAmong([...added.values()].map(({ resource }) => resource));
      const rows = [...added.values()].map((event) => {
        // Due from the start if nothing of its resource is pending, because setting it later writes two more rows.
        const due = waiting.has(event.resource) ? null : now;
        waiting.add(event.resource);
        return [
          ...[newId(now), event.id, event.type, event.resource, event.service, event.eventData],
          ...[event.account, event.method, event.originPath, now, due],
        ];
      });
      insertRows(this.#sql, "deliveries", INSERTED, rows);
      this.#makeDue([...waiting], now);
    });
    this.onProgress();
  }

  /** How many parallel deliveries the receiver's health allows. */
  capacity(now: number): number {
    const { failures, paused_until } = this.#health();
    if (paused_until > now) return 0;
    return pauseAfter(failures) > 0 ? 1 : MAX_PARALLEL;
  }

  /**
   * The deliveries to send now, longest due first, grouped by resource, with the events of the same resource that wait behind them, in
   * order. Skips `busy` resources.
   */
  dueByResource(now: number, busy: ReadonlySet<string>): DueDelivery[][] {
    const due = this.#sql.exec<DueRow>(
      `SELECT ${DUE_COLUMNS} FROM deliveries WHERE due <= ?1 AND resource NOT IN (SELECT value FROM json_each(?2))
       ORDER BY due, number LIMIT ?3`,
      ...[now, JSON.stringify([...busy]), READ_AHEAD.events],
    );
    const first = readUpTo(due, READ_AHEAD.bytes);
    const waiting = first.length === 0 ? [] : this.#waitingFor(first);
    return [...Map.groupBy([...first, ...waiting], ({ resource }) => resource).values()];
  }

  /** Records successful attempts, many at once: a separate write costs as much as the request. */
  delivered(outcomes: { event: DueDelivery; attempt: Attempt }[]): void {
    const now = Math.max(...outcomes.map(({ attempt }) => attempt.at + attempt.duration));
    const attempts = JSON.stringify(Object.fromEntries(outcomes.map(({ event, attempt }) => [event.number, attempt])));
    this.#storage.transactionSync(() => {
      // The response may arrive after the endpoint and its queue were deleted.
      this.#sql.exec(
        `UPDATE deliveries SET state = 'delivered', settled = ?2, due = NULL, tries = tries + 1,
           attempts = json_insert(attempts, '$[#]', json(try.value))
         FROM json_each(?1) AS try WHERE number = CAST(try.key AS INTEGER) AND state = 'pending'`,
        attempts,
        now,
      );
      this.resetHealth();
      this.#makeDue(
        outcomes.map(({ event }) => event.resource),
        now,
      );
    });
  }

  /** Records a failed attempt and schedules the next; returns why to disable the endpoint, if it should be. */
  failed({ number, resource }: DueDelivery, attempt: Attempt, random: number): DisabledReason | undefined {
    const now = attempt.at + attempt.duration;
    return this.#storage.transactionSync(() => {
      // It may have been redelivered or deleted in the meantime.
      const [row] = this.#sql
        .exec<{ tries: number }>(
          `UPDATE deliveries SET attempts = json_insert(attempts, '$[#]', json(?)), tries = tries + 1
           WHERE number = ? AND state = 'pending' RETURNING tries`,
          JSON.stringify(attempt),
          number,
        )
        .toArray();
      if (!row) return undefined;
      const delay = retryDelay(row.tries, random);
      if (delay === undefined) this.#giveUp(number, resource, now);
      else this.#retry(number, now + delay);
      const since = this.#fail(now);
      if (attempt.status === GONE) return "gone";
      return now - since >= RETRY_SPAN ? "failing" : undefined;
    });
  }

  has(id: string): boolean {
    return this.#sql.exec("SELECT 1 FROM deliveries WHERE id = ?", id).toArray().length > 0;
  }

  /** Sends a delivery again as soon as possible with a new set of attempts; false if it doesn't exist. */
  redeliver(id: string, now: number): boolean {
    this.settle();
    return this.#storage.transactionSync(() => {
      const [row] = this.#sql
        .exec<{ resource: string }>(
          "UPDATE deliveries SET state = 'pending', tries = 0, settled = NULL, due = NULL WHERE id = ? RETURNING resource",
          id,
        )
        .toArray();
      if (!row) return false;
      // Later deliveries of its resource wait again.
      this.#sql.exec("UPDATE deliveries SET due = NULL WHERE state = 'pending' AND resource = ?", row.resource);
      this.#makeDue([row.resource], now);
      this.resetHealth();
      this.#invalidate();
      return true;
    });
  }

  /** Retries failed deliveries now: the receiver may have been fixed. */
  retryNow(now: number): void {
    this.resetHealth();
    this.#sql.exec("UPDATE deliveries SET due = ?1 WHERE due > ?1", now);
  }

  /** Clears the receiver's failures. */
  resetHealth(): void {
    if (this.#health().failures > 0) this.#setHealth({ failures: 0, failing_since: null, paused_until: 0 });
  }

  /** When the next delivery is due; undefined if none is pending. */
  nextDue(): number | undefined {
    const { due } = this.#sql.exec<{ due: number | null }>("SELECT min(due) AS due FROM deliveries WHERE due IS NOT NULL").one();
    return due === null ? undefined : Math.max(due, this.#health().paused_until);
  }

  isEmpty(): boolean {
    return this.#sql.exec("SELECT 1 FROM deliveries LIMIT 1").toArray().length === 0;
  }

  /** A page of deliveries with their attempts, and how many match. */
  list({ limit, offset, direction, cursor, state, type, search }: DeliveryQuery): { rows: Delivery[]; totalCount: number } {
    this.settle();
    const matches = `(?1 IS NULL OR state = ?1) AND (?2 IS NULL OR type = ?2)
      AND (?3 IS NULL OR instr(lower(type), ?3) > 0 OR instr(lower(resource), ?3) > 0)`;
    const [after, order] = direction === 1 ? ["number > ?4", "ASC"] : ["number < ?4", "DESC"];
    const rows = this.#sql
      .exec<ListedRow>(
        `SELECT number, id, event_id, type, resource, state, due, created, attempts
         FROM deliveries WHERE (?4 IS NULL OR ${after}) AND ${matches} ORDER BY number ${order} LIMIT ?5 OFFSET ?6`,
        ...[state, type, search, cursor, limit, cursor === null ? offset : 0],
      )
      .toArray();
    const { total } = this.#sql
      .exec<{ total: number }>(`SELECT count(*) AS total FROM deliveries WHERE ${matches}`, state, type, search)
      .one();
    const { paused_until } = this.#health();
    return { rows: rows.map((row) => toDelivery(row, paused_until)), totalCount: total };
  }

  /** Erases the data of a resource's events before a sequence, because the person they are about was deleted. */
  erase(resource: string, before: number): void {
    this.#sql.exec(
      `UPDATE deliveries SET event = json_set(event, '$.data', json('{"erased":true}')), account = NULL
       WHERE resource = ? AND json_extract(event, '$.sequence') < ?`,
      resource,
      before,
    );
    this.#invalidate();
  }

  /** Deletes settled deliveries beyond their retention, and those that have been pending for too long. */
  prune(now: number): void {
    this.#storage.transactionSync(() => {
      this.#sql.exec(
        `DELETE FROM deliveries WHERE state <> 'pending' AND number <= (
           SELECT number FROM deliveries WHERE state <> 'pending' ORDER BY number DESC LIMIT 1 OFFSET ?)`,
        KEPT_ROWS,
      );
      // The oldest have the lowest numbers.
      const old = this.#sql
        .exec<{ resource: string; state: DeliveryState }>(
          `DELETE FROM deliveries WHERE number IN (SELECT number FROM deliveries ORDER BY number LIMIT ?1)
             AND CASE state WHEN 'pending' THEN created < ?2 ELSE settled < ?3 END
           RETURNING resource, state`,
          ...[PRUNED_ROWS, now - WAITING_MS, now - KEPT_MS],
        )
        .toArray();
      const waiting = old.filter(({ state }) => state === "pending").map(({ resource }) => resource);
      if (waiting.length === 0) return;
      this.#makeDue(waiting, now);
      this.#invalidate();
    });
  }

  clear(): void {
    this.#sql.exec("DELETE FROM deliveries");
    this.resetHealth();
    this.#invalidate();
  }

  /** The deliveries pending behind these, a fair share for each. */
  #waitingFor(first: DueDelivery[]): DueDelivery[] {
    const share = Math.floor(READ_AHEAD.events / first.length) - 1;
    if (share < 1) return [];
    const rows = this.#sql.exec<DueRow>(
      `WITH head AS (SELECT key AS place, value ->> 0 AS name, value ->> 1 AS at FROM json_each(?1))
       SELECT ${DUE_COLUMNS} FROM head JOIN deliveries ON number IN (
         SELECT number FROM deliveries WHERE state = 'pending' AND resource = head.name AND number > head.at ORDER BY number LIMIT ?2)
       ORDER BY place, number`,
      ...[JSON.stringify(first.map(({ resource, number }) => [resource, number])), share],
    );
    return readUpTo(rows, READ_AHEAD.bytes);
  }

  /** Those of the resources that have a pending delivery. */
  #pendingAmong(resources: string[]): Set<string> {
    const rows = this.#sql.exec<{ resource: string }>(
      `SELECT value AS resource FROM json_each(?)
       WHERE EXISTS (SELECT 1 FROM deliveries WHERE state = 'pending' AND deliveries.resource = value)`,
      JSON.stringify([...new Set(resources)]),
    );
    return new Set(rows.toArray().map(({ resource }) => resource));
  }

  /** Makes a delivery due at this moment, or lets it wait if an earlier one of its resource was redelivered meanwhile. */
  #retry(number: number, at: number): void {
    this.#sql.exec(
      `UPDATE deliveries SET due = CASE WHEN EXISTS (
         SELECT 1 FROM deliveries AS earlier WHERE earlier.state = 'pending' AND earlier.resource = deliveries.resource
           AND earlier.number < deliveries.number) THEN NULL ELSE ?2 END
       WHERE number = ?1`,
      number,
      at,
    );
  }

  #giveUp(number: number, resource: string, now: number): void {
    this.#sql.exec("UPDATE deliveries SET state = 'failed', settled = ?, due = NULL WHERE number = ?", now, number);
    this.#makeDue([resource], now);
  }

  /** Makes the first pending delivery of each resource due now, unless it already has a due time. */
  #makeDue(resources: string[], now: number): void {
    this.#sql.exec(
      `UPDATE deliveries SET due = ?2 WHERE due IS NULL AND number IN (
         SELECT (SELECT min(number) FROM deliveries WHERE state = 'pending' AND resource = value) FROM json_each(?1))`,
      JSON.stringify([...new Set(resources)]),
      now,
    );
  }

  /** Counts a failure; returns since when nothing has been delivered. */
  #fail(now: number): number {
    const { failures, failing_since } = this.#health();
    const since = failing_since ?? now;
    this.#setHealth({ failures: failures + 1, failing_since: since, paused_until: now + pauseAfter(failures + 1) });
    return since;
  }

  #health(): Health {
    this.#known ??= this.#sql.exec<Health>("SELECT failures, failing_since, paused_until FROM health").one();
    return this.#known;
  }

  #setHealth(health: Health): void {
    const { failures, failing_since, paused_until } = health;
    this.#sql.exec("UPDATE health SET failures = ?, failing_since = ?, paused_until = ?", failures, failing_since, paused_until);
    this.#known = health;
  }

  #invalidate(): void {
    this.revision++;
    this.onProgress();
  }
}

/** As many rows as fit, but at least one. Reads the others too, because a cursor that isn't read to its end holds a lock on its tables. */
function readUpTo(rows: Iterable<DueRow>, bytes: number): DueDelivery[] {
  const taken: DueDelivery[] = [];
  let room = bytes;
  for (const row of rows) {
    if (room > 0) taken.push(toDue(row));
    room -= row.event.length;
  }
  return taken;
}

function toDue({ event_id, origin_path, event, ...row }: DueRow): DueDelivery {
  return { ...row, id: event_id, eventData: event, originPath: origin_path };
}

function toDelivery({ event_id, due, attempts, ...row }: ListedRow, pausedUntil: number): Delivery {
  return {
    ...row,
    eventId: event_id,
    nextTry: due === null ? null : Math.max(due, pausedUntil),
    attempts: Attempts.parse(JSON.parse(attempts)),
  };
}
