import { SITE_MOVING } from "#db/databases.ts";
import { MOVED, type MovedTable, OUTBOX, SITE_ROW } from "./tables.ts";

// Triggers exist only while a site moves, so that a move costs the other sites and times nothing. They are in the databases, because nothing
// else is certain to see every write: isolates and objects may have found the site's database before the move began.

const ALL = [...MOVED, SITE_ROW];
const EVENTS = ["insert", "update", "delete"] as const;
type Event = (typeof EVENTS)[number];

/** Creates the triggers that note what changes in the site. */
export function createLog(siteId: string): string[] {
  return ALL.flatMap((table) => EVENTS.map((event) => createLogOf(table, event, siteId)));
}

function createLogOf(table: MovedTable, event: Event, siteId: string): string {
  const notes = rowsOf(event).map(
    (row) => `insert into site_move_changes (table_name, key) values ('${table.name}', json_array(${keyOf(table, row)}));`,
  );
  return `create trigger if not exists ${nameOf("log", table, event)} after ${event} on "${table.name}"
    when ${ownedIn(table, event, siteId)} begin ${notes.join(" ")} end`;
}

/** Creates the triggers with which writes of the site fail, except those of the move. The log may still delete the events that it has taken. */
export function createFence(siteId: string): string[] {
  return [
    ...ALL.flatMap((table) => EVENTS.flatMap((event) => guard("fence", table, event, siteId, `raise(abort, '${SITE_MOVING}')`))),
    ...guard("fence", OUTBOX, "insert", siteId, `raise(abort, '${SITE_MOVING}')`),
  ];
}

/**
 * Creates the triggers that leave a copy alone which isn't the site yet: what the cron does to all rows of a database has no effect on it.
 * What would emit an event fails, because whoever writes it relies on it, and may go on at somebody else's API.
 */
export function createShade(siteId: string): string[] {
  return [
    ...ALL.flatMap((table) => EVENTS.flatMap((event) => guard("shade", table, event, siteId, "raise(ignore)"))),
    ...guard("shade", OUTBOX, "insert", siteId, "raise(abort, 'The site is elsewhere')"),
  ];
}

export function dropLog(): string[] {
  return ALL.flatMap((table) => EVENTS.map((event) => drop("log", table, event)));
}

export function dropFence(): string[] {
  return [...ALL.flatMap((table) => EVENTS.map((event) => drop("fence", table, event))), drop("fence", OUTBOX, "insert")];
}

export function dropShade(): string[] {
  return [...ALL.flatMap((table) => EVENTS.map((event) => drop("shade", table, event))), drop("shade", OUTBOX, "insert")];
}

function guard(kind: string, table: MovedTable, event: Event, siteId: string, outcome: string): string[] {
  // A request that failed because of the move can still release its Idempotency-Key.
  if (kind === "fence" && table.name === "idempotency_keys" && event === "delete") return [];
  return [
    `create trigger if not exists ${nameOf(kind, table, event)} before ${event} on "${table.name}"
      when (${ownedIn(table, event, siteId)}) and not exists (select 1 from site_move_pass where open = 1)
      begin select ${outcome}; end`,
  ];
}

function drop(kind: string, table: MovedTable, event: Event): string {
  return `drop trigger if exists ${nameOf(kind, table, event)}`;
}

function nameOf(kind: string, table: MovedTable, event: Event): string {
  return `site_move_${kind}_${table.name}_${event}`;
}

function rowsOf(event: Event): string[] {
  return { insert: ["new"], update: ["old", "new"], delete: ["old"] }[event];
}

function ownedIn(table: MovedTable, event: Event, siteId: string): string {
  return rowsOf(event)
    .map((row) => table.owned(row, siteId))
    .join(" or ");
}

function keyOf({ key }: MovedTable, row: string): string {
  return key.map((column) => `${row}."${column}"`).join(", ");
}
