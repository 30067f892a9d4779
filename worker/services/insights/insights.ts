import { and, eq, sql } from "drizzle-orm";
import type { z } from "@hono/zod-openapi";
import { pages } from "#db/schema/pages.ts";
import { presenceOf } from "#worker/durable-objects/stubs.ts";
import { LIMIT_NAMES, type LimitName, LIMITS } from "#worker/lib/limits.ts";
import type { Limit, SiteConcurrents } from "./schemas.ts";
import type { Actor, Ctx } from "#worker/services/core/context.ts";
import { fromEveryDb } from "#worker/services/core/databases.ts";
import { peekLimit } from "#worker/services/core/limits.ts";
import { GLOBAL_AUDIENCE } from "#worker/services/auth/tokens.ts";

/** Current viewers per site; a site without viewers has 0. */
export async function readConcurrents(ctx: Ctx, siteIds: string[]): Promise<z.output<typeof SiteConcurrents>[]> {
  const isOfSites = and(eq(pages.type, "channel"), sql`${pages.siteId} in (select value from json_each(${JSON.stringify(siteIds)}))`);
  const channels = await fromEveryDb(ctx, (db) => db.select({ id: pages.id, slug: pages.slug }).from(pages).where(isOfSites));
  const slugs = new Map(channels.map((channel) => [channel.id, channel.slug]));
  return Promise.all(
    siteIds.map(async (siteId) => {
      const presence = await presenceOf(ctx.env, siteId).concurrents();
      return {
        siteId,
        concurrents: presence.concurrents,
        totalViews: presence.totalViews,
        channels: presence.channels.map(({ channelId, concurrents }) => ({
          _id: channelId,
          slug: slugs.get(channelId) ?? "",
          concurrents,
        })),
      };
    }),
  );
}

/** The limits and what remains of each for this caller at this address; null where that depends on more than the caller's credentials. */
export async function readLimits(ctx: Ctx, address: string): Promise<z.output<typeof Limit>[]> {
  const caller = await ctx.caller();
  return Promise.all(
    LIMIT_NAMES.map(async (name) => {
      const { description, per, quota, window } = LIMITS[name];
      const counters = countersFor(ctx.siteId, name, caller, address);
      const states = await Promise.all(counters.map(({ siteId, key }) => peekLimit({ ...ctx, siteId }, name, key)));
      const [least] = states.sort((one, other) => one.remaining - other.remaining);
      return {
        name,
        description,
        per,
        limit: least?.quota ?? quota,
        window,
        remaining: least?.remaining ?? null,
        reset: least?.reset ?? null,
      };
    }),
  );
}

/** Counted per address, but not per site: the site isn't known yet. */
const WITHOUT_SITE = new Set<LimitName>(["missLink", "createSandbox", "claimSandbox"]);

/** Which counters of a limit apply to this caller: in the site's or the deployment's Limiter, and under which key. */
function countersFor(siteId: string, name: LimitName, caller: Actor, address: string): { siteId: string; key: string }[] {
  switch (LIMITS[name].per) {
    case "site":
    case "sandbox":
      return [{ siteId, key: "" }];
    case "deployment":
      return [{ siteId: GLOBAL_AUDIENCE, key: "" }];
    case "account":
      return caller.kind === "account" ? [{ siteId, key: caller.id }] : [];
    case "challenge":
    case "account and address":
    case "e-mail and known place":
      return [];
    case "address":
      return [{ siteId: WITHOUT_SITE.has(name) ? GLOBAL_AUDIENCE : siteId, key: address }];
  }
}
