import { z } from "@hono/zod-openapi";
import { newId, timeOf } from "#worker/lib/ids.ts";
import type { Attempt, DeliveryQuery, QueuedEvent } from "./webhook-endpoint.protocol.ts";

/** Events, and characters of them, in one page. */
const PAGE = { events: 100, chars: 250_000 };
/** Pages that one query reads. */
const BATCH = 16;
const MOVED = 0;

/** An event of a page, with the length of its text. */
const Entry = z.object({
  id: z.string(),
  eventId: z.string(),
  type: z.string(),
  resource: z.string(),
  service: z.string(),
  account: z.string().nullable(),
  method: z.string().nullable(),
  originPath: z.string().nullable(),
  chars: z.number(),
});
const Entries = z.array(Entry);
export type Entry = z.infer<typeof Entry>;

/** What became of an event: null while it is pending, its only attempt once it was delivered, or 0 if it got a row of its own. */
const Outcome = z.union([z.null(), z.literal(MOVED), z.tuple([z.number(), z.number(), z.number().nullable()])]);
const Outcomes = z.array(Outcome);
type Outcome = z.infer<typeof Outcome>;

/** Where an event is stored: `number` is its position in the queue, `page` that of the page's first event. */
export interface Place {
  number: number;
  page: number;
}

/** An event of a page with its outcome. */
export interface PageEvent extends Place {
  entry: Entry;
  created: number;
  state: "pending" | "delivered" | "moved";
  attempts: Attempt[];
}

/** The store's tables. Of a page, only its row in `pages` changes later, which is small. */
export const PAGE_TABLES = `
  CREATE TABLE pages (
    number INTEGER PRIMARY KEY, created INTEGER NOT NULL, last_event TEXT NOT NULL, count INTEGER NOT NULL, pending INTEGER NOT NULL,
    delivered INTEGER NOT NULL DEFAULT 0, open INTEGER NOT NULL DEFAULT 1, settled INTEGER, outcomes TEXT NOT NULL);
  CREATE INDEX pages_open ON pages (number) WHERE open = 1;
  CREATE INDEX pages_last_event ON pages (last_event);
  CREATE TABLE page_events (number INTEGER PRIMARY KEY, entries TEXT NOT NULL, bodies TEXT NOT NULL)`;

type PageRow = { number: number; created: number; outcomes: string; entries: string };
type TextRow = { number: number; entries: string; bodies: string };

const COLUMNS = "pages.number AS number, created, outcomes, entries";
const JOINED = "pages JOIN page_events ON page_events.number = pages.number";

/**
 * Events that arrived together share a row, and so do the outcomes of their first attempts: most are delivered at once and never need
 * anything else. What needs more gets a row of its own in the queue (`take`).
 */
