import { and, eq, type SQL } from "drizzle-orm";
import { z } from "@hono/zod-openapi";
import { createDb } from "#db/client.ts";
import { automationRules, dataProviders, type RuleRow } from "#db/schema/index.ts";
import type { LogEntry } from "#worker/durable-objects/site-log/site-log.protocol.ts";
import { logError } from "#worker/lib/log.ts";
import { indexRules, type RuleIndex } from "./rule-engine.ts";
import { toRule } from "./schemas.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { presenceOf } from "#worker/services/realtime/realtime.ts";

/** Rules that viewers' pages evaluate: they come with each welcome. */
export const MAX_CLIENT_RULES = 200;

/** An event of a provider as the automation gets it; `at` in milliseconds since 1970 UTC. */
export const ProviderEventMessage = z.object({
  id: z.string(),
  providerId: z.string(),
  at: z.number(),
  data: z.record(z.string(), z.unknown()),
});
export type ProviderEventMessage = z.infer<typeof ProviderEventMessage>;

/** What the automation of a site goes by. */
export interface Rulebook {
  rules: Map<string, RuleRow>;
  index: RuleIndex<RuleRow>;
  providers: Map<string, { ttl: number | null; facts: string[] }>;
}

/** The object that evaluates a site's rules. */
export function automationOf(env: Env, siteId: string) {
  return env.AUTOMATION.getByName(siteId);
}

/** The rules that the server evaluates, and the providers that they wait for. */
export async function readRulebook(env: Env, siteId: string): Promise<Rulebook> {
  const db = createDb(env.DB);
  const [rules, providers] = await db.batch([
    db
      .select()
      .from(automationRules)
      .where(and(eq(automationRules.siteId, siteId), eq(automationRules.active, true), eq(automationRules.clientRule, false))),
    db
      .select({ id: dataProviders.id, ttl: dataProviders.ttl, facts: dataProviders.facts })
      .from(dataProviders)
      .where(eq(dataProviders.siteId, siteId)),
  ]);
  return {
    rules: new Map(rules.map((rule) => [rule.id, rule])),
    index: indexRules(rules),
    providers: new Map(providers.map(({ id, ttl, facts }) => [id, { ttl, facts: Object.keys(facts) }])),
  };
}

/** The rules of a site that go to viewers. */
export function activeClientRules(siteId: string): SQL | undefined {
  return and(eq(automationRules.siteId, siteId), eq(automationRules.clientRule, true), eq(automationRules.active, true));
}

/** Makes the automation read its rules anew before the next event, once a change of them is committed. */
export async function refreshRules(ctx: Ctx): Promise<void> {
  try {
    await automationOf(ctx.env, ctx.siteId).refresh();
  } catch (error) {
    // The effect of the change's event does it again.
    logError("rules_not_refreshed", error, { siteId: ctx.siteId });
  }
}

/** What follows from a change of rules or providers: the automation reads anew, and viewers get the client rules. Safe to repeat. */
export async function notifyRuleChange(env: Env, siteId: string, entry: LogEntry): Promise<void> {
  await automationOf(env, siteId).refresh();
  const rows = await createDb(env.DB)
    .select()
    .from(automationRules)
    .where(activeClientRules(siteId))
    .orderBy(automationRules.created, automationRules.id)
    .limit(MAX_CLIENT_RULES);
  const rules = rows.map((row) => ({ id: row.id, channelId: row.channelId, body: JSON.stringify(toRule(row)) }));
  await presenceOf(env, siteId).setRules({ version: entry.sequence, rules });
}
