import { z } from "@hono/zod-openapi";
import { QUEST_KINDS, REWARD_TYPES } from "#db/enums.ts";
import type { QuestRow } from "#db/schema/index.ts";
import type { QuestAction as QuestActionColumn } from "#db/types.ts";
import { listQuery } from "#worker/services/core/list-schemas.ts";
import { fromQuery, Id, ImageUrl, LinkUrl, orNull, Tags, Time, Tracked } from "#worker/lib/schemas/common.ts";
import { ID_PATTERN } from "#worker/lib/ids.ts";
import { ANY_VALUE, KIND_RULES, requiredOf } from "./quest-rules.ts";
import { RAFFLE_ALGORITHM } from "./raffle-draw.ts";

const Title = z.string().trim().min(1).max(200);
const Text = z.string().max(5000);
const Key = z.string().min(1).max(200).nullable();
const Value = z.string().min(1).max(2000);

/** Eleven digits last until the year 5138; thirteen are milliseconds. */
const Seconds = z
  .number()
  .int()
  .min(0)
  .max(99_999_999_999, "Seconds, not milliseconds")
  .nullable()
  .describe("UNIX time, in seconds; null: open")
  .openapi({ example: 1795273200 });

export const ArrayId = z
  .string()
  .regex(/^[A-Za-z0-9]{9}$/, "Nine letters or digits")
  .describe("Names the action within its quest")
  .openapi({ example: "a1B2c3D4e" });

const actionFields = {
  arrayId: ArrayId,
  body: z.string().trim().min(1).max(2000).describe("What the viewer is asked to do"),
  kind: z.enum(QUEST_KINDS),
  callToAction: Value.nullable().describe(
    "What the viewer is led to; required for links, shares, panels, and polls and videos that are named",
  ),
  channelId: Id.nullable().describe("Where it counts what is watched, visited or opened; null: on the whole site"),
  timeMinimum: Seconds,
  timeMaximum: Seconds,
  validationValue: Value.nullable().describe(
    "What it must be: a URL for open:link; the id of the video, channel, poll or panel for kinds that name one. `*` or null: any",
  ),
  valueRequired: z
    .number()
    .int()
    .min(1)
    .max(100_000)
    .nullable()
    .describe("Minutes to watch, or how many polls to answer, or retweets to make; null: one. Other kinds ask for one whatever it says"),
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
    if (source === "report" && requiredOf(action) > 1) add("valueRequired", "Of one validationValue there is one report");
    if (validates === "url" && !LinkUrl.safeParse(value).success) add("validationValue", `A URL or ${ANY_VALUE} for ${action.kind}`);
    if (validates === "id" && !ID_PATTERN.test(value)) add("validationValue", `An id or ${ANY_VALUE} for ${action.kind}`);
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
      "`raffle`: an entry in its draw; `prize`: granted with the claim where productId is a sku of the site; the others are given by the site's systems",
    ),
  productId: z.string().min(1).max(100).nullable().describe("What the reward is; a sku of the site is granted"),
  regions: z
    .array(z.string().regex(/^[A-Z]{2}$/, "A country's two letters (ISO 3166-1)"))
    .max(300)
    .describe("Countries where the reward is given; none: everywhere"),
  claimedMessage: Text.describe("Told to whoever has claimed the reward"),
  timeMinimum: Seconds,
  timeMaximum: Seconds,
  webhookId: Key.describe(
    "Told with the event `quest.claimed`, as webhookType and webhookValue are; null to those who don't manage the quest",
  ),
  webhookType: Key,
  webhookValue: z.string().max(5000).nullable(),
  channelIds: z.array(Id).max(200).describe("Channels of the quest; none: the whole site"),
  tags: Tags,
};

const Actions = z
  .array(QuestActionInput)
  .max(100)
  .refine((actions) => new Set(actions.map(({ arrayId }) => arrayId)).size === actions.length, "Each arrayId once");

