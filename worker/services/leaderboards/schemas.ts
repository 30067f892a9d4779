import { z } from "@hono/zod-openapi";
import { LEADERBOARD_PERIODS, POINTS_SOURCES } from "#db/enums.ts";
import type { LeaderboardRow } from "#db/schema/engagement/leaderboards.ts";
import { fromQuery, Id, Time, Tracked } from "#worker/lib/schemas/common.ts";
import { listOf, listQuery } from "#worker/services/core/list-schemas.ts";

const MAX_POINTS = 1_000_000;
const MAX_AWARDS = 500;

const Points = z
  .number()
  .int()
  .min(-MAX_POINTS)
  .max(MAX_POINTS)
  .refine((points) => points !== 0, "Must not be 0");

export const PointsRule = z
  .strictObject({
    on: z
      .enum(POINTS_SOURCES)
      .describe(
        "`poll.answered`: a response to a poll, prediction or trivia question. `prediction.correct`, `trivia.correct`: the response was correct, once the poll is settled. `quest.completed`: a quest's reward was claimed, which requires all of its actions. `claim.succeeded`: a claimed reward was delivered. `minute.watched`: a whole minute of uninterrupted watching, at most one per minute on all screens. `message.liked`: another account's first reaction to a chat message, for its author",
      ),
    points: z.number().int().min(1).max(MAX_POINTS).openapi({ example: 50 }),
    perDay: z
      .number()
      .int()
      .min(1)
      .max(10_000)
      .optional()
      .describe("How often an account can get these points per day (UTC); no limit if omitted"),
  })
  .openapi("PointsRule");

const fields = {
  name: z.string().trim().min(1).max(200).openapi({ example: "Derby day" }),
  period: z.enum(LEADERBOARD_PERIODS).describe("`event` and `season` have a start and an end, `all` has neither"),
  startsAt: Time.nullish().describe(
    "Rules count what happens from then on, in milliseconds since 1970 UTC; required unless the period is `all`",
  ),
  endsAt: Time.nullish().describe("Rules count nothing from then on; required unless the period is `all`"),
  channelIds: z
    .array(Id)
    .max(200)
    .default([])
    .describe("The channels whose activity counts and whose viewers see the ranks; empty for the whole site"),
  rules: z
    .array(PointsRule)
    .max(POINTS_SOURCES.length)
    .refine((rules) => new Set(rules.map(({ on }) => on)).size === rules.length, "At most one rule for each `on`")
    .default([]),
};

interface Period {
  period: (typeof LEADERBOARD_PERIODS)[number];
  startsAt?: number | null | undefined;
  endsAt?: number | null | undefined;
}

export const LeaderboardInput = z
  .strictObject(fields)
  .superRefine(({ period, startsAt = null, endsAt = null }: Period, issues) => {
    const add = (path: keyof Period, message: string) => issues.addIssue({ code: "custom", path: [path], message });
    for (const [path, time] of [
      ["startsAt", startsAt],
      ["endsAt", endsAt],
    ] as const) {
      if (period === "all" && time !== null) add(path, "Only with the periods event and season");
      if (period !== "all" && time === null) add(path, "Required with the periods event and season");
    }
    if (startsAt !== null && endsAt !== null && startsAt >= endsAt) add("endsAt", "Must be after startsAt");
  })
  .openapi("LeaderboardInput", {
    example: {
      name: "Derby day",
      period: "event",
      startsAt: 1795166400000,
      endsAt: 1795180800000,
      channelIds: ["5eed0000000000000000c001"],
      rules: [
        { on: "poll.answered", points: 10 },
        { on: "prediction.correct", points: 50 },
        { on: "minute.watched", points: 1, perDay: 180 },
      ],
    },
  });

export const Leaderboard = z
  .object({
    _id: Id,
    siteId: Id,
    name: fields.name,
    period: fields.period,
    startsAt: Time.nullable(),
    endsAt: Time.nullable(),
    channelIds: z.array(Id),
    rules: z.array(PointsRule),
    ...Tracked,
  })
  .openapi("Leaderboard");

export const LeaderboardList = listOf(Leaderboard).openapi("LeaderboardList");

export const LeaderboardQuery = listQuery(["created", "name"], {
  period: z.enum(LEADERBOARD_PERIODS).optional(),
  channelId: Id.optional().openapi({ description: "Only leaderboards of this channel, and those of the whole site" }),
});

