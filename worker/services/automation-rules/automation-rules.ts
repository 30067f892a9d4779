import { and, count, desc, eq } from "drizzle-orm";
import { automationRules, ruleFirings, type RuleRow } from "#db/schema/automation-rules.ts";
import { dataProviders } from "#db/schema/data-providers.ts";
import { type OverlayRow, overlays } from "#db/schema/overlays.ts";
import { pages } from "#db/schema/pages.ts";
import type { FactTypes, JsonRule, RuleTargeting } from "#db/types.ts";
import { conflict, Failure, invalid, type Issue, notFound } from "#worker/lib/errors.ts";
import { type RuleInput, type RuleLog, type RuleUpdate, toRule } from "./schemas.ts";
import { activeClientRules, MAX_CLIENT_RULES, refreshRules } from "./automation.ts";
import {
  commitIfUnchanged,
  type Ctx,
  type NewEvent,
  newRow,
  nextVersion,
  ownRow,
  ownRows,
  updateRow,
} from "#worker/services/core/context.ts";
import { type ListPage, type ListQuery, listRows, sliceOf, tableList } from "#worker/services/core/listing.ts";
import { inRule } from "#worker/services/core/named-references.ts";
import { commitReferencing, referencesExist, withReferences } from "#worker/services/core/references.ts";
import { kitSampleOf } from "#worker/services/overlays/kit/catalogue.ts";
import { requireVariables } from "#worker/services/overlays/overlays.ts";
import { requireOwnSite } from "#worker/services/sites/current-site.ts";

const LOG_LENGTH = 20;

const ruleList = tableList<RuleRow>({
  table: automationRules,
  rows: (db, slice) => sliceOf(db.select().from(automationRules).$dynamic(), slice),
  sort: { created: automationRules.created, modified: automationRules.modified, name: automationRules.name },
  search: { name: automationRules.name },
});

export function listRules(ctx: Ctx, query: ListQuery & { clientRule?: boolean | undefined }): Promise<ListPage<RuleRow>> {
  const { clientRule } = query;
  return listRows(
    ctx,
    ruleList,
    query,
    eq(automationRules.siteId, ctx.siteId),
    clientRule === undefined ? undefined : eq(automationRules.clientRule, clientRule),
  );
}

/** Lists the given rules that exist on the site. */
export function listRulesById(ctx: Ctx, query: ListQuery & { ids: string[] }): Promise<ListPage<RuleRow>> {
  return listRows(ctx, ruleList, query, ownRows(ctx, automationRules, query.ids));
}

export async function getRule(ctx: Ctx, id: string): Promise<RuleRow> {
  return (await getRuleWithLog(ctx, id)).rule;
}

/** A rule with the log of its last firings. */
export async function getRuleWithLog(ctx: Ctx, id: string): Promise<{ rule: RuleRow; log: RuleLog }> {
  const { eventId, outcome, message, madeId, due, created } = ruleFirings;
  const [[rule], log] = await ctx.db.batch([
    ctx.db
      .select()
      .from(automationRules)
      .where(ownRow(ctx, automationRules, id)),
    ctx.db
      .select({ eventId, outcome, message, madeId, due, created })
      .from(ruleFirings)
      .where(and(eq(ruleFirings.siteId, ctx.siteId), eq(ruleFirings.ruleId, id)))
      .orderBy(desc(created))
      .limit(LOG_LENGTH),
  ]);
  if (!rule) throw notFound("Automation rule not found");
  return { rule, log };
}

export async function createRule(ctx: Ctx, input: RuleInput): Promise<RuleRow> {
  requireOwnSite(ctx, input.siteId);
  const rule: RuleRow = {
    ...newRow(ctx),
    name: input.name,
    jsonRule: input.jsonRule,
    channelId: input.channelId ?? null,
    active: input.active ?? input.isActive ?? true,
    clientRule: input.clientRule ?? false,
  };
  await validateRule(ctx, rule, rule.active && rule.clientRule);
  await commitReferencing(ctx, inRule(rule), ctx.db.insert(automationRules).values(rule), ruleEvent(rule, "Created"));
  await refreshRules(ctx);
  return rule;
}

