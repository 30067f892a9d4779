import { and, eq } from "drizzle-orm";
import { claims, questReports } from "#db/schema/engagement/quests.ts";
import { type PersonalData, rowsOf } from "#worker/services/core/personal-data.ts";

const area = "quest";

/** A quest's progress isn't stored: it follows from these reports, poll responses and activity. */
export const questData: PersonalData[] = [
  rowsOf(
    {
      name: "questReports",
      area,
      description: "Quest actions that the viewer's client reported; all other progress follows from poll responses and activity",
    },
    {
      table: questReports,
      of: ({ siteId }, { accountId }) => and(eq(questReports.siteId, siteId), eq(questReports.accountId, accountId)),
      columns: {
        questId: questReports.questId,
        arrayId: questReports.arrayId,
        value: questReports.value,
        created: questReports.created,
      },
    },
  ),
  rowsOf(
    { name: "claims", area, description: "Claimed rewards" },
    {
      table: claims,
      of: ({ siteId }, { accountId }) => and(eq(claims.siteId, siteId), eq(claims.accountId, accountId)),
      columns: {
        _id: claims.id,
        questId: claims.questId,
        productId: claims.productId,
        rewardType: claims.rewardType,
        status: claims.status,
        message: claims.message,
        cost: claims.cost,
        charged: claims.charged,
        rewardAmount: claims.rewardAmount,
        created: claims.created,
        modified: claims.modified,
      },
    },
  ),
];
