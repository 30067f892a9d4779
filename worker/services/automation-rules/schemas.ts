import { z } from "@hono/zod-openapi";
import { FIRING_OUTCOMES, RULE_BEHAVIORS, RULE_OPERATORS, RULE_SCOPES, RULE_SEGMENTS } from "#db/enums.ts";
import type { RuleRow } from "#db/schema/automation-rules.ts";
import type { RuleTargeting } from "#db/types.ts";
import { Broadcast } from "#worker/durable-objects/channel/channel.protocol.ts";
import { listQuery } from "#worker/services/core/list-schemas.ts";
import { FreeObject, Id, QueryBoolean, queryJson, Time, Tracked } from "#worker/lib/schemas/common.ts";
import { SegmentSlug } from "#worker/lib/segments.ts";
import { TagId, Timecode } from "#worker/services/overlays/schemas.ts";
import { pickFields } from "#worker/services/core/fields.ts";

const BINDING = ["static", "dynamic"] as const;
const FactPath = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^.]+(\.[^.]+)*$/, "A dotted path");
const Scalar = z.union([z.string().max(1000), z.number(), z.boolean()]);

/** A static value, or the dotted path of a value in the event. */
function binding<T extends z.ZodType>(value: T) {
  return z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal(BINDING[0]), value }),
    z.strictObject({ type: z.literal(BINDING[1]), value: FactPath }),
  ]);
}

const Trigger = z
  .strictObject({
    dataProviderId: Id,
    fact: FactPath.openapi({ example: "match.score.home" }),
    operator: z.enum(RULE_OPERATORS),
    value: Scalar.describe('Compared by type: 2 doesn\'t equal "2"'),
    behavior: z.enum(RULE_BEHAVIORS),
    delaySeconds: z.number().int().min(1).max(86_400).optional().describe("For delayed rules; 5 by default"),
  })
  .openapi("RuleTrigger");

const Target = binding(z.union([z.string().max(500), z.array(Id).min(1).max(50)]));

const Targeting = z
  .strictObject({
    scope: z
      .enum(RULE_SCOPES)
      .describe(
        "`channel`: the rule's own channel, which the target can repeat; `specific_channels` and `channel_metadata`: the channels given by the target",
      ),
    target: Target.optional().describe("Channel ids, or the text of one of the external fields; if dynamic, read from the event"),
    segment: z.enum(RULE_SEGMENTS).describe("The viewers that the overlay is for, on the channels of the scope"),
    tags: z.array(binding(TagId)).max(20).optional().describe("Only viewers with any of these account tags"),
    userSegment: SegmentSlug.optional().describe(
      "With `viewers_in_segment`: a segment of `settings.userSegments`. Not with client rules, because viewers' pages don't know their segments",
    ),
    priority: z.number().int().min(-100).max(100).default(0),
  })
  .superRefine(checkTargeting)
  .openapi("RuleTargeting");

const SendOverlayAction = z
  .strictObject({
    type: z.literal("SEND_OVERLAY"),
    targeting: Targeting,
    templateId: Id.describe("An overlay of type template"),
    variableMapping: z
      .record(z.string().min(1).max(100), binding(Scalar))
      .refine((mapping) => Object.keys(mapping).length <= 100, "At most 100 variables")
      .default({}),
    timecodeMapping: binding(Timecode).optional().describe("The media time in seconds at which viewers show the overlay"),
    broadcastPayload: FreeObject.optional().describe("Sent to viewers unchanged"),
  })
  .openapi("SendOverlayAction");

const CreateChannelAction = z
  .strictObject({ type: z.literal("CREATE_CHANNEL"), name: binding(z.string().trim().min(1).max(200)) })
  .openapi("CreateChannelAction");

const LockPollAction = z
  .strictObject({
    type: z.literal("LOCK_POLL"),
    pollId: Id.describe("The poll to close: once the provider's request returns, no response counts any more"),
  })
  .openapi("LockPollAction");

