import { and, asc, eq, lt, lte } from "drizzle-orm";
import { createDb, type Db } from "../../db/client.ts";
import { outbox } from "../../db/schema/index.ts";

export type OutboxEvent = typeof outbox.$inferSelect;

/** A site's oldest events that its log has yet to take, in order of commit. */
export async function readOutbox(env: Env, siteId: string, limit: number): Promise<OutboxEvent[]> {
  return createDb(env.DB).select().from(outbox).where(eq(outbox.siteId, siteId)).orderBy(asc(outbox.id)).limit(limit);
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
