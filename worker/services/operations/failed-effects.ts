import { eq } from "drizzle-orm";
import type { z } from "@hono/zod-openapi";
import { sites } from "#db/schema/sites.ts";
import { orUnavailable, siteLogOf } from "#worker/durable-objects/stubs.ts";
import { notFound } from "#worker/lib/errors.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { dbOf } from "#worker/services/core/databases.ts";
import type { FailedEffects } from "./schemas.ts";

const MAX_EFFECTS = 100;
const UNAVAILABLE = "The site's event log did not respond";

/** A site's oldest events whose effects failed, with their causes. Only for the operator. */
export async function listFailedEffects(ctx: Ctx, siteId: string): Promise<z.output<typeof FailedEffects>> {
  await requireSite(ctx, siteId);
  const failed = await orUnavailable(siteLogOf(ctx.env, siteId).failedEffects(MAX_EFFECTS), UNAVAILABLE);
  const failedEffects = failed.map(({ id, type, due, ...rest }) => ({ eventId: id, eventType: type, ...rest, nextAttempt: due }));
  return { failedEffects };
}

/** Retries all of a site's failed effects now; returns how many. Effects can be repeated, so this can too. Only for the operator. */
export async function retryFailedEffects(ctx: Ctx, siteId: string): Promise<number> {
  await requireSite(ctx, siteId);
  return orUnavailable(siteLogOf(ctx.env, siteId).retryFailed(), UNAVAILABLE);
}

export async function requireSite(ctx: Ctx, siteId: string): Promise<void> {
  await ctx.caller();
  const [site] = await dbOf(ctx, siteId).select({ id: sites.id }).from(sites).where(eq(sites.id, siteId));
  if (!site) throw notFound("Site not found");
}