export const JsonRule = z
  .strictObject({ trigger: Trigger, action: z.discriminatedUnion("type", [SendOverlayAction, CreateChannelAction, LockPollAction]) })
  .openapi("JsonRule");

const EXAMPLE = {
  trigger: {
    dataProviderId: "5eed000000000000000da001",
    fact: "match.score.home",
    operator: "greater_than",
    value: 0,
    behavior: "immediate",
  },
  action: {
    type: "SEND_OVERLAY",
    targeting: { scope: "channel", segment: "viewers_all", priority: 10 },
    templateId: "5eed0000000000000000a001",
    variableMapping: { scorer: { type: "dynamic", value: "match.scorer" }, minute: { type: "dynamic", value: "match.minute" } },
  },
};

const switches = {
  active: z.boolean().optional().describe("true by default"),
  isActive: z.boolean().optional().describe("Alias of `active`"),
  clientRule: z.boolean().optional().describe("If true, viewers' pages evaluate the rule instead of the server; false by default"),
};

const ChannelId = Id.nullable().optional().describe("The rule's channel; null for the whole site");
const SiteId = Id.optional().describe("Must equal Tifo-Client-Id");
const Name = z.string().trim().min(1).max(200).openapi({ example: "Home goal" });

export const RuleInput = z
  .strictObject({ name: Name, siteId: SiteId, jsonRule: JsonRule, channelId: ChannelId, ...switches })
  .superRefine(checkActive)
  .openapi("RuleInput", { example: { name: "Home goal", jsonRule: EXAMPLE, channelId: "5eed0000000000000000c001", active: true } });

export const RuleUpdate = z
  .strictObject({ name: Name.optional(), siteId: SiteId, jsonRule: JsonRule, channelId: ChannelId, ...switches })
  .superRefine(checkActive)
  .openapi("RuleUpdate", { example: { jsonRule: EXAMPLE, channelId: "5eed0000000000000000c001" } });

const fields = {
  _id: Id,
  siteId: Id,
  name: z.string(),
  jsonRule: JsonRule,
  channelId: Id.nullable(),
  active: z.boolean(),
  clientRule: z.boolean(),
  ...Tracked,
};

export const AutomationRule = z.object(fields).openapi("AutomationRule");

const RuleFiring = z
  .object({
    eventId: Id,
    outcome: z.enum(FIRING_OUTCOMES),
    message: z.string().nullable().describe("Why it failed, or which channels it didn't reach"),
    madeId: Id.nullable().describe("The id of the sent broadcast or the created channel"),
    due: Time,
    created: Time,
  })
  .openapi("RuleFiring");

export const RuleWithLog = z
  .object({ ...fields, log: z.array(RuleFiring).describe("The last 20 firings, newest first") })
  .openapi("AutomationRuleWithLog");

export const RuleQuery = listQuery(["created", "modified", "name"], { clientRule: QueryBoolean.optional() });

export const RuleIds = queryJson(z.array(Id).max(200)).openapi({
  description: "JSON array of ids",
  example: '["5eed00000000000000a07001"]',
});
export const RuleIdsQuery = listQuery(["created", "modified", "name"], { ids: RuleIds });
export const RemoveQuery = z.strictObject({ ids: RuleIds });

export const CreatedRule = z.object({ success: z.literal(true), id: Id }).openapi("CreatedRule");
export const RemovedRules = z
  .object({ success: z.boolean(), total: z.number().int().describe("The number of requested rules"), removed: z.number().int() })
  .openapi("RemovedRules");
export const RemovedRule = z.object({ success: z.boolean().describe("false if the site has no such rule") }).openapi("RemovedRule");

export const RulePauseParam = z.object({ channelId: Id });

export const RulePauseInput = z
  .strictObject({ paused: z.boolean().describe("`true` pauses the channel's rules, `false` lets them apply again") })
  .openapi("RulePauseInput", { example: { paused: true } });

export const RulePause = z
  .object({ channelId: Id, paused: z.boolean(), since: Time.nullable().describe("When the rules were paused; null if they apply") })
  .openapi("RulePause");

