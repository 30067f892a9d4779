import type { WEBHOOK_DISABLED_REASONS } from "#db/enums.ts";
import { RETRY_SPAN, retryDelay } from "#worker/services/webhooks/backoff.ts";
import { insertRows } from "#worker/durable-objects/insert-rows.ts";
import { migrate } from "#worker/durable-objects/migrations.ts";
import { KEPT_MS, lastBeyond, PRUNED_ROWS, WAITING_MS } from "./delivery-retention.ts";
import { DUE_COLUMNS, type DueDelivery, type DueRow, readUpTo } from "./due-delivery.ts";
import { DeliveryWindow } from "./delivery-window.ts";
import { findSent, listDeliveries } from "./list-deliveries.ts";
import { PageStore, type Place } from "./page-store.ts";
import { QueueNumbers } from "./queue-numbers.ts";
import { SCHEMA } from "./queue-tables.ts";
import { ReceiverHealth } from "./receiver-health.ts";
import type { Attempt, Delivery, DeliveryQuery, DeliveryState, QueuedEvent, SentEvent } from "./webhook-endpoint.protocol.ts";

/** How much is read ahead. */
const READ_AHEAD = { events: 256, bytes: 1_000_000 };
const GONE = 410;

/** Resources that one statement looks up. */
const LOOKED_UP = 256;
/** Events that get rows of their own at once, if all that are known in memory wait behind others. */
const MADE_ROOM = 500;

const EVENT_COLUMNS = ["event_id", "type", "resource", "service", "event", "account", "method", "origin_path"];

export type DisabledReason = (typeof WEBHOOK_DISABLED_REASONS)[number];

/**
 * One endpoint's deliveries, in SQLite. Events are queued in pages, because most are accepted at the first attempt. One that fails, or that
 * is sent again, gets a row of its own, and the later events of its resource wait for it. Of these rows, only the first pending one of a
 * resource has a due time, which makes finding them cheap however many wait. Has no clock: callers pass the time.
 */
export class DeliveryQueue {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  readonly #pages: PageStore;
  readonly #window: DeliveryWindow;
  readonly #health: ReceiverHealth;
  readonly #numbers: QueueNumbers;
  /** Whether every event in a page waits for one with a row of its own. */
  #allWait = false;
  /** Increases when pending deliveries change, which invalidates what was read ahead. */
  revision = 0;
  /** Called when there may be something new to send. */
  onProgress: () => void = () => undefined;
  /** Records outcomes that only a run knows; called before reading or changing deliveries. */
  settle: () => void = () => undefined;

  constructor(storage: DurableObjectStorage, inMemory?: number) {
    this.#storage = storage;
    this.#sql = storage.sql;
    migrate(storage, "deliveries", SCHEMA);
    this.#pages = new PageStore(storage.sql);
    this.#window = new DeliveryWindow(this.#pages, inMemory);
    this.#health = new ReceiverHealth(storage.sql);
    this.#numbers = new QueueNumbers(storage.sql, "deliveries");
  }

