import { createArea } from "#worker/http/area.ts";
import { tagVersion, tagVersionOf } from "#worker/http/conditional.ts";
import { DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { listResponse, listOf } from "#worker/services/core/list-schemas.ts";
import { operation } from "#worker/http/operation.ts";
import { IdParam, json, jsonBody, optionalJsonBody } from "#worker/lib/schemas/common.ts";
import {
  createRule,
  deleteRules,
  getRule,
  getRuleWithLog,
  listRules,
  listRulesById,
  updateRule,
} from "#worker/services/automation-rules/automation-rules.ts";
import { getRulePause, setRulePause } from "#worker/services/automation-rules/pauses.ts";
import { dryRun } from "#worker/services/automation-rules/dry-run.ts";
import {
  AutomationRule,
  CreatedRule,
  DryRun,
  DryRunInput,
  RemovedRule,
  RemovedRules,
  RemoveQuery,
  RuleIdsQuery,
  RuleInput,
  RulePause,
  RulePauseInput,
  RulePauseParam,
  RuleQuery,
  RuleUpdate,
  RuleWithLog,
  toRule,
} from "#worker/services/automation-rules/schemas.ts";

export const automationRules = createArea();
const tag = "Automation rules";
const RuleList = listOf(AutomationRule).openapi("AutomationRuleList");

automationRules.openapi(
  operation({
    operationId: "listAutomationRulesById",
    tag,
    method: "get",
    path: "/personalization/v1/automation-rules",
    summary: "List automation rules by their ids",
    description: "Lists the given rules that exist on the site, newest first.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { query: RuleIdsQuery },
    responses: { 200: json("A page of rules", RuleList) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listRulesById(c.get("ctx"), query), toRule), 200);
  },
);

automationRules.openapi(
  operation({
    operationId: "listAutomationRules",
    tag,
    method: "get",
    path: "/personalization/v1/automation-rule",
    summary: "List automation rules",
    description:
      "Lists the site's rules, newest first. With `clientRule`, only those that viewers' pages evaluate (true) or only those that the server evaluates (false).",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { query: RuleQuery },
    responses: { 200: json("A page of rules", RuleList) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listResponse(c.req.url, query, await listRules(c.get("ctx"), query), toRule), 200);
  },
);

automationRules.openapi(
  operation({
    operationId: "createAutomationRule",
    tag,
    method: "post",
    path: "/personalization/v1/automation-rule",
    summary: "Create an automation rule",
    description:
      "Creates a rule that reacts to a provider's events: it fires when its condition becomes true, and again only after it was false in between. The rule is in effect as soon as this request returns.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { body: jsonBody(RuleInput) },
    responses: { 201: json("The rule's id", CreatedRule) },
    errors: ["conflict"],
  }),
  async (c) => {
    const rule = await createRule(c.get("ctx"), c.req.valid("json"));
    tagVersion(c, rule);
    return c.json({ success: true as const, id: rule.id }, 201);
  },
);

automationRules.openapi(
  operation({
    operationId: "deleteAutomationRules",
    tag,
    method: "delete",
    path: "/personalization/v1/automation-rule",
    summary: "Delete automation rules",
    description: "Deletes the given rules that exist on the site; `success` is true if all of them existed.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { query: RemoveQuery },
    responses: { 200: json("The number of deleted rules", RemovedRules) },
  }),
  async (c) => {
    const ids = [...new Set(c.req.valid("query").ids)];
    const removed = await deleteRules(c.get("ctx"), ids);
    return c.json({ success: removed === ids.length, total: ids.length, removed }, 200);
  },
);

automationRules.openapi(
  operation({
    operationId: "getAutomationRule",
    tag,
    method: "get",
    path: "/personalization/v1/automation-rule/{id}",
    summary: "Get an automation rule",
    description: "Returns one rule with the log of its last firings.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam },
    responses: { 200: json("The rule", RuleWithLog) },
    errors: ["not_found"],
  }),
  async (c) => {
    const { rule, log } = await getRuleWithLog(c.get("ctx"), c.req.valid("param").id);
    await tagVersionOf(c, rule, JSON.stringify(log));
    return c.json({ ...toRule(rule), log }, 200);
  },
);

automationRules.openapi(
  operation({
    operationId: "updateAutomationRule",
    tag,
    method: "put",
    path: "/personalization/v1/automation-rule/{id}",
    summary: "Update an automation rule",
    description: "Replaces the rule's trigger and action; name, channel and the boolean flags are unchanged if omitted.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam, body: jsonBody(RuleUpdate) },
    responses: { 200: json("The updated rule", AutomationRule) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const rule = await updateRule(c.get("ctx"), c.req.valid("param").id, c.req.valid("json"));
    tagVersion(c, rule);
    return c.json(toRule(rule), 200);
  },
);

automationRules.openapi(
  operation({
    operationId: "deleteAutomationRule",
    tag,
    method: "delete",
    path: "/personalization/v1/automation-rule/{id}",
    summary: "Delete an automation rule",
    description: "Deletes one rule; `success` is false if the site has no such rule.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam },
    responses: { 200: json("Whether the rule existed", RemovedRule) },
  }),
  async (c) => c.json({ success: (await deleteRules(c.get("ctx"), [c.req.valid("param").id])) > 0 }, 200),
);

automationRules.openapi(
  operation({
    operationId: "testAutomationRule",
    tag,
    method: "post",
    path: "/personalization/v1/automation-rule/{id}/test",
    summary: "Test an automation rule",
    description:
      "Evaluates the rule against events, in order and from an empty state, and returns for each whether it would fire and exactly what would be sent. Nothing is sent.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam, body: optionalJsonBody(DryRunInput) },
    responses: { 200: json("The result for each event", DryRun) },
    errors: ["not_found"],
  }),
  async (c) => {
    const rule = await getRule(c.get("ctx"), c.req.valid("param").id);
    return c.json({ results: await dryRun(c.get("ctx"), rule, c.req.valid("json").events) }, 200);
  },
);

const ofChannel = { tag, access: { credentials: DEVELOPER_OR_ACCOUNT, accounts: "creator" } } as const;
const PAUSE_PATH = "/personalization/v1/channels/{channelId}/rule-pause";

automationRules.openapi(
  operation({
    ...ofChannel,
    operationId: "getRulePause",
    method: "get",
    path: PAUSE_PATH,
    summary: "Get whether a channel's rules are paused",
    description: "Whether automation rules apply on the channel.",
    request: { params: RulePauseParam },
    responses: { 200: json("Whether they are paused", RulePause) },
    errors: ["not_found"],
  }),
  async (c) => c.json(await getRulePause(c.get("ctx"), c.req.valid("param").channelId), 200),
);

automationRules.openapi(
  operation({
    ...ofChannel,
    operationId: "setRulePause",
    method: "put",
    path: PAUSE_PATH,
    summary: "Pause or resume a channel's rules",
    description:
      "While they are paused, the channel's own rules do nothing, other rules' overlays don't reach the channel, and viewers' pages evaluate none there. Firings that become due meanwhile are logged as `dropped` and aren't made up for. Facts stay up to date, so that a rule doesn't fire late. In effect as soon as this request returns; viewers' pages follow within moments. Repeating it changes nothing.",
    request: { params: RulePauseParam, body: jsonBody(RulePauseInput) },
    responses: { 200: json("Whether they are paused", RulePause) },
    errors: ["not_found", "conflict"],
  }),
  async (c) => c.json(await setRulePause(c.get("ctx"), c.req.valid("param").channelId, c.req.valid("json").paused), 200),
);
