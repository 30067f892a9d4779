import { z } from "@hono/zod-openapi";
import { QUEST_KINDS, REWARD_TYPES } from "#db/enums.ts";
import type { QuestRow } from "#db/schema/engagement/quests.ts";
import type { QuestAction as QuestActionColumn } from "#db/types.ts";
import { ClaimStatus } from "#worker/services/claim-statuses/schemas.ts";
import { listQuery } from "#worker/services/core/list-schemas.ts";
import { commaSeparated, fromQuery, Id, ImageUrl, LinkUrl, orNull, Tags, Time, Tracked } from "#worker/lib/schemas/common.ts";
import { ID_PATTERN } from "#worker/lib/ids.ts";
import { ANY_VALUE, KIND_RULES, phaseOf, requiredOf } from "./quest-rules.ts";
import { RAFFLE_ALGORITHM } from "./raffle-draw.ts";

const MAX_AMOUNT = 99_999_999;
const Title = z.string().trim().min(1).max(200);
const Text = z.string().max(5000);
const Key = z.string().min(1).max(200).nullable();
const Value = z.string().min(1).max(2000);

/** Eleven digits suffice until the year 5138; thirteen would be milliseconds. */
const Seconds = z
  .number()
  .int()
  .min(0)
  .max(99_999_999_999, "Must be in seconds, not milliseconds")
  .nullable()
  .describe("UNIX time in seconds; null means unbounded")
  .openapi({ example: 1795273200 });

export const ArrayId = z
  .string()
  .regex(/^[A-Za-z0-9]{9}$/, "Must be nine letters or digits")
  .describe("Identifies the action within its quest")
  .openapi({ example: "a1B2c3D4e" });

const actionFields = {
  arrayId: ArrayId,
  body: z.string().trim().min(1).max(2000).describe("What the viewer is asked to do"),
  kind: z.enum(QUEST_KINDS),
  callToAction: Value.nullable().describe("Where the viewer is sent; required for links, shares, panels, and specific polls and videos"),
  channelId: Id.nullable().describe("The channel on which watching, visiting or opening counts; null for the whole site"),
  timeMinimum: Seconds,
  timeMaximum: Seconds,
  validationValue: Value.nullable().describe(
    "The required value: a URL for open:link; the id of the video, channel, poll or panel for kinds with a specific one. `*` or null for any",
  ),
  valueRequired: z
    .number()
    .int()
    .min(1)
    .max(100_000)
    .nullable()
    .describe("Minutes to watch, or the number of polls to answer or of retweets; null means one. Other kinds always require one"),
};

const optional = { timeMinimum: Seconds.default(null), timeMaximum: Seconds.default(null) };

export const QuestAction = z.object(actionFields).openapi("QuestAction");

const QuestActionInput = z
  .strictObject({
    ...actionFields,
    ...optional,
    callToAction: actionFields.callToAction.default(null),
    channelId: actionFields.channelId.default(null),
    validationValue: actionFields.validationValue.default(null),
    valueRequired: actionFields.valueRequired.default(null),
  })
  .superRefine((action, issues) => {
    const add = (field: string, message: string) => issues.addIssue({ code: "custom", path: [field], message });
    const { source, needsCallToAction, needsWindow, validates } = KIND_RULES[action.kind];
    if (needsCallToAction && action.callToAction === null) add("callToAction", `Required for ${action.kind}`);
    if (needsWindow && action.timeMinimum === null) add("timeMinimum", `Required for ${action.kind}`);
    if (needsWindow && action.timeMaximum === null) add("timeMaximum", `Required for ${action.kind}`);
    if (isReversed(action)) add("timeMaximum", "Must not be before timeMinimum");
    const { validationValue: value } = action;
    if (value === null || value === ANY_VALUE) return;
    if (source === "report" && requiredOf(action) > 1)
      add("valueRequired", "Must be 1, because a single validationValue can only be reported once");
    if (validates === "url" && !LinkUrl.safeParse(value).success)
      add("validationValue", `Must be a URL or ${ANY_VALUE} for ${action.kind}`);
    if (validates === "id" && !ID_PATTERN.test(value)) add("validationValue", `Must be an id or ${ANY_VALUE} for ${action.kind}`);
  })
  .openapi("QuestActionInput");

