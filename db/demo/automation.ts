import { factsOf } from "#worker/lib/json-schema/json-schema.ts";
import { sealSecret } from "#worker/services/data-providers/provider-signatures.ts";
import type { automationRules, ruleFirings } from "#db/schema/automation-rules.ts";
import type { dataProviders, providerEvents } from "#db/schema/data-providers.ts";
import type { JsonRule, RuleTargeting, RuleTrigger, SendOverlay } from "#db/types.ts";
import { CHANNEL_1, CHANNEL_B, KICK_OFF, SITE_A, SITE_B, stamps } from "./match-day.ts";
import { CARD_TEMPLATE, FINAL_RESULT, GOAL_TEMPLATE, RIVAL_TEMPLATE, SCORE_TEMPLATE, SUBSTITUTION_TEMPLATE, TEAMS } from "./overlays.ts";
import { MATCH_MAPPING } from "./line-up.ts";
import { MATCH_KINDS } from "./recorded-match.ts";

/** Sends the match's events, signed with `tifo_dp_demo`. */
export const MATCH_DATA = "5eed000000000000000da001";
const MATCH_DATA_B = "5eed000000000000000da101";
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
        id: { type: "string", description: "The external_field_1 of the match's channels" },
        minute: { type: "integer", minimum: 0, maximum: 130 },
        mediaTime: { type: "number", description: "Seconds of media time" },
        status: { enum: ["before", "first half", "half time", "second half", "over"] },
        kind: { enum: MATCH_KINDS },
        goal: {
          enum: ["home", "away", "none"],
          description: "The side that scored; sent with every event, so that rules notice the next goal",
        },
        scorer: { type: "string" },
        player: { type: "string" },
        shirt: { type: "integer", description: "The player's number" },
        off: { type: "string", description: "Who goes off for the player" },
        offShirt: { type: "integer" },
        side: {
          type: "object",
          description: "The player's team",
          properties: { name: { type: "string" }, color: { type: "string" }, crest: { type: "string" } },
        },
        period: { type: "string", description: "The part of the match, in words" },
        clock: { type: "integer", description: "Seconds on the match clock" },
        running: { type: "boolean", description: "Whether the clock runs" },
        speed: { type: "number", description: "Seconds that pass on the clock in one second: more than 1 while a recording is replayed" },
        scorers: { type: "object", properties: { home: { type: "string" }, away: { type: "string" } } },
        team: { type: "string", maxLength: 100, description: "The tag of its supporters" },
        score: { type: "object", properties: { home: { type: "integer" }, away: { type: "integer" } } },
        cards: { type: "integer", description: "Cards shown so far" },
        players: {
          type: "array",
          maxItems: 60,
          description: "The players with what they have done so far; kept as match facts",
          items: { type: "object", required: ["id", "name"] },
        },
        keyPlay: { type: "boolean", description: "Whether the event is a key play" },
        headline: { type: "string", maxLength: 200 },
        playerId: { type: "string", maxLength: 100 },
      },
    },
  },
};

/** The providers of both sites. Their secrets are sealed, so the deployment's secret is required. */
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
    { ...match, id: MATCH_DATA, siteId: SITE_A, statMapping: MATCH_MAPPING, secretSealed: await sealSecret(secrets, "tifo_dp_demo") },
    { ...match, id: MATCH_DATA_B, siteId: SITE_B, secretSealed: await sealSecret(secrets, "tifo_dp_rival") },
  ];
}

