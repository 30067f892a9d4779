import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { CLAIM_STATUSES, REWARD_TYPES } from "#db/enums.ts";
import type { QuestAction, RaffleDraw } from "#db/types.ts";
import { id, siteId, time, tracked } from "#db/schema/columns.ts";

/** Actions that viewers complete for a reward. `timeMinimum` and `timeMaximum` are seconds since 1970 UTC, as in the actions. */
export const quests = sqliteTable(
  "quests",
  {
    id: id(),
    siteId: siteId(),
    title: text("title").notNull(),
    description: text("description").notNull(),
    rewardDescription: text("reward_description").notNull(),
    rewardImage: text("reward_image"),
    rewardType: text("reward_type", { enum: REWARD_TYPES }).notNull(),
    /** The reward. If it is a SKU of the site, the claim of a prize grants it. */
    productId: text("product_id"),
    /** What a claim costs, and what the reward of a prize pays, in minor units of the claimant's wallet. */
    claimCost: integer("claim_cost").notNull().default(0),
    rewardAmount: integer("reward_amount").notNull().default(0),
    /** Countries where the reward is available; empty: everywhere. */
    regions: text("regions", { mode: "json" }).$type<string[]>().notNull(),
    claimedMessage: text("claimed_message").notNull(),
    timeMinimum: integer("time_minimum"),
    timeMaximum: integer("time_maximum"),
    webhookId: text("webhook_id"),
    webhookType: text("webhook_type"),
    webhookValue: text("webhook_value"),
    channelIds: text("channel_ids", { mode: "json" }).$type<string[]>().notNull(),
    actions: text("actions", { mode: "json" }).$type<QuestAction[]>().notNull(),
    tags: text("tags", { mode: "json" }).$type<string[]>().notNull(),
    /** The seed of a raffle, secret until the draw, and its SHA-256, public from the start. */
    raffleSeed: text("raffle_seed"),
    raffleCommitment: text("raffle_commitment"),
    raffleDraw: text("raffle_draw", { mode: "json" }).$type<RaffleDraw>(),
    ...tracked(),
  },
  (table) => [index("quests_site_modified").on(table.siteId, table.modified, table.id)],
);

/** Actions reported by a viewer's client, because the server can't see them. */
export const questReports = sqliteTable(
  "quest_reports",
  {
    siteId: siteId(),
    questId: text("quest_id").notNull(),
    accountId: text("account_id").notNull(),
    arrayId: text("array_id").notNull(),
    value: text("value").notNull(),
    created: time("created").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.siteId, table.questId, table.accountId, table.arrayId, table.value] }),
    index("quest_reports_account").on(table.siteId, table.accountId),
  ],
);

/** A reward that a viewer has claimed, once per quest. It is kept when its quest is deleted. */
export const claims = sqliteTable(
  "claims",
  {
    id: id(),
    siteId: siteId(),
    questId: text("quest_id").notNull(),
    accountId: text("account_id").notNull(),
    productId: text("product_id"),
    rewardType: text("reward_type", { enum: REWARD_TYPES }).notNull(),
    status: text("status", { enum: CLAIM_STATUSES }).notNull(),
    message: text("message"),
    /** The quest's cost and amount at the time of the claim, and how much of the cost the wallet has paid. */
    cost: integer("cost").notNull().default(0),
    charged: integer("charged").notNull().default(0),
    rewardAmount: integer("reward_amount").notNull().default(0),
    /** Whether it was part of the draw of its quest's raffle. */
    drawn: integer("drawn", { mode: "boolean" }).notNull().default(false),
    ...tracked(),
  },
  (table) => [
    uniqueIndex("claims_quest_account").on(table.siteId, table.questId, table.accountId),
    index("claims_site_modified").on(table.siteId, table.modified, table.id),
    index("claims_account").on(table.siteId, table.accountId, table.modified, table.id),
  ],
);

export type ClaimRow = typeof claims.$inferSelect;

export type QuestRow = typeof quests.$inferSelect;