export const Rank = z
  .object({
    rank: z.number().int().positive().describe("Members with equal points share a rank; the next rank counts them all"),
    accountId: Id.nullable().describe("Null for an account that is hidden or deleted"),
    name: z.string().nullable().describe("The account's current name; null if it is hidden or deleted").openapi({ example: "Vera Viewer" }),
    points: z.number().int(),
  })
  .openapi("Rank");

export const RankList = listOf(Rank).openapi("RankList");

const PAGE_MAX = 200;

export const RankQuery = z.strictObject({
  limit: fromQuery(z.number().int().min(1).max(PAGE_MAX))
    .default(50)
    .openapi({ description: `At most ${PAGE_MAX}`, example: 50 }),
  offset: fromQuery(z.number().int().min(0)).default(0),
  cursor: z.string().max(200).optional().openapi({ description: "From `pagination.next`; keeps late pages as fast as the first" }),
});

const Neighbours = z.array(Rank).describe("In the order of the ranks");

export const OwnRank = z
  .object({
    rank: z.number().int().positive().nullable().describe("Null without points"),
    accountId: Id,
    name: z.string(),
    points: z.number().int(),
    hidden: z.boolean().describe("Whether the caller's account is hidden from others, see `leaderboardHidden` of the account"),
    members: z.number().int().nonnegative().describe("Members of the leaderboard, hidden and deleted ones included"),
    before: Neighbours,
    after: Neighbours,
  })
  .openapi("OwnRank");

export const OwnRankQuery = z.strictObject({
  neighbours: fromQuery(z.number().int().min(0).max(20))
    .default(2)
    .openapi({ description: "How many members to return before and after the caller, at most 20", example: 2 }),
});

const AwardFields = {
  accountId: Id,
  points: Points.describe("Other than 0; negative points correct earlier ones").openapi({ example: 25 }),
  reason: z.string().trim().max(200).default("").describe("For the ledger; not shown to viewers").openapi({ example: "Best costume" }),
  awardId: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe("Your id of the award: a repeated one changes nothing. Without it, a repeated request counts again")
    .openapi({ example: "costume-2026-11-20" }),
};

const Award = z.strictObject(AwardFields).openapi("Award");

export const AwardInput = z
  .strictObject({
    accountId: AwardFields.accountId.optional(),
    points: AwardFields.points.optional(),
    reason: AwardFields.reason,
    awardId: AwardFields.awardId,
    awards: z.array(Award).min(1).max(MAX_AWARDS).optional().describe(`Instead of the other fields: up to ${MAX_AWARDS} awards`),
  })
  .superRefine(({ awards, accountId, points, awardId, reason }, issues) => {
    const add = (path: string, message: string) => issues.addIssue({ code: "custom", path: [path], message });
    for (const [path, value] of Object.entries({ accountId, points })) {
      if (awards && value !== undefined) add(path, "Not together with awards");
      if (!awards && value === undefined) add(path, "Required without awards");
    }
    if (awards && (awardId !== undefined || reason !== "")) add("awards", "Each award has its own awardId and reason");
  })
  .openapi("AwardInput", {
    example: { accountId: "5eed0000000000000000a003", points: 25, reason: "Best costume", awardId: "costume-2026-11-20" },
  });

export const AwardResult = z
  .object({
    awardId: z.string(),
    accountId: Id,
    points: z.number().int(),
    status: z
      .enum(["awarded", "repeated", "rejected"])
      .describe("`repeated`: recorded before under this `awardId`. `rejected`: not recorded, see `message`"),
    total: z.number().int().nullable().describe("The account's points; null if the award was rejected"),
    code: z.enum(["not_found", "conflict"]).optional().describe("Why it was rejected"),
    message: z.string().optional(),
  })
  .openapi("AwardResult");

export const AwardResults = z.object({ awards: z.array(AwardResult).describe("In the order of the request") }).openapi("AwardResults");

export const PointsAwarded = z.object({
  leaderboardId: Id,
  siteId: Id,
  awards: z.number().int().positive().describe("How many awards"),
  points: z.number().int().describe("What they add up to"),
});

export type LeaderboardInput = z.output<typeof LeaderboardInput>;
export type LeaderboardQuery = z.output<typeof LeaderboardQuery>;
export type RankQuery = z.output<typeof RankQuery>;
export type AwardInput = z.output<typeof AwardInput>;
export type AwardResult = z.output<typeof AwardResult>;

export function toLeaderboard(row: LeaderboardRow) {
  return {
    _id: row.id,
    siteId: row.siteId,
    name: row.name,
    period: row.period,
    startsAt: row.startsAt,
    endsAt: row.endsAt,
    channelIds: row.channelIds,
    rules: row.rules,
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof Leaderboard>;
}