const fields = {
  siteId: Id.describe("Must equal Tifo-Client-Id"),
  title: Title.openapi({ example: "First half hero" }),
  description: Text,
  rewardDescription: Text,
  rewardImage: ImageUrl.nullable(),
  rewardType: z
    .enum(REWARD_TYPES)
    .describe(
      "`raffle`: an entry in the draw; `prize`: granted with the claim if productId is a sku of the site, or null with a rewardAmount; the others are fulfilled by the site's systems",
    ),
  productId: z.string().min(1).max(100).nullable().describe("The product of the reward; a sku of the site is granted automatically"),
  claimCost: z.number().int().min(0).max(MAX_AMOUNT).describe("What a claim costs, in minor units of the claimant's wallet; 0: nothing"),
  rewardAmount: z
    .number()
    .int()
    .min(0)
    .max(MAX_AMOUNT)
    .describe("What the reward pays into the claimant's wallet, in minor units; only for a `prize`"),
  regions: z
    .array(z.string().regex(/^[A-Z]{2}$/, "Must be a two-letter country code (ISO 3166-1)"))
    .max(300)
    .describe("Countries where the reward is available; everywhere if empty"),
  claimedMessage: Text.describe("The `message` of a claim, such as a code; empty for callers who don't manage the quest"),
  timeMinimum: Seconds,
  timeMaximum: Seconds,
  webhookId: Key.describe(
    "Sent with the event `quest.claimed`, like webhookType and webhookValue; null for callers who don't manage the quest",
  ),
  webhookType: Key,
  webhookValue: z.string().max(5000).nullable(),
  channelIds: z.array(Id).max(200).describe("Channels of the quest; the whole site if empty"),
  tags: Tags,
};

const Actions = z
  .array(QuestActionInput)
  .max(100)
  .refine((actions) => new Set(actions.map(({ arrayId }) => arrayId)).size === actions.length, "Each arrayId must be unique");

export const QuestInput = z
  .strictObject({
    ...fields,
    ...optional,
    rewardImage: fields.rewardImage.default(null),
    productId: fields.productId.default(null),
    claimCost: fields.claimCost.default(0),
    rewardAmount: fields.rewardAmount.default(0),
    regions: fields.regions.default([]),
    webhookId: fields.webhookId.default(null),
    webhookType: fields.webhookType.default(null),
    webhookValue: fields.webhookValue.default(null),
    channelIds: fields.channelIds.default([]),
    actions: Actions.default([]),
    tags: fields.tags.default([]),
  })
  .refine((quest) => !isReversed(quest), { path: ["timeMaximum"], message: "Must not be before timeMinimum" })
  .refine(({ rewardType, rewardAmount }) => rewardAmount === 0 || rewardType === "prize", {
    path: ["rewardAmount"],
    message: "Must be 0 unless rewardType is prize",
  })
  .openapi("QuestInput", {
    example: {
      siteId: "5eed00000000000000000001",
      title: "First half hero",
      description: "Read the line-up before kick-off.",
      rewardDescription: "A signed shirt, drawn at full time",
      rewardType: "raffle",
      claimedMessage: "You are in the draw.",
      channelIds: ["5eed0000000000000000c001"],
      actions: [
        {
          arrayId: "a1B2c3D4e",
          body: "Read the line-up",
          kind: "open:link",
          callToAction: "https://demo.example/line-up",
          validationValue: "https://demo.example/line-up",
        },
      ],
    },
  });

export const Raffle = z
  .object({
    commitment: z.string().describe("SHA-256 of the seed, published when the raffle is created"),
    algorithm: z.string(),
    drawnAt: Time.nullable(),
    seed: z.string().nullable().describe("Published once the raffle is drawn"),
    winners: z.array(Id).nullable().describe("The winning claims, once the raffle is drawn"),
  })
  .openapi("Raffle");

export const Quest = z
  .object({
    _id: Id,
    ...fields,
    siteId: Id,
    actions: z.array(QuestAction),
    raffle: orNull(Raffle).describe("Present if the reward is a raffle"),
    state: z
      .enum(["upcoming", "open", "ended"])
      .describe("By its timeMinimum and timeMaximum, now. `quest.opened` and `quest.ended` announce a change within a second"),
    ...Tracked,
  })
  .openapi("Quest");

const SORT_FIELDS = ["modified", "created", "title"] as const;
const Moment = fromQuery(z.number().int()).optional();

