import type { OutboxEvent } from "#db/schema/events.ts";
import { insertRows } from "#worker/durable-objects/insert-rows.ts";
import { DONE, TO_DO } from "./effect-failures.ts";

const COLUMNS = ["sequence", "previous", "id", "type", "resource", "data", "actor", "request_id", "origin", "created", "done"];

/**
 * Appends the events that the log doesn't have yet, in order. `isDone`: nothing follows from the event, or its effects have already run,
 * which costs three rows less than an event whose effects are still to run.
 */
export function appendEvents(storage: DurableObjectStorage, batch: OutboxEvent[], isDone: (event: OutboxEvent) => boolean): void {
  const { sql } = storage;
  storage.transactionSync(() => {
    const ids = JSON.stringify(batch.map(({ eventId }) => eventId));
    const known = sql.exec<{ id: string }>("SELECT id FROM events WHERE id IN (SELECT value FROM json_each(?))", ids).toArray();
    const added = new Map(batch.map((event) => [event.eventId, event]));
    for (const { id } of known) added.delete(id);
    if (added.size === 0) return;
    const events = [...added.values()];
    const last = lastPositions(sql, events);
    let { sequence } = sql.exec<{ sequence: number }>("SELECT coalesce(max(sequence), 0) AS sequence FROM events").one();
    const rows = events.map((event) => {
      const previous = last[event.resource] ?? null;
      last[event.resource] = ++sequence;
      return [
        ...[sequence, previous, event.eventId, event.type, event.resource, JSON.stringify(event.data)],
        ...[event.actor, event.requestId, event.origin, event.created, isDone(event) ? DONE : TO_DO],
      ];
    });
    insertRows(sql, "events", COLUMNS, rows);
    sql.exec(
      "INSERT INTO resources SELECT key, value FROM json_each(?) WHERE true ON CONFLICT DO UPDATE SET sequence = excluded.sequence",
      JSON.stringify(last),
    );
  });
}

/** The sequence of the last event of each of these events' resources. */
function lastPositions(sql: SqlStorage, events: OutboxEvent[]): Record<string, number> {
  const resources = JSON.stringify([...new Set(events.map(({ resource }) => resource))]);
  const rows = sql.exec<{ resource: string; sequence: number }>(
    "SELECT resource, sequence FROM resources WHERE resource IN (SELECT value FROM json_each(?))",
    resources,
  );
  return Object.fromEntries(rows.toArray().map(({ resource, sequence }) => [resource, sequence]));
}
