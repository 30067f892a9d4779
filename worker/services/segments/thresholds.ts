import { eq } from "drizzle-orm";
import { siteDb } from "#db/databases.ts";
import { sites } from "#db/schema/sites.ts";
import { leaderboardOf, presenceOf } from "#worker/durable-objects/stubs.ts";
import { conditionsOf, leaderboardsOf } from "./filter.ts";
import { parseSegments, type Segment, segmentsJson } from "./membership.ts";

// The points at which a member of a leaderboard enters or leaves a segment.

/** Tells each leaderboard that these segments depend on which points matter. One that they no longer depend on asks for itself. */
export async function setThresholds(env: Env, siteId: string, segments: Segment[]): Promise<void> {
  await Promise.all(leaderboardsOf(segments).map((id) => leaderboardOf(env, siteId, id).watchThresholds(thresholdsIn(segments, id))));
}

/** The points on this leaderboard that the site's segments compare with. */
export async function thresholdsOf(env: Env, siteId: string, leaderboardId: string): Promise<number[]> {
  const [site] = await siteDb(env, siteId)
    .select({ segments: segmentsJson(siteId).as("segments") })
    .from(sites)
    .where(eq(sites.id, siteId));
  return thresholdsIn(parseSegments(site?.segments ?? null), leaderboardId);
}

/** Evaluates the segments of these accounts again, on every open socket. */
export async function recheckMembers(env: Env, siteId: string, accountIds: string[]): Promise<void> {
  if (accountIds.length > 0) await presenceOf(env, siteId).recheck(accountIds);
}

function thresholdsIn(segments: Segment[], leaderboardId: string): number[] {
  const conditions = segments.flatMap(({ filter }) => conditionsOf(filter)).filter((each) => each.leaderboardId === leaderboardId);
  return [...new Set(conditions.flatMap(({ value }) => (typeof value === "number" ? [value] : [])))];
}