/** The club's automation rules. */
export function demoRules(): (typeof automationRules.$inferInsert)[] {
  const everyone = { scope: "channel", segment: "viewers_all", priority: 0 } as const;
  const scored = { scorer: fact("match.scorer"), minute: fact("match.minute") };
  const score = { home: fact("match.score.home"), away: fact("match.score.away") };
  const theScore = {
    ...score,
    moment: fact("match.period"),
    ...{ clock: fact("match.clock"), running: fact("match.running"), speed: fact("match.speed") },
  };
  const side = { team: fact("match.side.name"), color: fact("match.side.color"), crest: fact("match.side.crest") };
  const who = { minute: fact("match.minute"), ...side };
  const theirs = { team: fixed(TEAMS.away.name), color: fixed(TEAMS.away.color), crest: fixed(TEAMS.away.crest) };
  return [
    rule(GOAL_RULE, "Home goal", when("match.goal", "home"), sendOverlay(GOAL_TEMPLATE, { ...everyone, priority: 10 }, scored)),
    rule(
      "5eed00000000000000a07002",
      "Goal against us, for away supporters only",
      when("match.goal", "away"),
      sendOverlay(
        GOAL_TEMPLATE,
        {
          scope: "channel_metadata",
          target: fact("match.id"),
          segment: "viewers_with_tags",
          tags: [fact("match.team")],
          priority: 10,
        },
        { ...scored, ...theirs },
      ),
    ),
    rule(
      "5eed00000000000000a07003",
      "Yellow card, when the replay is over",
      { ...when("match.kind", "card"), behavior: "delayed", delaySeconds: 8 },
      sendOverlay(
        CARD_TEMPLATE,
        { ...everyone, scope: "all_channels" },
        { player: fact("match.player"), number: fact("match.shirt"), ...who },
      ),
    ),
    rule("5eed00000000000000a07004", "Studio after the match", when("match.status", "over"), {
      type: "CREATE_CHANNEL",
      name: { type: "static", value: "Full-time studio" },
    }),
    {
      ...rule(
        "5eed00000000000000a07005",
        "Half-time look of the page",
        when("match.status", "half time"),
        sendOverlay(SCORE_TEMPLATE, everyone, theScore),
      ),
      clientRule: true,
    },
    rule("5eed00000000000000a07006", "Kick-off", when("match.status", "first half"), sendOverlay(SCORE_TEMPLATE, everyone, theScore)),
    rule("5eed00000000000000a07007", "Half-time", when("match.status", "half time"), sendOverlay(SCORE_TEMPLATE, everyone, theScore)),
    rule("5eed00000000000000a07008", "Full time", when("match.status", "over"), sendOverlay(SCORE_TEMPLATE, everyone, theScore)),
    rule("5eed00000000000000a07009", "The score after a goal", when("match.kind", "goal"), sendOverlay(SCORE_TEMPLATE, everyone, theScore)),
    rule("5eed00000000000000a07010", "Second half", when("match.status", "second half"), sendOverlay(SCORE_TEMPLATE, everyone, theScore)),
    rule(
      "5eed00000000000000a07011",
      "Substitution",
      when("match.kind", "substitution"),
      sendOverlay(SUBSTITUTION_TEMPLATE, everyone, {
        ...{ on: fact("match.player"), onNumber: fact("match.shirt"), off: fact("match.off"), offNumber: fact("match.offShirt") },
        ...who,
      }),
    ),
    rule(
      "5eed00000000000000a07012",
      "Final result",
      when("match.status", "over"),
      sendOverlay(
        FINAL_RESULT,
        { ...everyone, priority: 10 },
        {
          ...score,
          ...{ homeScorers: fact("match.scorers.home"), awayScorers: fact("match.scorers.away") },
        },
      ),
    ),
    {
      ...rule(
        "5eed00000000000000a07101",
        "Rival goal",
        { ...when("match.goal", "home"), dataProviderId: MATCH_DATA_B },
        sendOverlay(RIVAL_TEMPLATE, everyone, scored),
      ),
      siteId: SITE_B,
      channelId: CHANNEL_B,
    },
  ];
}

/** A received event, and the firing that it caused. */
export function demoProviderEvents(): { events: (typeof providerEvents.$inferInsert)[]; firings: (typeof ruleFirings.$inferInsert)[] } {
  const created = KICK_OFF + 17 * 60_000;
  const match = {
    id: "match-2026-11-21",
    minute: 17,
    kind: "goal",
    goal: "home",
    scorer: "Ada Moreno",
    team: "team:home",
    score: { home: 1, away: 0 },
  };
  return {
    events: [{ id: OPENER, siteId: SITE_A, providerId: MATCH_DATA, externalId: "pitchside-000001", event: { match }, created }],
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

function rule(id: string, name: string, trigger: RuleTrigger, action: JsonRule["action"]) {
  return { ...stamps, id, siteId: SITE_A, name, channelId: CHANNEL_1, jsonRule: { trigger, action }, active: true, clientRule: false };
}

function when(path: string, value: string): RuleTrigger {
  return { dataProviderId: MATCH_DATA, fact: path, operator: "equals", value, behavior: "immediate" };
}

function fixed(value: string) {
  return { type: "static", value } as const;
}

/** Binds to the event's value at that path. */
function fact(path: string) {
  return { type: "dynamic", value: path } as const;
}

function sendOverlay(templateId: string, targeting: RuleTargeting, variableMapping: SendOverlay["variableMapping"]): SendOverlay {
  return { type: "SEND_OVERLAY", targeting, templateId, variableMapping };
}
