import { and, eq, type SQL } from "drizzle-orm";
import { siteDb } from "#db/databases.ts";
import { automationRules, rulePauses, type RuleRow } from "#db/schema/automation-rules.ts";
import { dataProviders } from "#db/schema/data-providers.ts";
import { automationOf, presenceOf } from "#worker/durable-objects/stubs.ts";
import { logError } from "#worker/lib/log.ts";
import { indexRules, type RuleIndex } from "./rule-engine.ts";
import { toRule } from "./schemas.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import type { LoggedEvent } from "#worker/services/event-catalogue/effect.ts";

/** The most rules that viewers' pages evaluate; they are part of every welcome frame. */
export const MAX_CLIENT_RULES = 200;

/** What a site's Automation object needs to evaluate events. */
export interface RuleSet {
  rules: Map<string, RuleRow>;
  index: RuleIndex<RuleRow>;
  providers: Map<string, { ttl: number | null; facts: string[] }>;
  /** The channels whose rules are paused. */
  paused: ReadonlySet<string>;
}

/** Reads the rules that the server evaluates, the site's providers, and where rules are paused. */
export async function readRuleSet(env: Env, siteId: string): Promise<RuleSet> {
  const db = siteDb(env, siteId);
  const [rules, providers, pauses] = await db.batch([
    db
      .select()
      .from(automationRules)
      .where(and(eq(automationRules.siteId, siteId), eq(automationRules.active, true), eq(automationRules.clientRule, false))),
    db
      .select({ id: dataProviders.id, ttl: dataProviders.ttl, facts: dataProviders.facts })
      .from(dataProviders)
      .where(eq(dataProviders.siteId, siteId)),
    db.select({ channelId: rulePauses.channelId }).from(rulePauses).where(eq(rulePauses.siteId, siteId)),
  ]);
  return {
    rules: new Map(rules.map((rule) => [rule.id, rule])),
    index: indexRules(rules),
    providers: new Map(providers.map(({ id, ttl, facts }) => [id, { ttl, facts: Object.keys(facts) }])),
    paused: new Set(pauses.map(({ channelId }) => channelId)),
  };
}

/** Selects a site's active client rules, which are sent to viewers. */
export function activeClientRules(siteId: string): SQL | undefined {
  return and(eq(automationRules.siteId, siteId), eq(automationRules.clientRule, true), eq(automationRules.active, true));
}

/** After a committed change, makes the Automation object reload its rules before the next event. */
export async function refreshRules(ctx: Ctx): Promise<void> {
  try {
    await automationOf(ctx.env, ctx.siteId).refresh();
  } catch (error) {
    // The effect of the change's event repeats it.
    logError("rules_not_refreshed", error, { siteId: ctx.siteId });
  }
}

/** Effect of a change of rules, pauses or providers: reloads the rules and sends the client rules to viewers. Safe to repeat. */
export async function notifyRuleChange(env: Env, siteId: string, event: LoggedEvent): Promise<void> {
  await automationOf(env, siteId).refresh();
  const db = siteDb(env, siteId);
  const [rows, pauses] = await db.batch([
    db
      .select()
      .from(automationRules)
      .where(activeClientRules(siteId))
      .orderBy(automationRules.created, automationRules.id)
      .limit(MAX_CLIENT_RULES),
    db.select({ channelId: rulePauses.channelId }).from(rulePauses).where(eq(rulePauses.siteId, siteId)),
  ]);
  const rules = rows.map((row) => ({ id: row.id, channelId: row.channelId, body: JSON.stringify(toRule(row)) }));
  await presenceOf(env, siteId).setRules({ version: event.sequence, rules, paused: pauses.map(({ channelId }) => channelId) });
}
