import type { z } from "@hono/zod-openapi";
import { type EventList, toEvent } from "./schemas.ts";
import { siteLogOf } from "#worker/durable-objects/stubs.ts";
import type { Ctx } from "#worker/services/core/context.ts";
import { mayReadPeople, withoutPerson } from "./personal-data.ts";

/** Events of the site after a sequence. What was committed before the call is among them; keys without `account:read` see no personal data. */
export async function readEvents(ctx: Ctx, query: { after: number; limit: number; types?: string[] }): Promise<z.output<typeof EventList>> {
  const actor = await ctx.caller();
  const log = siteLogOf(ctx.env, ctx.siteId);
  await log.nudge();
  const { entries, head, oldest } = await log.read({ after: query.after, limit: query.limit, types: query.types ?? null });
  const events = entries.map(toEvent);
  const results = mayReadPeople(actor) ? events : events.map(withoutPerson);
  return { results, after: entries.at(-1)?.sequence ?? Math.max(query.after, query.types ? head : 0), head, oldest };
}