export const QuestInput = z
  .strictObject({
    ...fields,
    ...optional,
    rewardImage: fields.rewardImage.default(null),
    productId: fields.productId.default(null),
    regions: fields.regions.default([]),
    webhookId: fields.webhookId.default(null),
    webhookType: fields.webhookType.default(null),
    webhookValue: fields.webhookValue.default(null),
    channelIds: fields.channelIds.default([]),
    actions: Actions.default([]),
    tags: fields.tags.default([]),
  })
  .refine((quest) => !isReversed(quest), { path: ["timeMaximum"], message: "Must not be before timeMinimum" })
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
    commitment: z.string().describe("SHA-256 of the seed, shown from the beginning"),
    algorithm: z.string(),
    drawnAt: Time.nullable(),
    seed: z.string().nullable().describe("Shown once it is drawn"),
    winners: z.array(Id).nullable().describe("The claims that won, once it is drawn"),
  })
  .openapi("Raffle");

export const Quest = z
  .object({
    _id: Id,
    ...fields,
    siteId: Id,
    actions: z.array(QuestAction),
    raffle: orNull(Raffle).describe("Where the reward is one"),
    ...Tracked,
  })
  .openapi("Quest");

const SORT_FIELDS = ["modified", "created", "title"] as const;
const Moment = fromQuery(z.number().int()).optional();

/** Any property of a quest, as `?property=value`. */
export const QuestQuery = listQuery(SORT_FIELDS, {
  _id: Id.optional(),
  siteId: Id.optional(),
  title: z.string().max(200).optional(),
  description: z.string().max(5000).optional(),
  rewardType: z.enum(REWARD_TYPES).optional(),
  productId: z.string().max(100).optional(),
  webhookId: z.string().max(200).optional(),
  webhookType: z.string().max(200).optional(),
  channelIds: Id.optional().describe("A channel that it has"),
  tags: z.string().max(100).optional().describe("A tag that it has"),
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
        current: z.number().int().describe("How much of it has happened, in the unit of `required`"),
        required: z.number().int(),
        done: z.boolean(),
      }),
    ),
  })
  .openapi("QuestProgress");

export const ActionReport = z
  .strictObject({ value: z.string().min(1).max(2000).optional().describe("What was opened, shared or retweeted") })
  .openapi("ActionReport", { example: { value: "https://demo.example/line-up" } });

export const DrawInput = z
  .strictObject({ winners: z.number().int().min(1).max(1000).describe("How many win") })
  .openapi("DrawInput", { example: { winners: 1 } });

export const RaffleResult = z
  .object({
    winners: z.array(z.object({ claimId: Id, accountId: Id })).describe("In the order of the draw"),
    entrants: z.array(Id).describe("The claims that took part"),
    seed: z.string(),
    commitment: z.string(),
    algorithm: z.string(),
  })
  .openapi("RaffleResult");

export type QuestInput = z.output<typeof QuestInput>;
export type QuestQuery = z.output<typeof QuestQuery>;
export type QuestProgress = z.output<typeof QuestProgress>;
export type RaffleResult = z.output<typeof RaffleResult>;

/** The wire form; what is for the site's own systems is shown to those alone who manage the quest. */
export function toQuest(row: QuestRow, manages: boolean) {
  return {
    _id: row.id,
    siteId: row.siteId,
    title: row.title,
    description: row.description,
    rewardDescription: row.rewardDescription,
    rewardImage: row.rewardImage,
    rewardType: row.rewardType,
    productId: row.productId,
    regions: row.regions,
    claimedMessage: row.claimedMessage,
    timeMinimum: row.timeMinimum,
    timeMaximum: row.timeMaximum,
    webhookId: manages ? row.webhookId : null,
    webhookType: manages ? row.webhookType : null,
    webhookValue: manages ? row.webhookValue : null,
    channelIds: row.channelIds,
    actions: row.actions,
    tags: row.tags,
    raffle: toRaffle(row),
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
