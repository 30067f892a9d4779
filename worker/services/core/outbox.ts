import { and, asc, eq, getTableColumns, is, lt, lte, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import { SQLiteColumn, type SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Db } from "#db/client.ts";
import { siteDb } from "#db/databases.ts";
import { outbox, type OutboxEvent } from "#db/schema/events.ts";
import { newId } from "#worker/lib/ids.ts";
import { type Actor, type Ctx, describeActor } from "./context.ts";
import type { EventData, EventType } from "#worker/services/event-catalogue/event-catalogue.ts";

/** The maximum number of events, and of their characters, in one read. */
const MAX_EVENTS = 100;
const MAX_CHARS = 4_000_000;

/**
 * Reads a site's oldest events that are not in its log yet, in commit order, and whether there may be more. In the same round trip, deletes
 * those of the previous read, which the log has stored.
 */
export async function readOutbox(env: Env, siteId: string, taken: OutboxEvent[] = []): Promise<{ events: OutboxEvent[]; more: boolean }> {
  const db = siteDb(env, siteId);
  const last = taken.at(-1);
  const rows = last ? (await db.batch([deleteUpTo(db, siteId, last), oldestRows(db, siteId)]))[1] : await oldestRows(db, siteId);
  return { events: rows.map(({ event }) => event), more: rows.length === MAX_EVENTS || (rows.at(-1)?.upTo ?? 0) >= MAX_CHARS };
}

/** `upTo`: the characters of the events up to this one. The last row may exceed the maximum, so that there is always one. */
function oldestRows(db: Db, siteId: string) {
  const size = sql<number>`length(${outbox.data})`.as("size");
  const oldest = db
    .select({ id: outbox.id, size })
    .from(outbox)
    .where(eq(outbox.siteId, siteId))
    .orderBy(asc(outbox.id))
    .limit(MAX_EVENTS)
    .as("oldest");
  const upTo = sql<number>`sum(${oldest.size}) over (order by ${oldest.id})`.as("up_to");
  const measured = db.select({ id: oldest.id, size: oldest.size, upTo }).from(oldest).as("measured");
  return db
    .select({ event: getTableColumns(outbox), upTo: measured.upTo })
    .from(outbox)
    .innerJoin(measured, eq(measured.id, outbox.id))
    .where(lt(sql`${measured.upTo} - ${measured.size}`, MAX_CHARS))
    .orderBy(asc(outbox.id));
}

/** Of an event: a column of its row, or what the coming change sets. */
type FieldValue = SQLiteColumn | SQL | string | number | boolean | null;

/** The event of each row: `data` maps fields to columns, or to new values for the columns that the following change sets. */
interface RowEvents<Type extends EventType> {
  type: Type;
  area: string;
  table: SQLiteTable & { id: SQLiteColumn };
  where: SQL | undefined;
  /** The column with the id of the event's resource, if it isn't the row itself. */
  resource?: SQLiteColumn;
  data: { [Field in keyof EventData<Type>]: FieldValue };
}

/**
 * Inserts an event for each matching row, as it is at this point of the batch, such as before the statement that changes it. A
 * single statement for any number of rows, so none is missed or invented.
 */
export function insertEventsForRows<Type extends EventType>(
  ctx: Ctx,
  actor: Actor,
  { type, area, table, where, resource = table.id, data }: RowEvents<Type>,
): BatchItem<"sqlite"> {
  ctx.emitted.siteIds.add(ctx.siteId);
  const fields = sql.join(
    Object.entries<FieldValue>(data).map(([name, value]) => sql`${name}, ${jsonValue(value)}`),
    sql`, `,
  );
  const eventId = sql`${newId(ctx.now).slice(0, 12)} || lower(hex(randomblob(6)))`;
  const rest = sql`${describeActor(actor)}, ${ctx.requestId}, ${ctx.origin ?? null}, ${ctx.now}`;
  return ctx.db.insert(outbox).select(
    sql`select null, ${ctx.siteId}, ${eventId}, ${type}, ${`${area}/`} || ${resource}, json_object(${fields}), ${rest}
      from ${table} where ${where} order by ${table.id}`,
  );
}

/** A value of `json_object`, which would quote JSON as text and has numbers for booleans. */
function jsonValue(value: FieldValue): FieldValue {
  if (typeof value === "boolean") return sql`json(${String(value)})`;
  if (!is(value, SQLiteColumn)) return value;
  if (value.dataType === "json") return sql`json(${value})`;
  return value.dataType === "boolean" ? sql`json(iif(${value}, 'true', 'false'))` : value;
}

/** Deletes events that the log has stored. D1 assigns ids in commit order, so no older event can appear later. */
export async function dropFromOutbox(env: Env, siteId: string, taken: OutboxEvent[]): Promise<void> {
  const last = taken.at(-1);
  if (last) await deleteUpTo(siteDb(env, siteId), siteId, last);
}

function deleteUpTo(db: Db, siteId: string, last: OutboxEvent) {
  return db.delete(outbox).where(and(eq(outbox.siteId, siteId), lte(outbox.id, last.id)));
}

/** Lists sites with events older than `before`, whose nudge was lost. */
export async function sitesWithPendingEvents(db: Db, before: number): Promise<string[]> {
  const rows = await db.selectDistinct({ siteId: outbox.siteId }).from(outbox).where(lt(outbox.created, before));
  return rows.map((row) => row.siteId);
}
