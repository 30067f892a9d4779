import { and, eq, type SQL, sql } from "drizzle-orm";
import { panels } from "#db/schema/panels.ts";
import { quests } from "#db/schema/engagement/quests.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { includesPoll } from "./audience.ts";

const MAX_REFERENCES = 100;

/** Finds the panels (`poll`) and quests that use a poll, at most 100 of each. */
export async function findReferences(ctx: Ctx, pollId: string) {
  const [usingPanels, usingQuests] = await ctx.db.batch([panelsWith(ctx, pollId), questsWith(ctx, pollId)]);
  return [
    ...usingPanels.map((panel) => ({ ...panel, collection: "poll" as const })),
    ...usingQuests.map((quest) => ({ ...quest, collection: "quest" as const })),
  ];
}

/** The condition for deleting a poll: nothing uses it. */
export function isUnused(ctx: Ctx, pollId: string): SQL {
  return sql`not exists ${panelsWith(ctx, pollId)} and not exists ${questsWith(ctx, pollId)}`;
}

function panelsWith(ctx: Ctx, pollId: string) {
  return ctx.db
    .select({ _id: panels.id, name: panels.panelName })
    .from(panels)
    .where(and(eq(panels.siteId, ctx.siteId), includesPoll(pollId)))
    .limit(MAX_REFERENCES);
}

function questsWith(ctx: Ctx, pollId: string) {
  const usesPoll = sql`exists (select 1 from json_each(${quests.actions}) where json_extract(value, '$.validationValue') = ${pollId})`;
  return ctx.db
    .select({ _id: quests.id, name: quests.title })
    .from(quests)
    .where(and(eq(quests.siteId, ctx.siteId), usesPoll))
    .limit(MAX_REFERENCES);
}
