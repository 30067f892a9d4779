import { factsOf } from "../../worker/lib/json-schema.ts";
import { sealSecret } from "../../worker/services/provider-signatures.ts";
import type { automationRules, dataProviders, providerEvents, ruleFirings } from "../schema/index.ts";
import type { JsonRule, RuleTargeting, SendOverlay } from "../types.ts";
import { CHANNEL_1, CHANNEL_B, KICK_OFF, SITE_A, SITE_B, stamps } from "./match-day.ts";

/** Tells of the match; signs with `tifo_dp_demo`. */
export const MATCH_DATA = "5eed000000000000000da001";
const MATCH_DATA_B = "5eed000000000000000da101";
const GOAL_TEMPLATE = "5eed0000000000000000a001";
const CARD_TEMPLATE = "5eed0000000000000000a002";
const RIVAL_TEMPLATE = "5eed0000000000000000a101";
const OPENER = "5eed00000000000000eee001";
const GOAL_RULE = "5eed00000000000000a07001";

const MATCH_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  required: ["match"],
  properties: {
    match: {
      type: "object",
      required: ["id", "minute"],
      properties: {
        id: { type: "string", description: "As channels name it in external_field_1" },
        minute: { type: "integer", minimum: 0, maximum: 130 },
        mediaTime: { type: "number", description: "Seconds into the picture" },
        status: { enum: ["before", "first half", "half time", "second half", "over"] },
        kind: { enum: ["goal", "card", "whistle", "substitution"] },
        scorer: { type: "string" },
        player: { type: "string" },
        team: { type: "string", pattern: "^team:[a-z]+$", description: "The tag of its supporters" },
        score: { type: "object", properties: { home: { type: "integer" }, away: { type: "integer" } } },
        cards: { type: "integer", description: "Shown so far" },
      },
    },
  },
};

/** The match's data, and the rival's. Sealed, so the secret of the deployment is needed. */
export async function demoDataProviders(secrets: { TIFO_SECRET: string }): Promise<(typeof dataProviders.$inferInsert)[]> {
  const match = {
    ...stamps,
    name: "Match data",
    description: "Goals, cards and the clock of each match, within a second",
    schema: MATCH_SCHEMA,
    facts: factsOf(MATCH_SCHEMA),
    ownerName: "Pitchside Data",
    ownerEmail: "desk@pitchside.example",
    realtime: true,
    ttl: 4 * 3600,
    tags: ["football", "live"],
  };
  return [
    { ...match, id: MATCH_DATA, siteId: SITE_A, secretSealed: await sealSecret(secrets, "tifo_dp_demo") },
    { ...match, id: MATCH_DATA_B, siteId: SITE_B, secretSealed: await sealSecret(secrets, "tifo_dp_rival") },
  ];
}

/** What the club lets happen by itself. */
export function demoRules(): (typeof automationRules.$inferInsert)[] {
  const whistle = { behavior: "immediate", operator: "equals" } as const;
  return [
    rule(GOAL_RULE, "Home goal", goalOf("match.score.home", { scope: "channel", segment: "viewers_all", priority: 10 })),
    rule(
      "5eed00000000000000a07002",
      "Goal against us, for their supporters alone",
      goalOf("match.score.away", {
        scope: "channel_metadata",
        target: { type: "dynamic", value: "match.id" },
        segment: "viewers_with_tags",
        tags: [{ type: "dynamic", value: "match.team" }],
        priority: 10,
      }),
    ),
    rule("5eed00000000000000a07003", "Yellow card, when the replay is over", {
      trigger: {
        dataProviderId: MATCH_DATA,
        fact: "match.cards",
        operator: "greater_than",
        value: 0,
        behavior: "delayed",
        delaySeconds: 8,
      },
      action: sendOverlay(CARD_TEMPLATE, { scope: "all_channels", segment: "viewers_all", priority: 0 }, { player: "match.player" }),
    }),
    rule("5eed00000000000000a07004", "Studio after the match", {
      trigger: { ...whistle, dataProviderId: MATCH_DATA, fact: "match.status", value: "over" },
      action: { type: "CREATE_CHANNEL", name: { type: "static", value: "Full-time studio" } },
    }),
    {
      ...rule("5eed00000000000000a07005", "Half-time mood of the page", {
        trigger: { ...whistle, dataProviderId: MATCH_DATA, fact: "match.status", value: "half time" },
        action: sendOverlay(
          GOAL_TEMPLATE,
          { scope: "channel", segment: "viewers_all", priority: 0 },
          { scorer: "match.id", minute: "match.minute" },
        ),
      }),
      clientRule: true,
    },
    {
      ...rule(
        "5eed00000000000000a07101",
        "Rival goal",
        goalOf("match.score.home", { scope: "channel", segment: "viewers_all", priority: 0 }, MATCH_DATA_B),
      ),
      siteId: SITE_B,
      channelId: CHANNEL_B,
    },
  ];
}

/** What was received so far, and what came of it. */
export function demoProviderEvents(): { events: (typeof providerEvents.$inferInsert)[]; firings: (typeof ruleFirings.$inferInsert)[] } {
  const created = KICK_OFF + 17 * 60_000;
  const match = { id: "match-2026-11-21", minute: 17, kind: "goal", scorer: "Ada Moreno", team: "team:home", score: { home: 1, away: 0 } };
  return {
    events: [{ id: OPENER, siteId: SITE_A, providerId: MATCH_DATA, externalId: "goal-1", event: { match }, created }],
    firings: [
      {
        eventId: OPENER,
        ruleId: GOAL_RULE,
        siteId: SITE_A,
        ruleName: "Home goal",
        outcome: "sent",
        madeId: "5eed00000000000000bbb001",
        due: created,
        created,
      },
    ],
  };
}

function rule(id: string, name: string, jsonRule: JsonRule) {
  return { ...stamps, id, siteId: SITE_A, name, channelId: CHANNEL_1, jsonRule, active: true, clientRule: false };
}

function goalOf(fact: string, targeting: RuleTargeting, dataProviderId = MATCH_DATA): JsonRule {
  const templateId = dataProviderId === MATCH_DATA ? GOAL_TEMPLATE : RIVAL_TEMPLATE;
  return {
    trigger: { dataProviderId, fact, operator: "greater_than", value: 0, behavior: "immediate" },
    action: sendOverlay(templateId, targeting, { scorer: "match.scorer", minute: "match.minute" }),
  };
}

/** `variables` by the facts that fill them. */
function sendOverlay(templateId: string, targeting: RuleTargeting, variables: Record<string, string>): SendOverlay {
  const variableMapping: SendOverlay["variableMapping"] = {};
  for (const [name, value] of Object.entries(variables)) variableMapping[name] = { type: "dynamic", value };
  return { type: "SEND_OVERLAY", targeting, templateId, variableMapping };
}
