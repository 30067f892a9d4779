import { and, eq } from "drizzle-orm";
import { claims, quests } from "#db/schema/engagement/quests.ts";
import { toClaimStatus } from "#worker/services/claim-statuses/schemas.ts";
import { type Ctx, ownRows } from "#worker/services/core/context.ts";
import { idIn } from "#worker/services/core/listing.ts";
import { questManager } from "./channel-admins.ts";
import { claimedAccount, observedOf, progressIn, selectReports } from "./progress.ts";
import { type QuestState, toQuest } from "./schemas.ts";

/** These quests with the caller's progress and claims, in the order of the ids; those that don't exist are left out. */
export async function listStates(ctx: Ctx, ids: string[]): Promise<QuestState[]> {
  const accountId = claimedAccount(ctx);
  const [rows, reports, claimed] = await ctx.db.batch([
    ctx.db
      .select()
      .from(quests)
      .where(ownRows(ctx, quests, ids)),
    selectReports(ctx, ids, accountId),
    ctx.db
      .select()
      .from(claims)
      .where(and(eq(claims.siteId, ctx.siteId), idIn(claims.questId, ids), eq(claims.accountId, accountId))),
  ]);
  const manages = await questManager(ctx);
  const observed = await observedOf(ctx, rows, accountId);
  return ids.flatMap((id) => {
    const quest = rows.find((row) => row.id === id);
    if (!quest) return [];
    const claim = claimed.find(({ questId }) => questId === id);
    const history = { ...observed, reports: reports.filter(({ questId }) => questId === id) };
    return {
      quest: toQuest(quest, manages(quest), ctx.now),
      progress: progressIn(quest, accountId, history),
      claim: claim ? toClaimStatus(claim) : null,
    };
  });
}