  /** Queues events, each once however often it is added. */
  add(events: QueuedEvent[], now: number): void {
    const allWaited = this.#allWait;
    this.#transaction(() => {
      const added = new Map(events.map((event) => [event.id, event]));
      for (const id of this.#withRows([...added.keys()])) added.delete(id);
      for (const id of this.#pages.known([...added.keys()])) added.delete(id);
      const rest = [...added.values()];
      if (rest.length === 0) return;
      this.#pages.add(
        rest,
        this.#numbers.take(rest.length, () => this.#end()),
        now,
      );
      const resources = new Set(rest.map(({ resource }) => resource));
      this.#allWait = allWaited && this.#pendingAmong([...resources]).size === resources.size;
    });
    this.onProgress();
  }

  /** How many parallel deliveries the receiver's health allows. */
  capacity(now: number): number {
    return this.#health.capacity(now);
  }

  /**
   * The deliveries to send now, grouped by resource, with the events of the same resource that wait behind them, in order: first those
   * with rows of their own, longest due first. Skips `busy` resources.
   */
  dueByResource(now: number, busy: ReadonlySet<string>): DueDelivery[][] {
    const due = this.#sql.exec<DueRow>(
      `SELECT ${DUE_COLUMNS} FROM deliveries WHERE due <= ?1 AND resource NOT IN (SELECT value FROM json_each(?2))
       ORDER BY due, number LIMIT ?3`,
      ...[now, JSON.stringify([...busy]), READ_AHEAD.events],
    );
    const first = readUpTo(due, READ_AHEAD.bytes);
    const waiting = first.length === 0 ? [] : this.#waitingFor(first);
    const own = [...first, ...waiting];
    const room = {
      events: READ_AHEAD.events - own.length,
      chars: READ_AHEAD.bytes - own.reduce((sum, { eventData }) => sum + eventData.length, 0),
    };
    const paged = room.events > 0 && room.chars > 0 ? this.#pages.read(this.#window.choose(this.#free(now, busy, room.events), room)) : [];
    return [...Map.groupBy([...own, ...paged], ({ resource }) => resource).values()];
  }

  /** Whether there may be later events of its resource to send. */
  hasFurther({ page, resource, number }: DueDelivery): boolean {
    return page === null || !this.#window.isLast(resource, number);
  }

  /** Records successful attempts, many at once: a separate write costs as much as the request. */
  delivered(outcomes: { event: DueDelivery; attempt: Attempt }[]): void {
    const now = Math.max(...outcomes.map(({ attempt }) => attempt.at + attempt.duration));
    this.#transaction(() => {
      const paged = outcomes.flatMap(({ event, attempt }) => (event.page === null ? [] : [{ ...event, page: event.page, attempt }]));
      const moved = this.#pages.deliver(paged, now);
      for (const { resource, number } of paged) this.#window.settle(resource, number);
      const own = outcomes.filter(({ event }) => event.page === null || moved.has(event.number));
      if (own.length > 0)
        // The response may arrive after the endpoint and its queue were deleted.
        this.#sql.exec(
          `UPDATE deliveries SET state = 'delivered', settled = ?2, due = NULL, tries = tries + 1,
             attempts = json_insert(attempts, '$[#]', json(try.value))
           FROM json_each(?1) AS try WHERE number = CAST(try.key AS INTEGER) AND state = 'pending'`,
          JSON.stringify(Object.fromEntries(own.map(({ event, attempt }) => [event.number, attempt]))),
          now,
        );
      this.#health.reset();
      this.#makeDue(
        outcomes.map(({ event }) => event.resource),
        now,
      );
    });
  }

  /** Records a failed attempt and schedules the next; returns why to disable the endpoint, if it should be. */
  failed({ number, page, resource }: DueDelivery, attempt: Attempt, random: number): DisabledReason | undefined {
    const now = attempt.at + attempt.duration;
    return this.#transaction(() => {
      if (page !== null) this.#giveRows([{ number, page }], now);
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
      const since = this.#health.fail(now);
      if (attempt.status === GONE) return "gone";
      return now - since >= RETRY_SPAN ? "failing" : undefined;
    });
  }

  has(id: string): boolean {
    return this.#sql.exec("SELECT 1 FROM deliveries WHERE id = ?", id).toArray().length > 0 || this.#pages.find(id) !== undefined;
  }

  /** Sends a delivery again as soon as possible with a new set of attempts; false if it doesn't exist. */
  redeliver(id: string, now: number): boolean {
    this.settle();
    return this.#transaction(() => {
      const paged = this.#pages.find(id);
      if (paged?.state === "delivered") this.#giveRows([paged], now);
      const [row] = this.#sql
        .exec<{ resource: string }>(
          "UPDATE deliveries SET state = 'pending', tries = 0, settled = NULL, due = NULL WHERE id = ? RETURNING resource",
          id,
        )
        .toArray();
      const resource = row?.resource ?? paged?.entry.resource;
      if (resource === undefined) return false;
      // Later deliveries of its resource wait again.
      this.#sql.exec("UPDATE deliveries SET due = NULL WHERE state = 'pending' AND resource = ?", resource);
      this.#makeDue([resource], now);
      this.#health.reset();
      this.#invalidate();
      return true;
    });
  }

  /** Retries failed deliveries now: the receiver may have been fixed. */
  retryNow(now: number): void {
    this.#health.reset();
    this.#sql.exec("UPDATE deliveries SET due = ?1 WHERE due > ?1", now);
  }

  /** When the next delivery is due; undefined if none is pending. */
  nextDue(): number | undefined {
    const { due } = this.#sql.exec<{ due: number | null }>("SELECT min(due) AS due FROM deliveries WHERE due IS NOT NULL").one();
    const pausedUntil = this.#health.pausedUntil();
    if (!this.#allWait && this.#pages.hasPending()) return pausedUntil;
    return due === null ? undefined : Math.max(due, pausedUntil);
  }

  isEmpty(): boolean {
    return this.#pages.isEmpty() && this.#sql.exec("SELECT 1 FROM deliveries LIMIT 1").toArray().length === 0;
  }

  /** A page of deliveries with their attempts, and how many match. */
  list(query: DeliveryQuery): { rows: Delivery[]; totalCount: number } {
    this.settle();
    this.#window.load();
    return listDeliveries(this.#sql, this.#pages, query, {
      pausedUntil: this.#health.pausedUntil(),
      firstOf: (events) => {
        const firsts = events.filter(({ number, entry }) => this.#window.isFirst(entry.resource, number));
        const waiting = this.#pendingAmong(firsts.map(({ entry }) => entry.resource));
        return new Set(firsts.flatMap(({ number, entry }) => (waiting.has(entry.resource) ? [] : [number])));
      },
    });
  }

  /** What a delivery sends, with its attempts; null if it doesn't exist. */
  payload(id: string): SentEvent | null {
    this.settle();
    const own = findSent(this.#sql, id);
    const paged = own ? undefined : this.#pages.find(id);
    const [event] = paged ? this.#pages.read([paged]) : [];
    return own ?? (paged && event ? { event, attempts: paged.attempts } : null);
  }

  /** Erases the data of a resource's events before a sequence, because the person they are about was deleted. */
  erase(resource: string, before: number): void {
    this.#sql.exec(
      `UPDATE deliveries SET event = json_set(event, '$.data', json('{"erased":true}')), account = NULL,
         attempts = (SELECT json_group_array(json_remove(value, '$.response')) FROM json_each(attempts))
       WHERE resource = ? AND json_extract(event, '$.sequence') < ?`,
      resource,
      before,
    );
    this.#pages.erase(resource, before);
    this.#window.forget();
    this.#invalidate();
  }

  /** Deletes settled deliveries beyond their retention, and those that have been pending for too long. */
  prune(now: number): void {
    this.#transaction(() => {
      const upTo = lastBeyond(this.#sql);
      this.#sql.exec("DELETE FROM deliveries WHERE state <> 'pending' AND number <= ?", upTo);
      // The oldest have the lowest numbers.
      const old = this.#sql
        .exec<{ resource: string; state: DeliveryState }>(
          `DELETE FROM deliveries WHERE number IN (SELECT number FROM deliveries ORDER BY number LIMIT ?1)
             AND CASE state WHEN 'pending' THEN created < ?2 ELSE settled < ?3 END
           RETURNING resource, state`,
          ...[PRUNED_ROWS, now - WAITING_MS, now - KEPT_MS],
        )
        .toArray();
      const ages = { upTo, createdBefore: now - WAITING_MS, settledBefore: now - KEPT_MS, limit: PRUNED_ROWS };
      const wasPending = this.#pages.prune(ages);
      if (wasPending) this.#window.forget();
      const waiting = old.filter(({ state }) => state === "pending").map(({ resource }) => resource);
      if (waiting.length === 0 && !wasPending) return;
      this.#makeDue(waiting, now);
      this.#invalidate();
    });
  }

  clear(): void {
    this.#sql.exec("DELETE FROM deliveries");
    this.#pages.clear();
    this.#window.forget();
    this.#health.reset();
    this.#invalidate();
  }

  /** Those of the events that have rows of their own. */
  #withRows(eventIds: string[]): Set<string> {
    const rows = this.#sql.exec<{ id: string }>(
      "SELECT event_id AS id FROM deliveries WHERE event_id IN (SELECT value FROM json_each(?))",
      JSON.stringify(eventIds),
    );
    return new Set(rows.toArray().map(({ id }) => id));
  }

  /** The number after the last one. */
  #end(): number {
    const { last } = this.#sql.exec<{ last: number | null }>("SELECT max(number) AS last FROM deliveries").one();
    return Math.max(this.#pages.end(), (last ?? 0) + 1);
  }

  /** Resources with events in pages that may be sent: nothing with a row of its own is pending before them. */
  #free(now: number, busy: ReadonlySet<string>, most: number): string[] {
    const free: string[] = [];
    const blocked: string[] = [];
    this.#window.load();
    const idle = this.#window.resources().filter((resource) => !busy.has(resource));
    for (let from = 0; from < idle.length && free.length < most; from += LOOKED_UP) {
      const some = idle.slice(from, from + LOOKED_UP);
      const waiting = this.#pendingAmong(some);
      for (const resource of some) (waiting.has(resource) ? blocked : free).push(resource);
    }
    if (free.length > 0 || busy.size > 0) return free;
    if (this.#window.isFull()) this.#makeRoom(blocked, now);
    else this.#allWait = true;
    return free;
  }

  /** Events that wait for one with a row of its own get such rows too, so that those behind them become known. */
  #makeRoom(resources: string[], now: number): void {
    const places: Place[] = [];
    for (const resource of resources) {
      places.push(...this.#window.of(resource, MADE_ROOM - places.length));
      if (places.length === MADE_ROOM) break;
    }
    this.#transaction(() => this.#giveRows(places, now));
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

  /** Gives events of pages rows of their own, in which they are pending. */
  #giveRows(places: Place[], now: number): void {
    const taken = this.#pages.take(places, now);
    // An earlier release, which doesn't know pages, may have queued the same event.
    const present = this.#withRows(taken.map(({ entry }) => entry.eventId));
    const missing = taken.filter(({ entry }) => !present.has(entry.eventId));
    const rows = missing.map(({ number, created, entry, text, attempts }) => {
      const { id, eventId, type, resource, service, account, method, originPath } = entry;
      return [number, id, created, JSON.stringify(attempts), eventId, type, resource, service, text, account, method, originPath];
    });
    insertRows(this.#sql, "deliveries", ["number", "id", "created", "attempts", ...EVENT_COLUMNS], rows);
    for (const { number, entry } of taken) this.#window.settle(entry.resource, number);
  }

  /** What is known of events in memory must not differ from what is stored. */
  #transaction<T>(work: () => T): T {
    try {
      this.#allWait = false;
      return this.#storage.transactionSync(work);
    } catch (error) {
      this.#window.forget();
      this.#numbers.forget();
      throw error;
    }
  }

  #invalidate(): void {
    this.revision++;
    this.onProgress();
  }
}