export const DryRunInput = z
  .strictObject({ events: z.array(FreeObject).min(1).max(100).optional().describe("In order; defaults to the last 100 received events") })
  .openapi("DryRunInput", { example: { events: [{ match: { minute: 17, scorer: "Ada Moreno", score: { home: 1, away: 0 } } }] } });

const PlannedBroadcast = z
  .object({ channelIds: z.array(Id).nullable().describe("null means every channel of the site"), broadcast: Broadcast })
  .openapi("PlannedBroadcast");

export const DryRun = z
  .object({
    results: z.array(
      z.object({
        event: z.record(z.string(), z.unknown()),
        fired: z.boolean(),
        broadcasts: z.array(PlannedBroadcast).describe("What would be sent"),
        channel: z.object({ _id: Id, name: z.string(), slug: z.string() }).nullable().describe("The channel that would be created"),
        delaySeconds: z.number().describe("The delay after the event"),
        message: z.string().nullable().describe("Why it would fail or doesn't fire, or which channels it wouldn't reach"),
      }),
    ),
  })
  .openapi("DryRun");

export type RuleInput = z.output<typeof RuleInput>;
export type RuleUpdate = z.output<typeof RuleUpdate>;
export type RulePause = z.output<typeof RulePause>;
export type DryRunResult = z.output<typeof DryRun>["results"][number];
export type RuleLog = z.output<typeof RuleFiring>[];

/** The fields of a rule, each with its column. */
export const RULE_FIELDS = {
  _id: "id",
  siteId: "siteId",
  name: "name",
  jsonRule: "jsonRule",
  channelId: "channelId",
  active: "active",
  clientRule: "clientRule",
  created: "created",
  modified: "modified",
} as const satisfies Record<string, keyof RuleRow>;

export function toRule(row: RuleRow) {
  return { ...pickFields(row, RULE_FIELDS), jsonRule: { ...row.jsonRule } };
}

/** Checks which fields are allowed with which scope and segment. */
function checkTargeting({ scope, target, segment, tags, userSegment }: RuleTargeting, context: z.RefinementCtx): void {
  const reject = (path: (string | number)[], message: string): void => void context.addIssue({ code: "custom", path, message });
  const needsTarget = scope === "specific_channels" || scope === "channel_metadata";
  if (needsTarget && !target) reject(["target"], `Required with ${scope}`);
  if (scope === "all_channels" && target && target.value !== "") reject(["target"], "Not allowed with all_channels");
  if (scope === "channel" && target?.type === "dynamic" && target.value !== "")
    reject(["target"], "Must be the rule's own channel with the scope channel");
  if (target?.type === "static") {
    if (scope === "specific_channels" && !Array.isArray(target.value)) reject(["target", "value"], "Must be a list of channel ids");
    if (scope === "channel_metadata" && (Array.isArray(target.value) || target.value === ""))
      reject(["target", "value"], "Must be a non-empty string");
  }
  const tagged = segment === "viewers_with_tags";
  if (tagged && (tags ?? []).length === 0) reject(["tags"], "Required with viewers_with_tags");
  if (!tagged && (tags ?? []).length > 0) reject(["tags"], "Only allowed with viewers_with_tags");
  const segmented = segment === "viewers_in_segment";
  if (segmented && userSegment === undefined) reject(["userSegment"], "Required with viewers_in_segment");
  if (!segmented && userSegment !== undefined) reject(["userSegment"], "Only allowed with viewers_in_segment");
}

function checkActive(
  { active, isActive }: { active?: boolean | undefined; isActive?: boolean | undefined },
  context: z.RefinementCtx,
): void {
  if (active !== undefined && isActive !== undefined && active !== isActive)
    context.addIssue({ code: "custom", path: ["isActive"], message: "Must equal active" });
}

/** A provider's event as sent to the Automation object; `at` is in epoch milliseconds. */
export const ProviderEventMessage = z.object({
  id: z.string(),
  providerId: z.string(),
  at: z.number(),
  data: z.record(z.string(), z.unknown()),
});
export type ProviderEventMessage = z.infer<typeof ProviderEventMessage>;
