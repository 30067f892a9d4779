import { z } from "@hono/zod-openapi";
import { DUE_COLUMNS, type DueRow } from "./due-delivery.ts";
import type { PageEvent, PageStore } from "./page-store.ts";
import {
  Attempt,
  type Delivery,
  type DeliveryQuery,
  type DeliveryState,
  type SentEvent,
  StoredAttempt,
} from "./webhook-endpoint.protocol.ts";

/** A list has no responses, which may be long. */
const Attempts = z.array(Attempt);
const StoredAttempts = z.array(StoredAttempt);

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

interface Waiting {
  /** When the receiver's pause ends. */
  pausedUntil: number;
  /** The numbers of those pending events that wait for no other of their resource. */
  firstOf: (events: PageEvent[]) => Set<number>;
}

/** A page of deliveries with their attempts, and how many match: those with rows of their own and those in pages, in one order. */
export function listDeliveries(
  sql: SqlStorage,
  pages: PageStore,
  query: DeliveryQuery,
  { pausedUntil, firstOf }: Waiting,
): { rows: Delivery[]; totalCount: number } {
  const { limit, direction, cursor, state, type, search } = query;
  const matches = `(?1 IS NULL OR state = ?1) AND (?2 IS NULL OR type = ?2)
    AND (?3 IS NULL OR instr(lower(type), ?3) > 0 OR instr(lower(resource), ?3) > 0)`;
  const [after, order] = direction === 1 ? ["number > ?4", "ASC"] : ["number < ?4", "DESC"];
  const offset = cursor === null ? query.offset : 0;
  const own = sql
    .exec<ListedRow>(
      `SELECT number, id, event_id, type, resource, state, due, created, attempts
       FROM deliveries WHERE (?4 IS NULL OR ${after}) AND ${matches} ORDER BY number ${order} LIMIT ?5`,
      ...[state, type, search, cursor, offset + limit],
    )
    .toArray();
  const { total } = sql.exec<{ total: number }>(`SELECT count(*) AS total FROM deliveries WHERE ${matches}`, state, type, search).one();
  const merged = [...own, ...pages.list(query, offset + limit)].toSorted((a, b) => direction * (a.number - b.number));
  const listed = merged.slice(offset, offset + limit);
  const first = firstOf(listed.flatMap((row) => ("entry" in row && row.state === "pending" ? [row] : [])));
  const rows = listed.map((row) =>
    "entry" in row
      ? ofPage(row, first.has(row.number) ? Math.max(row.created, pausedUntil) : null)
      : ofRow(row, row.due === null ? null : Math.max(row.due, pausedUntil)),
  );
  return { rows, totalCount: total + pages.count(query) };
}

/** What a delivery with a row of its own sends, and its attempts with their responses; undefined if there is no such row. */
export function findSent(sql: SqlStorage, id: string): SentEvent | undefined {
  const [row] = sql.exec<DueRow & { attempts: string }>(`SELECT ${DUE_COLUMNS}, attempts FROM deliveries WHERE id = ?`, id).toArray();
  if (!row) return undefined;
  const { event_id, type, resource, service, event, account, method, origin_path } = row;
  const sent = { id: event_id, type, resource, service, eventData: event, account, method, originPath: origin_path };
  return { event: sent, attempts: StoredAttempts.parse(JSON.parse(row.attempts)) };
}

function ofRow({ event_id, due: _, attempts, ...row }: ListedRow, nextTry: number | null): Delivery {
  return { ...row, eventId: event_id, nextTry, attempts: Attempts.parse(JSON.parse(attempts)) };
}

function ofPage({ number, created, state, attempts, entry: { id, eventId, type, resource } }: PageEvent, nextTry: number | null): Delivery {
  return { number, id, eventId, type, resource, state: state === "delivered" ? state : "pending", nextTry, created, attempts };
}
