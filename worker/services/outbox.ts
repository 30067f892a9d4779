import { and, asc, eq, getTableColumns, lt, lte, sql } from "drizzle-orm";
import { createDb, type Db } from "../../db/client.ts";
import { outbox } from "../../db/schema/index.ts";

export type OutboxEvent = typeof outbox.$inferSelect;

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
