import { and, desc, eq } from "drizzle-orm";
import { dataProviders, providerEvents, type RuleRow } from "#db/schema/index.ts";
import { instanceProblems } from "#worker/integrations/json-schema.ts";
import { Failure } from "#worker/lib/errors.ts";
import { type KnownFacts, learn } from "./facts.ts";
import { newId } from "#worker/lib/ids.ts";
import { delayOf, firedBy } from "./rule-engine.ts";
import type { DryRunResult } from "./schemas.ts";
import type { ProviderEventMessage } from "./automation.ts";
import { type Plan, planFirings } from "./plans.ts";
import { type Ctx, ownRow } from "#worker/services/core/context.ts";

const RECORDED = 100;

/**
 * Plays events to one rule as the automation would, from knowing nothing: those given, a millisecond apart, or the last that its
 * provider sent, as they came. Answers for each what would be sent; nothing is.
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
      .limit(samples ? 0 : RECORDED),
  ]);
  const events = samples ? samples.map((data, index) => ({ id: newId(ctx.now + index), at: ctx.now + index, data })) : recorded.reverse();
  if (!provider) return events.map(({ data }) => resultOf(data, undefined, 0, "The site has no such data provider"));
  if (samples) await requireFitting(provider.schema, samples);
  const fired = play(rule, events, provider.ttl);
  const messages: ProviderEventMessage[] = events.map((event) => ({ ...event, providerId: trigger.dataProviderId }));
  const firings = messages.filter((_, index) => fired[index]).map((event) => ({ rule, event, due: event.at + delayOf(trigger) }));
  const plans = await planFirings(ctx, firings);
  return messages.map((event) => {
    const index = firings.findIndex((firing) => firing.event === event);
    return resultOf(event.data, plans[index], index < 0 ? 0 : delayOf(trigger));
  });
}

/** A 400 that names what in the samples could never have been received. */
async function requireFitting(schema: Record<string, unknown>, samples: Record<string, unknown>[]): Promise<void> {
  const problems = await Promise.all(samples.map((sample) => instanceProblems(schema, sample)));
  const issues = problems.flatMap((found, index) => found.map(({ path, message }) => ({ path: `events.${index}.${path}`, message })));
  if (issues.length > 0) throw new Failure("invalid_request", "An event does not fit the provider's schema", { issues });
}

/** Whether each event makes the rule fire. */
function play(rule: RuleRow, events: { id: string; at: number; data: unknown }[], ttl: number | null): boolean[] {
  const { fact } = rule.jsonRule.trigger;
  const waiting = new Map([[fact, [rule]]]);
  let known: KnownFacts = {};
  return events.map((event) => {
    const fires = firedBy(waiting, known, event, ttl).length > 0;
    known = learn(known, [fact], event);
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
    message: plan && plan.kind !== "channel" ? plan.message : reason,
  };
}
