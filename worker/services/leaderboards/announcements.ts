import { siteDb } from "#db/databases.ts";
import { outbox } from "#db/schema/events.ts";
import { siteLogOf } from "#worker/durable-objects/stubs.ts";
import type { z } from "@hono/zod-openapi";
import type { PointsAwarded } from "./schemas.ts";

/** Adds an event about awards by keys to the site's log. The log takes an event id once, so this is safe to repeat. */
export async function announceAwards(
  env: Env,
  siteId: string,
  leaderboardId: string,
  { eventId, awards, points }: { eventId: string; awards: number; points: number },
): Promise<void> {
  const data: z.output<typeof PointsAwarded> = { leaderboardId, siteId, awards, points };
  await siteDb(env, siteId)
    .insert(outbox)
    .values({
      siteId,
      eventId,
      type: "leaderboard.pointsAwarded",
      resource: `leaderboard/${leaderboardId}`,
      data,
      actor: "system",
      requestId: `leaderboard-${eventId}`,
      origin: null,
      created: Date.now(),
    });
  // The cron makes up for a failed nudge.
  await siteLogOf(env, siteId)
    .nudge()
    .catch(() => undefined);
}