/** Filters by any property of a quest, as `?property=value`. */
export const QuestQuery = listQuery(SORT_FIELDS, {
  _id: Id.optional(),
  siteId: Id.optional(),
  title: z.string().max(200).optional(),
  description: z.string().max(5000).optional(),
  rewardType: z.enum(REWARD_TYPES).optional(),
  productId: z.string().max(100).optional(),
  webhookId: z.string().max(200).optional().describe("Of the quests that the caller manages"),
  webhookType: z.string().max(200).optional().describe("Of the quests that the caller manages"),
  channelIds: Id.optional().describe("Only quests on this channel"),
  tags: z.string().max(100).optional().describe("Only quests with this tag"),
  timeMinimum: Moment.describe("Seconds since 1970 UTC"),
  timeMaximum: Moment.describe("Seconds since 1970 UTC"),
  created: Moment.describe("Milliseconds since 1970 UTC"),
  modified: Moment.describe("Milliseconds since 1970 UTC"),
});

export const ActionParam = z.object({ id: Id, arrayId: ArrayId });

export const QuestProgress = z
  .object({
    questId: Id,
    accountId: Id,
    complete: z.boolean().describe("Whether every action is done; a quest without actions never is"),
    actions: z.array(
      z.object({
        arrayId: ArrayId,
        kind: z.enum(QUEST_KINDS),
        current: z.number().int().describe("How much has been done, in the unit of `required`"),
        required: z.number().int(),
        done: z.boolean(),
      }),
    ),
  })
  .openapi("QuestProgress");

export const QuestStatesQuery = z.strictObject({
  ids: commaSeparated(Id, 20, "5eed00000000000000006102,5eed00000000000000006103").describe("Ids of quests, at most 20, comma-separated"),
});

export const QuestState = z
  .object({ quest: Quest, progress: QuestProgress, claim: orNull(ClaimStatus).describe("The caller's own; null without one") })
  .openapi("QuestState");

export const ActionReport = z
  .strictObject({ value: z.string().min(1).max(2000).optional().describe("What was opened, shared or retweeted") })
  .openapi("ActionReport", { example: { value: "https://demo.example/line-up" } });

export const DrawInput = z
  .strictObject({ winners: z.number().int().min(1).max(1000).describe("Number of winners") })
  .openapi("DrawInput", { example: { winners: 1 } });

export const RaffleResult = z
  .object({
    winners: z.array(z.object({ claimId: Id, accountId: Id })).describe("In draw order"),
    entrants: z.array(Id).describe("The claims that took part"),
    seed: z.string(),
    commitment: z.string(),
    algorithm: z.string(),
  })
  .openapi("RaffleResult");

export type QuestInput = z.output<typeof QuestInput>;
export type QuestQuery = z.output<typeof QuestQuery>;
export type QuestState = z.output<typeof QuestState>;
export type QuestProgress = z.output<typeof QuestProgress>;
export type RaffleResult = z.output<typeof RaffleResult>;

const STATES = { early: "upcoming", open: "open", over: "ended" } as const;

/** The wire form; only callers who manage the quest see its internal fields. */
export function toQuest(row: QuestRow, manages: boolean, now: number) {
  return {
    _id: row.id,
    siteId: row.siteId,
    title: row.title,
    description: row.description,
    rewardDescription: row.rewardDescription,
    rewardImage: row.rewardImage,
    rewardType: row.rewardType,
    productId: row.productId,
    claimCost: row.claimCost,
    rewardAmount: row.rewardAmount,
    regions: row.regions,
    claimedMessage: manages ? row.claimedMessage : "",
    timeMinimum: row.timeMinimum,
    timeMaximum: row.timeMaximum,
    webhookId: manages ? row.webhookId : null,
    webhookType: manages ? row.webhookType : null,
    webhookValue: manages ? row.webhookValue : null,
    channelIds: row.channelIds,
    actions: row.actions,
    tags: row.tags,
    raffle: toRaffle(row),
    state: STATES[phaseOf(row, now)],
    created: row.created,
    modified: row.modified,
  } satisfies z.output<typeof Quest>;
}

function toRaffle({ rewardType, raffleCommitment: commitment, raffleDraw: draw }: QuestRow): z.output<typeof Raffle> | null {
  if (rewardType !== "raffle" || commitment === null) return null;
  return {
    commitment,
    algorithm: RAFFLE_ALGORITHM,
    drawnAt: draw?.at ?? null,
    seed: draw?.seed ?? null,
    winners: draw?.winners.map(({ claimId }) => claimId) ?? null,
  };
}

function isReversed({ timeMinimum, timeMaximum }: Pick<QuestActionColumn, "timeMinimum" | "timeMaximum">): boolean {
  return timeMinimum !== null && timeMaximum !== null && timeMaximum < timeMinimum;
}
