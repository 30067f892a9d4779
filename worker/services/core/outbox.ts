import { and, asc, eq, getTableColumns, lt, lte, type SQL, sql } from "drizzle-orm";
import type { BatchItem } from "drizzle-orm/batch";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { createDb, type Db } from "#db/client.ts";
import { outbox, type OutboxEvent } from "#db/schema/index.ts";
import { newId } from "#worker/lib/ids.ts";
import { type Actor, type Ctx, describeActor } from "./context.ts";
import type { EventType } from "#worker/services/event-catalogue/event-catalogue.ts";

/** Events, and characters of them, that are read at once. */
const MOST_EVENTS = 100;
const MOST_CHARS = 4_000_000;

/** A site's oldest events that its log has yet to take, in order of commit, and whether there may be more. */
export async function readOutbox(env: Env, siteId: string): Promise<{ events: OutboxEvent[]; more: boolean }> {
  const db = createDb(env.DB);
  const size = sql<number>`length(${outbox.data})`.as("size");
  const oldest = db
    .select({ id: outbox.id, size })
    .from(outbox)
    .where(eq(outbox.siteId, siteId))
    .orderBy(asc(outbox.id))
    .limit(MOST_EVENTS)
    .as("oldest");
  const upTo = sql<number>`sum(${oldest.size}) over (order by ${oldest.id})`.as("up_to");
  const measured = db.select({ id: oldest.id, size: oldest.size, upTo }).from(oldest).as("measured");
  const rows = await db
    .select({ event: getTableColumns(outbox), upTo: measured.upTo })
    .from(outbox)
    .innerJoin(measured, eq(measured.id, outbox.id))
    .where(lt(sql`${measured.upTo} - ${measured.size}`, MOST_CHARS))
    .orderBy(asc(outbox.id));
  return { events: rows.map(({ event }) => event), more: rows.length === MOST_EVENTS || (rows.at(-1)?.upTo ?? 0) >= MOST_CHARS };
}

/** What is told of each row of a table: `data` by its fields, of which those that the coming change sets are given as they will be. */
interface RowEvents {
  type: EventType;
  area: string;
  table: SQLiteTable & { id: SQLiteColumn };
  where: SQL | undefined;
  data: Record<string, SQLiteColumn | SQL>;
}

/**
 * An event for each of some rows as they are at this place of a batch, such as before the statement that changes them: one statement,
 * however many they are, and none is missed or made up.
 */
export function insertEventsForRows(ctx: Ctx, actor: Actor, { type, area, table, where, data }: RowEvents): BatchItem<"sqlite"> {
  ctx.emitted.siteIds.add(ctx.siteId);
  const fields = sql.join(
    Object.entries(data).map(([name, value]) => sql`${name}, ${value}`),
    sql`, `,
  );
  const eventId = sql`${newId(ctx.now).slice(0, 12)} || lower(hex(randomblob(6)))`;
  const rest = sql`${describeActor(actor)}, ${ctx.requestId}, ${ctx.origin ?? null}, ${ctx.now}`;
  return ctx.db.insert(outbox).select(
    sql`select null, ${ctx.siteId}, ${eventId}, ${type}, ${`${area}/`} || ${table.id}, json_object(${fields}), ${rest}
      from ${table} where ${where} order by ${table.id}`,
  );
}

/** Drops what the log has taken: D1 gives ids in order of commit, so nothing older can come later. */
export async function dropFromOutbox(env: Env, siteId: string, taken: OutboxEvent[]): Promise<void> {
  const last = taken.at(-1);
  if (last)
    await createDb(env.DB)
      .delete(outbox)
      .where(and(eq(outbox.siteId, siteId), lte(outbox.id, last.id)));
}

/** Sites whose events have waited since before `before`: their nudge was lost. */
export async function sitesWaiting(db: Db, before: number): Promise<string[]> {
  const rows = await db.selectDistinct({ siteId: outbox.siteId }).from(outbox).where(lt(outbox.created, before));
  return rows.map((row) => row.siteId);
}