/** Replaces a rule's trigger and action; other omitted fields stay. */
export async function updateRule(ctx: Ctx, id: string, input: RuleUpdate): Promise<RuleRow> {
  requireOwnSite(ctx, input.siteId);
  const current = await getRule(ctx, id);
  const next: RuleRow = {
    ...current,
    ...nextVersion(ctx, current),
    name: input.name ?? current.name,
    jsonRule: input.jsonRule,
    channelId: input.channelId === undefined ? current.channelId : input.channelId,
    active: input.active ?? input.isActive ?? current.active,
    clientRule: input.clientRule ?? current.clientRule,
  };
  const isKnown = doesAsBefore(next, current);
  const references = isKnown ? [] : inRule(next);
  if (!isKnown) await validateRule(ctx, next, next.active && next.clientRule && !(current.active && current.clientRule));
  const change = updateRow(ctx, automationRules, current, next, referencesExist(ctx, references));
  await withReferences(ctx, references, () => commitIfUnchanged(ctx, change, ruleEvent(next, "Updated")));
  await refreshRules(ctx);
  return next;
}

/** Whether a change leaves what a rule does. Such a rule can be renamed and turned off even if something that it names has been deleted. */
function doesAsBefore(next: RuleRow, current: RuleRow): boolean {
  const program = ({ jsonRule, channelId, clientRule }: RuleRow) => JSON.stringify([jsonRule, channelId, clientRule]);
  return program(next) === program(current) && (current.active || !next.active);
}

/** Deletes the given rules that exist on the site, and returns their number. */
export async function deleteRules(ctx: Ctx, ids: string[]): Promise<number> {
  const selected = ownRows(ctx, automationRules, ids);
  const rows = await ctx.db.select().from(automationRules).where(selected);
  if (rows.length === 0) return 0;
  await commitIfUnchanged(ctx, ctx.db.delete(automationRules).where(selected), ...eventsOf(rows));
  await refreshRules(ctx);
  return rows.length;
}

function eventsOf([first, ...rest]: RuleRow[]): [NewEvent, ...NewEvent[]] {
  if (!first) throw new Error("No rules to emit events for");
  return [ruleEvent(first, "Deleted"), ...rest.map((rule) => ruleEvent(rule, "Deleted"))];
}

/** The event for a change of a rule. */
export function ruleEvent(rule: RuleRow, change: "Created" | "Updated" | "Deleted"): NewEvent {
  return { type: `personalization.rule${change}`, resource: `rule/${rule.id}`, data: toRule(rule) };
}

/**
 * A 400 that lists every broken reference and wrong type in a rule; a 409 if it adds a client rule and the site already has the maximum.
 */
async function validateRule(ctx: Ctx, { jsonRule, channelId, clientRule }: RuleRow, addsClientRule: boolean): Promise<void> {
  const { trigger, action } = jsonRule;
  if (clientRule && action.type === "SEND_OVERLAY" && action.targeting.segment === "viewers_in_segment")
    throw invalid("jsonRule.action.targeting.segment", "A client rule can't target a segment, because viewers' pages don't know theirs");
  const templateId = action.type === "SEND_OVERLAY" ? action.templateId : "";
  const [[provider], [template], [channel], [clientRules]] = await ctx.db.batch([
    ctx.db
      .select({ facts: dataProviders.facts })
      .from(dataProviders)
      .where(ownRow(ctx, dataProviders, trigger.dataProviderId)),
    ctx.db
      .select()
      .from(overlays)
      .where(and(ownRow(ctx, overlays, templateId), eq(overlays.type, "template"))),
    ctx.db
      .select({ id: pages.id })
      .from(pages)
      .where(and(ownRow(ctx, pages, channelId ?? ""), eq(pages.type, "channel"))),
    ctx.db
      .select({ count: count() })
      .from(automationRules)
      .where(activeClientRules(addsClientRule ? ctx.siteId : "")),
  ]);
  const issues: Issue[] = [];
  if (channelId !== null && !channel) issues.push({ path: "channelId", message: "The site has no such channel" });
  if (action.type === "SEND_OVERLAY") {
    if (!template) issues.push({ path: "jsonRule.action.templateId", message: "The site has no such template" });
    issues.push(...ownChannelProblems(action.targeting, channelId));
  }
  // Viewers' pages can't close a poll.
  if (action.type === "LOCK_POLL" && clientRule) issues.push({ path: "clientRule", message: "Not allowed with LOCK_POLL" });
  if (!provider) issues.push({ path: "jsonRule.trigger.dataProviderId", message: "The site has no such data provider" });
  else issues.push(...factProblems(jsonRule, provider.facts), ...(template ? variableProblems(jsonRule, template, provider.facts) : []));
  if (issues.length > 0) throw new Failure("invalid_request", "The rule is invalid", { issues });
  if (addsClientRule && (clientRules?.count ?? 0) >= MAX_CLIENT_RULES)
    throw conflict(`The site already has the maximum of ${MAX_CLIENT_RULES} active client rules`);
}

