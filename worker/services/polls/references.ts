import { and, eq, type SQL, sql } from "drizzle-orm";
import { panels, quests } from "#db/schema/index.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { asksPoll } from "./audience.ts";

const MOST = 100;

/** What uses a poll: the panels (`poll`) and quests that name it, 100 of each at most. */
export async function findReferences(ctx: Ctx, pollId: string) {
  const [asking, rewarding] = await ctx.db.batch([panelsWith(ctx, pollId), questsWith(ctx, pollId)]);
  return [
    ...asking.map((panel) => ({ ...panel, collection: "poll" as const })),
    ...rewarding.map((quest) => ({ ...quest, collection: "quest" as const })),
  ];
}

/** The same as a condition on what deletes the poll. */
export function isUnused(ctx: Ctx, pollId: string): SQL {
  return sql`not exists ${panelsWith(ctx, pollId)} and not exists ${questsWith(ctx, pollId)}`;
}

function panelsWith(ctx: Ctx, pollId: string) {
  return ctx.db
    .select({ _id: panels.id, name: panels.panelName })
    .from(panels)
    .where(and(eq(panels.siteId, ctx.siteId), asksPoll(pollId)))
    .limit(MOST);
}

function questsWith(ctx: Ctx, pollId: string) {
  const named = sql`exists (select 1 from json_each(${quests.actions}) where json_extract(value, '$.validationValue') = ${pollId})`;
  return ctx.db
    .select({ _id: quests.id, name: quests.title })
    .from(quests)
    .where(and(eq(quests.siteId, ctx.siteId), named))
    .limit(MOST);
}