export class PageStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Those of the events that are stored. */
  known(eventIds: string[]): Set<string> {
    const wanted = new Set(eventIds);
    const [earliest] = eventIds.toSorted();
    if (earliest === undefined) return wanted;
    const rows = this.#sql.exec<{ id: string }>(
      `SELECT value ->> 'eventId' AS id FROM page_events, json_each(entries)
       WHERE page_events.number IN (SELECT number FROM pages WHERE last_event >= ?)`,
      earliest,
    );
    return new Set(rows.toArray().flatMap(({ id }) => (wanted.has(id) ? [id] : [])));
  }

  /** Stores events from this number on, in as few pages as fit. */
  add(events: QueuedEvent[], first: number, now: number): void {
    let number = first;
    for (let rest = events; rest.length > 0;) {
      const page = rest.slice(0, fitting(rest));
      rest = rest.slice(page.length);
      const entries = page.map((event): Entry => {
        const { id: eventId, type, resource, service, account, method, originPath, eventData } = event;
        return { id: newId(now), eventId, type, resource, service, account, method, originPath, chars: eventData.length };
      });
      const last = entries.map(({ eventId }) => eventId).reduce((a, b) => (a > b ? a : b));
      const outcomes = JSON.stringify(page.map(() => null));
      this.#sql.exec(
        "INSERT INTO pages (number, created, last_event, count, pending, outcomes) VALUES (?1, ?2, ?3, ?4, ?4, ?5)",
        ...[number, now, last, page.length, outcomes],
      );
      const bodies = page.map(({ eventData }) => eventData).join("");
      this.#sql.exec("INSERT INTO page_events VALUES (?, ?, ?)", number, JSON.stringify(entries), bodies);
      number += page.length;
    }
  }

  /** The number after the last event's. */
  end(): number {
    return this.#sql.exec<{ next: number }>("SELECT coalesce(max(number + count), 1) AS next FROM pages").one().next;
  }

  isEmpty(): boolean {
    return this.#sql.exec("SELECT 1 FROM pages LIMIT 1").toArray().length === 0;
  }

  hasPending(): boolean {
    return this.#sql.exec("SELECT 1 FROM pages WHERE open = 1 LIMIT 1").toArray().length > 0;
  }

  /** The next pages with pending events after this number, and those events. */
  pendingAfter(number: number): PageEvent[][] {
    const rows = this.#sql.exec<PageRow>(
      `SELECT ${COLUMNS} FROM ${JOINED} WHERE open = 1 AND pages.number > ? ORDER BY pages.number LIMIT ?`,
      ...[number, BATCH],
    );
    return rows.toArray().map((row) => eventsOf(row).filter(({ state }) => state === "pending"));
  }

  /** The events at these places, with their texts, in the same order. */
  read(places: Place[]): (Place & QueuedEvent)[] {
    const rows = this.#sql.exec<TextRow>(
      "SELECT * FROM page_events WHERE number IN (SELECT value FROM json_each(?))",
      JSON.stringify([...new Set(places.map(({ page }) => page))]),
    );
    const pages = new Map(rows.toArray().map(({ number, entries, bodies }) => [number, textsOf(entries, bodies)]));
    return places.flatMap(({ number, page }) => {
      const found = pages.get(page)?.[number - page];
      if (!found) return [];
      const { eventId, type, resource, service, account, method, originPath, text } = found;
      return [{ number, page, id: eventId, type, resource, service, account, method, originPath, eventData: text }];
    });
  }

  /** Records successful attempts; returns the numbers of those that aren't pending here. */
  deliver(attempts: (Place & { attempt: Attempt })[], now: number): Set<number> {
    const left = new Set(attempts.map(({ number }) => number));
    for (const [page, group] of Map.groupBy(attempts, (place) => place.page))
      this.#change(page, now, (outcomes) => {
        for (const { number, attempt } of group) {
          if (outcomes[number - page] !== null) continue;
          outcomes[number - page] = [attempt.at, attempt.duration, attempt.status];
          left.delete(number);
        }
      });
    return left;
  }

  /** Hands over events that get rows of their own, with what is known of them. Leaves out what was handed over before. */
  take(places: Place[], now: number): (PageEvent & { text: string })[] {
    return [...Map.groupBy(places, (place) => place.page)].flatMap(([page, group]) => {
      const found = this.#sql
        .exec<PageRow & { bodies: string }>(`SELECT ${COLUMNS}, bodies FROM ${JOINED} WHERE pages.number = ?`, page)
        .toArray();
      const numbers = new Set(group.map(({ number }) => number));
      const taken = found.flatMap((row) => {
        const texts = textsOf(row.entries, row.bodies);
        return eventsOf(row).flatMap((event, index) =>
          numbers.has(event.number) && event.state !== "moved" ? [{ ...event, text: texts[index]?.text ?? "" }] : [],
        );
      });
      if (taken.length > 0)
        this.#change(page, now, (outcomes) => {
          for (const { number } of taken) outcomes[number - page] = MOVED;
        });
      return taken;
    });
  }

  /** The event of a delivery; undefined if it isn't here. */
  find(id: string): PageEvent | undefined {
    // The id says when it was queued.
    const rows = this.#sql.exec<PageRow>(`SELECT ${COLUMNS} FROM ${JOINED} WHERE created = ?`, timeOf(id)).toArray();
    return rows.flatMap(eventsOf).find(({ entry, state }) => entry.id === id && state !== "moved");
  }

  /** How many match, except those with rows of their own. */
  count({ state, type, search }: DeliveryQuery): number {
    if (type === null && search === null) {
      const sums = this.#sql.exec<{ pending: number; delivered: number }>(
        "SELECT coalesce(sum(pending), 0) AS pending, coalesce(sum(delivered), 0) AS delivered FROM pages",
      );
      const { pending, delivered } = sums.one();
      return (state === null || state === "pending" ? pending : 0) + (state === null || state === "delivered" ? delivered : 0);
    }
    const matching = this.#sql.exec<{ total: number }>(
      `SELECT count(*) AS total FROM ${JOINED}, json_each(entries) AS entry
       WHERE CASE json_type(outcomes, '$[' || entry.key || ']')
           WHEN 'null' THEN ?1 IS NULL OR ?1 = 'pending' WHEN 'array' THEN ?1 IS NULL OR ?1 = 'delivered' ELSE 0 END
         AND (?2 IS NULL OR value ->> 'type' = ?2)
         AND (?3 IS NULL OR instr(lower(value ->> 'type'), ?3) > 0 OR instr(lower(value ->> 'resource'), ?3) > 0)`,
      ...[state, type, search],
    );
    return matching.one().total;
  }

  /** The first events that match, in the order of the query. */
  list({ direction, cursor, state, type, search }: DeliveryQuery, limit: number): PageEvent[] {
    const found: PageEvent[] = [];
    if (state === "failed") return found;
    const own = { pending: "open = 1", delivered: "delivered > 0" };
    const [compare, order] = direction === 1 ? [">", "ASC"] : ["<", "DESC"];
    // The page with the cursor's own number may have some of the events after it.
    let from = cursor === null ? null : direction === 1 ? cursor - PAGE.events : cursor;
    while (found.length < limit) {
      const rows = this.#sql
        .exec<PageRow>(
          `SELECT ${COLUMNS} FROM ${JOINED} WHERE (?1 IS NULL OR pages.number ${compare} ?1) AND ${state === null ? "1" : own[state]}
           ORDER BY pages.number ${order} LIMIT ?2`,
          ...[from, BATCH],
        )
        .toArray();
      for (const row of rows) {
        const events = eventsOf(row).filter(
          (event) =>
            (cursor === null || (direction === 1 ? event.number > cursor : event.number < cursor)) &&
            (state === null ? event.state !== "moved" : event.state === state) &&
            (type === null || event.entry.type === type) &&
            (search === null || [event.entry.type, event.entry.resource].some((text) => text.toLowerCase().includes(search))),
        );
        found.push(...(direction === 1 ? events : events.toReversed()));
      }
      from = rows.at(-1)?.number ?? null;
      if (rows.length < BATCH) break;
    }
    return found.slice(0, limit);
  }

  /** Erases the data of a resource's events before a sequence. */
  erase(resource: string, before: number): void {
    const rows = this.#sql.exec<TextRow>("SELECT * FROM page_events WHERE instr(entries, ?) > 0", `"resource":${JSON.stringify(resource)}`);
    for (const { number, entries, bodies } of rows.toArray()) {
      const events = textsOf(entries, bodies).map((event) => {
        const text = event.resource === resource ? this.#erased(event.text, before) : undefined;
        return text === undefined ? event : { ...event, account: null, chars: text.length, text };
      });
      const erased = events.map(({ text: _, ...entry }): Entry => entry);
      const texts = events.map(({ text }) => text).join("");
      this.#sql.exec("UPDATE page_events SET entries = ?, bodies = ? WHERE number = ?", JSON.stringify(erased), texts, number);
    }
  }

  /** Deletes settled pages up to a number, or settled before a time, and pending ones from before another; true if some were pending. */
  prune({ upTo, settledBefore, createdBefore, limit }: { upTo: number; settledBefore: number; createdBefore: number; limit: number }) {
    const deleted = this.#sql
      .exec<{ number: number; open: number }>(
        `DELETE FROM pages WHERE number IN (SELECT number FROM pages ORDER BY number LIMIT ?1)
           AND CASE open WHEN 1 THEN created < ?2 ELSE number <= ?3 OR settled < ?4 END RETURNING number, open`,
        ...[limit, createdBefore, upTo, settledBefore],
      )
      .toArray();
    if (deleted.length === 0) return false;
    const numbers = JSON.stringify(deleted.map(({ number }) => number));
    this.#sql.exec("DELETE FROM page_events WHERE number IN (SELECT value FROM json_each(?))", numbers);
    return deleted.some(({ open }) => open === 1);
  }

  clear(): void {
    this.#sql.exec("DELETE FROM pages");
    this.#sql.exec("DELETE FROM page_events");
  }

  /** The event's text without its data; undefined if it isn't older. */
  #erased(text: string, before: number): string | undefined {
    return (
      this.#sql
        .exec<{ text: string | null }>(
          `SELECT iif(json_extract(?1, '$.sequence') < ?2, json_set(?1, '$.data', json('{"erased":true}')), NULL) AS text`,
          ...[text, before],
        )
        .one().text ?? undefined
    );
  }

  /** Changes the outcomes of a page, which may have been deleted meanwhile. */
  #change(page: number, now: number, change: (outcomes: Outcome[]) => void): void {
    const [row] = this.#sql.exec<{ outcomes: string }>("SELECT outcomes FROM pages WHERE number = ?", page).toArray();
    if (!row) return;
    const outcomes = Outcomes.parse(JSON.parse(row.outcomes));
    change(outcomes);
    const pending = outcomes.filter((outcome) => outcome === null).length;
    const delivered = outcomes.filter((outcome) => Array.isArray(outcome)).length;
    // Setting `open` writes its index too.
    this.#sql.exec(
      `UPDATE pages SET outcomes = ?, pending = ?, delivered = ?, settled = ? ${pending === 0 ? ", open = 0" : ""} WHERE number = ?`,
      ...[JSON.stringify(outcomes), pending, delivered, now, page],
    );
  }
}

/** How many of the events fit into a page, at least one. */
function fitting(events: QueuedEvent[]): number {
  let count = 0;
  for (let chars = 0; count < Math.min(events.length, PAGE.events); count++) {
    chars += events[count]?.eventData.length ?? 0;
    if (count > 0 && chars > PAGE.chars) break;
  }
  return count;
}

function eventsOf({ number: page, created, outcomes, entries }: PageRow): PageEvent[] {
  const results = Outcomes.parse(JSON.parse(outcomes));
  return Entries.parse(JSON.parse(entries)).map((entry, index) => {
    const outcome = results[index] ?? null;
    const place = { page, number: page + index, entry, created };
    if (outcome === null) return { ...place, state: "pending", attempts: [] };
    if (outcome === MOVED) return { ...place, state: "moved", attempts: [] };
    const [at, duration, status] = outcome;
    return { ...place, state: "delivered", attempts: [{ at, duration, status, error: null }] };
  });
}

function textsOf(entries: string, bodies: string): (Entry & { text: string })[] {
  let at = 0;
  return Entries.parse(JSON.parse(entries)).map((entry) => ({ ...entry, text: bodies.slice(at, (at += entry.chars)) }));
}