/** With the scope `channel`, the rule must have a channel, and a target can only name that one. */
function ownChannelProblems({ scope, target }: RuleTargeting, channelId: string | null): Issue[] {
  if (scope !== "channel") return [];
  if (channelId === null) return [{ path: "channelId", message: "Required with the scope channel" }];
  const named = target === undefined || target.value === "" ? [] : [target.value].flat();
  return named.every((id) => id === channelId)
    ? []
    : [{ path: "jsonRule.action.targeting.target.value", message: "Must be the rule's own channel with the scope channel" }];
}

type FactType = FactTypes[string];

/** Checks that every fact in a rule exists and has a type that is allowed in its place. */
function factProblems({ trigger, action }: JsonRule, facts: FactTypes): Issue[] {
  const issues: Issue[] = [];
  const require = (path: string, fact: string, types: FactType[]): void => {
    const type = Object.hasOwn(facts, fact) ? facts[fact] : undefined;
    if (type === undefined) issues.push({ path, message: "The provider has no such fact" });
    else if (type !== "any" && !types.includes(type))
      issues.push({ path, message: `The fact is of type ${type}, expected ${types.join(" or ")}` });
  };
  const requireBound = (path: string, binding: { type: string; value: unknown } | undefined, types: FactType[]): void => {
    if (binding?.type === "dynamic") require(`${path}.value`, String(binding.value), types);
  };
  require("jsonRule.trigger.fact", trigger.fact, comparable(trigger));
  if (/_than$/.test(trigger.operator) && typeof trigger.value !== "number")
    issues.push({ path: "jsonRule.trigger.value", message: "Must be a number" });
  if (action.type === "CREATE_CHANNEL") {
    requireBound("jsonRule.action.name", action.name, ["string"]);
    return issues;
  }
  if (action.type === "LOCK_POLL") return issues;
  const { targeting, variableMapping, timecodeMapping } = action;
  requireBound(
    "jsonRule.action.targeting.target",
    targeting.target,
    targeting.scope === "specific_channels" ? ["string", "array"] : ["string", "number"],
  );
  for (const [index, tag] of (targeting.tags ?? []).entries()) requireBound(`jsonRule.action.targeting.tags.${index}`, tag, ["string"]);
  for (const [name, mapped] of Object.entries(variableMapping))
    requireBound(`jsonRule.action.variableMapping.${name}`, mapped, ["string", "number", "boolean"]);
  requireBound("jsonRule.action.timecodeMapping", timecodeMapping, ["number"]);
  return issues;
}

/** The fact types that a trigger's value can be compared with. */
function comparable({ operator, value }: JsonRule["trigger"]): FactType[] {
  if (operator === "contains") return ["string", "array"];
  if (operator === "greater_than" || operator === "less_than") return ["number"];
  return typeof value === "string" ? ["string"] : [typeof value === "number" ? "number" : "boolean"];
}

const SAMPLES = { string: "text", number: 0, boolean: false };

/** A value of the fact's type; for a variable of the kit that has this type too, one that its schema accepts. */
function sampleOf({ contents }: OverlayRow, name: string, type: keyof typeof SAMPLES): string | number | boolean {
  const samples = contents.flatMap((content) => (content.kind === "kit" ? (kitSampleOf(content.template, name) ?? []) : []));
  return samples.find((sample) => typeof sample === type) ?? SAMPLES[type];
}

/** Checks the variables against the template, with sample values for facts. */
function variableProblems({ action }: JsonRule, template: OverlayRow, facts: FactTypes): Issue[] {
  if (action.type !== "SEND_OVERLAY") return [];
  const given: Record<string, string | number | boolean> = {};
  for (const [name, { type, value }] of Object.entries(action.variableMapping)) {
    const fact = type === "dynamic" ? facts[String(value)] : undefined;
    // A fact of unknown type can only be checked when the rule fires.
    if (type === "dynamic" && (fact === "any" || fact === "array" || fact === undefined)) return [];
    given[name] = fact === "string" || fact === "number" || fact === "boolean" ? sampleOf(template, name, fact) : value;
  }
  try {
    requireVariables(template.contents, given);
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return (error.issues ?? []).map(({ path, message }) => ({
      path: path.replace("variables", "jsonRule.action.variableMapping"),
      message,
    }));
  }
}
