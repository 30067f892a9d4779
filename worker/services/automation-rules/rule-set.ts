import { and, eq } from "drizzle-orm";
import { siteDb } from "#db/databases.ts";
import { automationRules, rulePauses, type RuleRow } from "#db/schema/automation-rules.ts";
import { dataProviders } from "#db/schema/data-providers.ts";
import { indexRules, type RuleIndex } from "./rule-engine.ts";

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
