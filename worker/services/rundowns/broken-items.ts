import { and, isNotNull, or, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { polls } from "#db/schema/engagement/polls.ts";
import { quests } from "#db/schema/engagement/quests.ts";
import { overlays } from "#db/schema/overlays.ts";
import { rundowns } from "#db/schema/rundowns.ts";
import { streams } from "#db/schema/streams/streams.ts";
import { type Ctx, ownRow } from "#worker/services/core/context.ts";

/** Selects the ids of a rundown's items whose overlay, poll, quest or stream no longer exists, for use in a batch. */
export function selectBrokenItems(ctx: Ctx, rundownId: string) {
  const inItem = (path: string): SQL => sql`json_extract(item.value, ${path})`;
  const isGone = (table: SQLiteTable & { id: SQLiteColumn; siteId: SQLiteColumn }, path: string) =>
    and(
      isNotNull(inItem(path)),
      sql`not exists (select 1 from ${table} where ${table.id} = ${inItem(path)} and ${table.siteId} = ${ctx.siteId})`,
    );
  return ctx.db
    .select({ itemId: sql<string>`json_extract(item.value, '$._id')`.as("item_id") })
    .from(sql`${rundowns}, json_each(${rundowns.items}) as item`)
    .where(
      and(
        ownRow(ctx, rundowns, rundownId),
        or(isGone(overlays, "$.overlayId"), isGone(polls, "$.pollId"), isGone(quests, "$.questId"), isGone(streams, "$.streamId")),
      ),
    );
}
