import { and, desc, eq } from "drizzle-orm";
import type { RuleRow } from "#db/schema/automation-rules.ts";
import { dataProviders, providerEvents } from "#db/schema/data-providers.ts";
import { instanceProblems } from "#worker/integrations/json-schema.ts";
import { Failure } from "#worker/lib/errors.ts";
import { type KnownFacts, updateFacts } from "./facts.ts";
import { newId } from "#worker/lib/ids.ts";
import { delayOf, triggeredRules } from "./rule-engine.ts";
import type { DryRunResult, ProviderEventMessage } from "./schemas.ts";
import { type Plan, planFirings } from "./plans.ts";
import { type Ctx, ownRow } from "#worker/services/core/context.ts";

const MAX_RECORDED = 100;

/**
 * Evaluates one rule, from an empty state, against the given events (a millisecond apart) or the last ones that its provider sent. Returns
 * what each event would send, without sending anything.
 */
export async function dryRun(ctx: Ctx, rule: RuleRow, samples: Record<string, unknown>[] | undefined): Promise<DryRunResult[]> {
  const { trigger } = rule.jsonRule;
  const [[provider], recorded] = await ctx.db.batch([
    ctx.db
      .select({ ttl: dataProviders.ttl, schema: dataProviders.schema })
      .from(dataProviders)
      .where(ownRow(ctx, dataProviders, trigger.dataProviderId)),
    ctx.db
      .select({ id: providerEvents.id, at: providerEvents.created, data: providerEvents.event })
      .from(providerEvents)
      .where(and(eq(providerEvents.siteId, ctx.siteId), eq(providerEvents.providerId, trigger.dataProviderId)))
      .orderBy(desc(providerEvents.created), desc(providerEvents.id))
      .limit(samples ? 0 : MAX_RECORDED),
  ]);
  const events = samples ? samples.map((data, index) => ({ id: newId(ctx.now + index), at: ctx.now + index, data })) : recorded.reverse();
  if (!provider) return events.map(({ data }) => resultOf(data, undefined, 0, "The site has no such data provider"));
  if (samples) await requireValid(provider.schema, samples);
  const fired = replay(rule, events, provider.ttl);
  const messages: ProviderEventMessage[] = events.map((event) => ({ ...event, providerId: trigger.dataProviderId }));
  const firings = messages.filter((_, index) => fired[index]).map((event) => ({ rule, event, due: event.at + delayOf(trigger) }));
  const plans = await planFirings(ctx, firings);
  return messages.map((event) => {
    const index = firings.findIndex((firing) => firing.event === event);
    return resultOf(event.data, plans[index], index < 0 ? 0 : delayOf(trigger));
  });
}

/** A 400 that lists where the samples don't match the provider's schema. */
async function requireValid(schema: Record<string, unknown>, samples: Record<string, unknown>[]): Promise<void> {
  const problems = await Promise.all(samples.map((sample) => instanceProblems(schema, sample)));
  const issues = problems.flatMap((found, index) => found.map(({ path, message }) => ({ path: `events.${index}.${path}`, message })));
  if (issues.length > 0) throw new Failure("invalid_request", "An event doesn't match the provider's schema", { issues });
}

/** Which of the events fire the rule. */
function replay(rule: RuleRow, events: { id: string; at: number; data: unknown }[], ttl: number | null): boolean[] {
  const { fact } = rule.jsonRule.trigger;
  const waiting = new Map([[fact, [rule]]]);
  let known: KnownFacts = {};
  return events.map((event) => {
    const fires = triggeredRules(waiting, known, event, ttl).length > 0;
    known = updateFacts(known, [fact], event);
    return fires;
  });
}

function resultOf(event: Record<string, unknown>, plan: Plan | undefined, delay: number, reason: string | null = null): DryRunResult {
  return {
    event,
    fired: plan !== undefined,
    broadcasts: plan?.kind === "broadcast" ? [plan.event] : [],
    channel: plan?.kind === "channel" ? { _id: plan.id, name: plan.name, slug: plan.slug } : null,
    delaySeconds: delay / 1000,
    message: plan && "message" in plan ? plan.message : reason,
  };
}
