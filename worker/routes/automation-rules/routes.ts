import { createArea } from "#worker/http/area.ts";
import { tagVersion } from "#worker/http/conditional.ts";
import { DEVELOPER_OR_ACCOUNT } from "#worker/http/credentials.ts";
import { listAnswer, listOf } from "#worker/services/core/list-schemas.ts";
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
    description: "Those of the given ids that the site has, the newest first.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { query: RuleIdsQuery },
    responses: { 200: json("A page of rules", RuleList) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listAnswer(c.req.url, query, await listRulesById(c.var.ctx, query), toRule), 200);
  },
);

automationRules.openapi(
  operation({
    operationId: "listAutomationRules",
    tag,
    method: "get",
    path: "/personalization/v1/automation-rule",
    summary: "List automation rules",
    description: "The site's rules, the newest first; with `clientRule`, those that viewers' pages evaluate, or those of the server.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { query: RuleQuery },
    responses: { 200: json("A page of rules", RuleList) },
  }),
  async (c) => {
    const query = c.req.valid("query");
    return c.json(listAnswer(c.req.url, query, await listRules(c.var.ctx, query), toRule), 200);
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
      "Says what is to happen when a provider tells of something: it fires when its condition comes true, and again only after it was false in between. It acts from the moment of this answer.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { body: jsonBody(RuleInput) },
    responses: { 201: json("Its id", CreatedRule) },
    errors: ["conflict"],
  }),
  async (c) => {
    const rule = await createRule(c.var.ctx, c.req.valid("json"));
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
    description: "Deletes those of the given ids that the site has; `success` is true when that is all of them.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { query: RemoveQuery },
    responses: { 200: json("How many are gone", RemovedRules) },
  }),
  async (c) => {
    const ids = [...new Set(c.req.valid("query").ids)];
    const removed = await deleteRules(c.var.ctx, ids);
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
    description: "One rule, with what came of it the last times that it fired.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam },
    responses: { 200: json("The rule", RuleWithLog) },
    errors: ["not_found"],
  }),
  async (c) => {
    const { rule, log } = await getRuleWithLog(c.var.ctx, c.req.valid("param").id);
    return c.json({ ...toRule(rule), log }, 200);
  },
);

automationRules.openapi(
  operation({
    operationId: "updateAutomationRule",
    tag,
    method: "put",
    path: "/personalization/v1/automation-rule/{id}",
    summary: "Change an automation rule",
    description: "Replaces what the rule does; its name, channel and switches stay as they are when they are left out.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam, body: jsonBody(RuleUpdate) },
    responses: { 200: json("The rule as it is now", AutomationRule) },
    errors: ["not_found", "conflict", "precondition_failed"],
  }),
  async (c) => {
    const rule = await updateRule(c.var.ctx, c.req.valid("param").id, c.req.valid("json"));
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
    description: "Deletes one rule; `success` is false when the site has none of this id.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam },
    responses: { 200: json("Whether it was there", RemovedRule) },
  }),
  async (c) => c.json({ success: (await deleteRules(c.var.ctx, [c.req.valid("param").id])) > 0 }, 200),
);

automationRules.openapi(
  operation({
    operationId: "testAutomationRule",
    tag,
    method: "post",
    path: "/personalization/v1/automation-rule/{id}/test",
    summary: "Try an automation rule",
    description:
      "Plays events to the rule, in order and as if they were the first, and answers for each whether it would fire and exactly what would be sent. Nothing is.",
    access: { credentials: DEVELOPER_OR_ACCOUNT },
    request: { params: IdParam, body: optionalJsonBody(DryRunInput) },
    responses: { 200: json("What would happen", DryRun) },
    errors: ["not_found"],
  }),
  async (c) => {
    const rule = await getRule(c.var.ctx, c.req.valid("param").id);
    return c.json({ results: await dryRun(c.var.ctx, rule, c.req.valid("json").events) }, 200);
  },
);
